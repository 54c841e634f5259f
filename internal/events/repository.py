"""Events in the database: appended in the transaction of what they tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select

from internal.events import link_repository
from internal.events.causes import also_caused_by, with_cause
from internal.events.model import Event
from internal.events.trigger import COMMAND, Occasion, current_occasion
from internal.storage.chunks import chunks
from internal.storage.tables import events, users
from internal.storage.types import new_id

_ADD: Final = insert(events)


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

    `links` holds an id, or several, by what it is to this event; `caused_by` is found if it is not said. `about` is
    looked at to find it and not kept: the messages of a fragment. What happens on an occasion is caused by that, too.
    """
    event_id = new_id()
    kept = dict(links or {})
    if user_id is not None:
        kept = with_cause(connection, user_id, event_type, kept, about or {})
        occasion = current_occasion()
        if occasion is not None and occasion.user_id == user_id and event_type != COMMAND:
            kept = also_caused_by(kept, tell_occasion(connection, occasion, now))
    told = {"user_id": user_id, "timestamp": now, "event_type": event_type, "source": source}
    added = connection.execute(_ADD, {"id": event_id, **told, "payload": payload or {}, "links": kept or None})
    if user_id is not None and kept and added.inserted_primary_key is not None:
        link_repository.add(connection, user_id, added.inserted_primary_key.seq, kept)
    return event_id


def tell_occasion(connection: Connection, occasion: Occasion, now: datetime) -> str:
    """The event of a command, button press or answer, appended before the first thing that it led to; its id.

    Told again, by a handler that runs again after a crash for one, it is the same event.
    """
    known = link_repository.telling(connection, occasion.user_id, "update", [occasion.key], [COMMAND])
    if known:
        return known[0]
    told: dict[str, Any] = {"payload": dict(occasion.told), "links": {"update": occasion.key}}
    return append(connection, COMMAND, source=f"user:{occasion.user_id}", now=now, user_id=occasion.user_id, **told)


def led_to(connection: Connection, occasion: Occasion | None) -> list[str]:
    """Ids of the events that this occasion led to already: a handler that runs again asks for them."""
    if occasion is None:
        return []
    told = link_repository.telling(connection, occasion.user_id, "update", [occasion.key], [COMMAND])
    return [effect for _, effect in link_repository.effects(connection, occasion.user_id, told)]


def append_changes(
    connection: Connection,
    changed: Mapping[str, Sequence[str]],
    *,
    source: str,
    now: datetime,
    user_id: int,
    links: Mapping[str, Any] | None = None,
) -> None:
    """Records one event for each kind of change, by its type; it holds the ids of what changed and nothing else."""
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
        place = select(events.c.seq).where(events.c.user_id == user_id, events.c.id == after)
        query = query.where(events.c.seq > place.scalar_subquery())
    return [_event(row) for row in connection.execute(query)]


def count(connection: Connection, user_id: int, *, event_type: str | None = None, source: str | None = None) -> int:
    """How many events of one owner there are."""
    query = select(func.count()).select_from(events).where(*_of(user_id, event_type, source))
    return connection.execute(query).scalar_one()


def get(connection: Connection, user_id: int, event_id: str) -> Event | None:
    """None if this owner has no such event."""
    one = select(events).where(events.c.user_id == user_id, events.c.id == event_id)
    row = connection.execute(one).one_or_none()
    return None if row is None else _event(row)


def by_ids(connection: Connection, user_id: int, event_ids: Collection[str]) -> list[Event]:
    """Those of the owner's events that are still kept, oldest first."""
    found: list[Row[Any]] = []
    for part in chunks(event_ids):
        query = select(events).where(events.c.user_id == user_id, events.c.id.in_(part))
        found += connection.execute(query)
    return [_event(row) for row in sorted(found, key=lambda row: row.seq)]


def owner_of(connection: Connection, event_id: str) -> int | None:
    """Whose event has this id; None if nobody's."""
    return connection.execute(select(events.c.user_id).where(events.c.id == event_id)).scalar_one_or_none()


def place_of(connection: Connection, user_id: int, event_id: str) -> int | None:
    """Where an event of this owner stands in the order of all events."""
    one = (events.c.user_id == user_id, events.c.id == event_id)
    return connection.execute(select(events.c.seq).where(*one)).scalar_one_or_none()


def at_or_before(connection: Connection, user_id: int, event_type: str, place: int) -> str | None:
    """The owner's newest event of this type that stands no later than a place."""
    query = select(events.c.id).where(*_of(user_id, event_type, None), events.c.seq <= place)
    return connection.execute(query.order_by(events.c.seq.desc()).limit(1)).scalar_one_or_none()


def last_place(connection: Connection, user_id: int | None = None) -> int:
    """Where the newest event stands, of one owner or (None) of all; 0 before the first."""
    query = select(func.coalesce(func.max(events.c.seq), 0))
    return int(connection.execute(query if user_id is None else query.where(events.c.user_id == user_id)).scalar_one())


def following(
    connection: Connection,
    user_id: int,
    place: int,
    *,
    event_type: str | None = None,
    source: str | None = None,
    limit: int = 100,
) -> list[tuple[int, Event]]:
    """The owner's events behind a place, oldest first, each with its own place."""
    query = select(events).where(*_of(user_id, event_type, source), events.c.seq > place)
    return [(row.seq, _event(row)) for row in connection.execute(query.order_by(events.c.seq).limit(limit))]


def newest_places(connection: Connection, event_type: str) -> dict[int, int]:
    """Where the newest event of this type stands, by owner; owners without one are left out."""
    newest = (
        select(func.max(events.c.seq))
        .where(events.c.user_id == users.c.user_id, events.c.event_type == event_type)
        .scalar_subquery()
    )
    # One look into the index for each owner: grouping would read every event of the type.
    query = select(users.c.user_id, newest.label("newest")).order_by(users.c.user_id)
    return {row.user_id: row.newest for row in connection.execute(query) if row.newest is not None}


def _of(user_id: int, event_type: str | None, source: str | None) -> list[ColumnElement[bool]]:
    wanted = [events.c.user_id == user_id]
    wanted += [events.c.event_type == event_type] if event_type is not None else []
    return wanted + ([events.c.source == source] if source is not None else [])


def _event(row: Row[Any]) -> Event:
    return Event(row.id, row.timestamp, row.event_type, row.source, row.payload, row.links, row.user_id)
