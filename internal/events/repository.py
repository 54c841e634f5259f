"""Events in the database, appended in the transaction of the step that they record."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select

from internal.events import link_repository
from internal.events.causes import also_caused_by, with_cause
from internal.events.model import Event
from internal.events.trigger import COMMAND, UpdateTrigger, current_cause, current_trigger
from internal.storage.chunks import rows_with
from internal.storage.rows import owner_lookup, read_one
from internal.storage.tables import events, users
from internal.storage.types import new_id

_ADD: Final = insert(events).returning(events.c.seq)

_noted: ContextVar[list[tuple[int, str]] | None] = ContextVar("laplaced_noted_events", default=None)


def append(
    connection: Connection,
    event_type: str,
    *,
    source: str,
    now: datetime,
    user_id: int | None = None,
    payload: dict[str, Any] | None = None,
    links: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> str:
    """Records one event and returns its id.

    `links` maps a relation to one id or several; the default are the links of the work in progress, such as a run or a
    forgetting. `caused_by` is looked up if it is not given. `about` (the messages of a fragment) helps to find it and
    is not stored. During a trigger the event is caused by that trigger too.
    """
    event_id = new_id()
    kept = dict(links or current_cause() or {})
    if user_id is not None:
        if (noted := _noted.get()) is not None:
            noted.append((user_id, event_type))
        kept = with_cause(connection, user_id, event_type, kept, about or {})
        trigger = current_trigger()
        if trigger is not None and trigger.is_of(user_id) and event_type != COMMAND:
            kept = also_caused_by(kept, record_trigger(connection, trigger, user_id, now))
    row = {"user_id": user_id, "timestamp": now, "event_type": event_type, "source": source}
    added = connection.execute(_ADD, {"id": event_id, **row, "payload": payload or {}, "links": kept or None})
    seq = added.scalar_one()
    if user_id is not None and kept:
        link_repository.add(connection, user_id, seq, kept)
    return event_id


@contextmanager
def noting_events() -> Iterator[list[tuple[int, str]]]:
    """Collects the owner and type of each event that is appended in the block."""
    noted: list[tuple[int, str]] = []
    before = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(before)


def record_trigger(connection: Connection, trigger: UpdateTrigger, user_id: int, now: datetime) -> str:
    """Records the event of a command, button press, answer or call before its first effect on an owner. Returns its id.

    A second call, for instance by a handler that runs again after a crash, returns the same event.
    """
    known = link_repository.linking_to(connection, user_id, "update", [trigger.key], [COMMAND])
    if known:
        return known[0]
    fields: dict[str, Any] = {"payload": dict(trigger.payload), "links": {"update": trigger.key}}
    return append(connection, COMMAND, source=f"user:{user_id}", now=now, user_id=user_id, **fields)


def led_to(connection: Connection, trigger: UpdateTrigger | None) -> list[str]:
    """Ids of the events that this trigger has already caused, for a handler that runs again."""
    if trigger is None or trigger.user_id is None:
        return []
    event_ids = link_repository.linking_to(connection, trigger.user_id, "update", [trigger.key], [COMMAND])
    return [effect for _, effect in link_repository.effects(connection, trigger.user_id, event_ids)]


def append_changes(
    connection: Connection,
    changed: Mapping[str, Sequence[str]],
    *,
    source: str,
    now: datetime,
    user_id: int,
    links: Mapping[str, Any] | None = None,
) -> None:
    """Records one event for each type of change, with only the ids of the changed rows."""
    for event_type, ids in changed.items():
        if ids:
            payload, kept = {"ids": list(ids)}, dict(links or {}) or None
            append(connection, event_type, source=source, now=now, user_id=user_id, payload=payload, links=kept)


def listing(
    connection: Connection,
    user_id: int,
    *,
    event_type: str | None = None,
    source: str | None = None,
    after: str | None = None,
    limit: int = 100,
) -> list[Event]:
    """Events of one owner, oldest first; `after` is an event id, exclusive."""
    query = select(events).where(*_of(user_id, event_type, source)).order_by(events.c.seq).limit(limit)
    if after is not None:
        position = select(events.c.seq).where(events.c.user_id == user_id, events.c.id == after)
        query = query.where(events.c.seq > position.scalar_subquery())
    return [_event(row) for row in connection.execute(query)]


def newest(
    connection: Connection, user_id: int, event_types: Collection[str], *, since: datetime, limit: int = 1000
) -> list[Event]:
    """The owner's newest events of these types, newest first, none from before `since`."""
    query = select(events).where(*_of(user_id, None, None), events.c.event_type.in_(event_types))
    query = query.where(events.c.timestamp >= since).order_by(events.c.seq.desc()).limit(limit)
    return [_event(row) for row in connection.execute(query)]


def count(connection: Connection, user_id: int, *, event_type: str | None = None, source: str | None = None) -> int:
    """The number of one owner's events."""
    query = select(func.count()).select_from(events).where(*_of(user_id, event_type, source))
    return connection.execute(query).scalar_one()


def get(connection: Connection, user_id: int, event_id: str) -> Event | None:
    """The event with this id; None if this owner has no such event."""
    one = select(events).where(events.c.user_id == user_id, events.c.id == event_id)
    return read_one(connection.execute(one), _event)


def by_ids(connection: Connection, user_id: int, event_ids: Collection[str]) -> list[Event]:
    """The owner's events among these that are still stored, oldest first."""
    found = rows_with(connection, select(events).where(events.c.user_id == user_id), events.c.id, event_ids)
    return [_event(row) for row in sorted(found, key=lambda row: row.seq)]


owner_of = owner_lookup(events)


def position_of(connection: Connection, user_id: int, event_id: str) -> int | None:
    """The position of an owner's event in the order of all events."""
    one = (events.c.user_id == user_id, events.c.id == event_id)
    return connection.execute(select(events.c.seq).where(*one)).scalar_one_or_none()


def at_or_before(connection: Connection, user_id: int, event_type: str, position: int) -> str | None:
    """The owner's newest event of this type at or before a position."""
    query = select(events.c.id).where(*_of(user_id, event_type, None), events.c.seq <= position)
    return connection.execute(query.order_by(events.c.seq.desc()).limit(1)).scalar_one_or_none()


def last_position(connection: Connection, user_id: int | None = None) -> int:
    """The position of the newest event, of one owner or (None) of all; 0 before the first."""
    query = select(func.coalesce(func.max(events.c.seq), 0))
    return int(connection.execute(query if user_id is None else query.where(events.c.user_id == user_id)).scalar_one())


def following(
    connection: Connection,
    user_id: int,
    position: int,
    *,
    event_type: str | None = None,
    source: str | None = None,
    limit: int = 100,
) -> list[tuple[int, Event]]:
    """The owner's events after a position, oldest first, each with its position."""
    query = select(events).where(*_of(user_id, event_type, source), events.c.seq > position)
    return [(row.seq, _event(row)) for row in connection.execute(query.order_by(events.c.seq).limit(limit))]


def newest_positions(connection: Connection, event_type: str) -> dict[int, int]:
    """The position of the newest event of this type, by owner; owners without one are left out."""
    newest = (
        select(func.max(events.c.seq))
        .where(events.c.user_id == users.c.user_id, events.c.event_type == event_type)
        .scalar_subquery()
    )
    # One index lookup for each owner: grouping would read every event of the type.
    query = select(users.c.user_id, newest.label("newest")).order_by(users.c.user_id)
    return {row.user_id: row.newest for row in connection.execute(query) if row.newest is not None}


def _of(user_id: int, event_type: str | None, source: str | None) -> list[ColumnElement[bool]]:
    wanted = [events.c.user_id == user_id]
    wanted += [events.c.event_type == event_type] if event_type is not None else []
    return wanted + ([events.c.source == source] if source is not None else [])


def _event(row: Row[Any]) -> Event:
    return Event(row.id, row.timestamp, row.event_type, row.source, row.payload, row.links, row.user_id)
