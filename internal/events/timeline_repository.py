"""Reads the events of one owner, or of all, page by page before and after a position."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, and_, func, not_, select

from internal.events.model import Event
from internal.storage.engine.commit_order import ReadPosition, position_at, read_on
from internal.storage.tables import events, messages

_TEXT: Final = 240
"""Characters of a message shown beside its event."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter of events: of one owner, or (None) of all owners and the system.

    `hidden` are sources to leave out: a whole one (`agent:Archivist`), or a kind (`user`, `agent`, `system`).
    `event_types` limits the events to these types; empty = all.
    """

    user_id: int | None
    hidden: Collection[str] = ()
    event_types: Collection[str] = ()
    only: Collection[str] = ()
    """Ids of events; empty = all."""

    def conditions(self) -> list[ColumnElement[bool]]:
        conditions = [events.c.user_id == self.user_id] if self.user_id is not None else []
        conditions += [events.c.event_type.in_(list(self.event_types))] if self.event_types else []
        conditions += [events.c.id.in_(list(self.only))] if self.only else []
        return conditions + [not_(_from(source)) for source in self.hidden]


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event and its position among all.

    `text` is the beginning of the message it is about, if any, and `said_at` the time of that message.
    """

    position: int
    event: Event
    text: str | None = None
    said_at: datetime | None = None


def events_before(connection: Connection, wanted: Wanted, position: int | None, *, limit: int) -> list[TimelineEvent]:
    """The newest events before a position (None = of all), the oldest of them first."""
    query = select(events).where(*wanted.conditions())
    if position is not None:
        query = query.where(events.c.seq < position)
    rows = connection.execute(query.order_by(events.c.seq.desc()).limit(limit)).all()
    return _timeline_events(connection, rows[::-1])


def events_after(connection: Connection, wanted: Wanted, position: int, *, limit: int) -> list[TimelineEvent]:
    """The oldest events after a position, oldest first."""
    query = select(events).where(*wanted.conditions(), events.c.seq > position)
    return _timeline_events(connection, connection.execute(query.order_by(events.c.seq).limit(limit)).all())


def read_position(connection: Connection, after: int | None, *, again: int = 0) -> ReadPosition:
    """The read position after an event's position (None = the newest event's), for `new_since` of all owners."""
    return position_at(connection, events, after, again=again)


def new_since(
    connection: Connection, wanted: Wanted, since: ReadPosition, *, limit: int
) -> tuple[list[TimelineEvent], ReadPosition]:
    """The events that became visible since a read position, by position, at most `limit`; their numbers may be earlier.

    For readers of all owners' events. An unchanged read position means that everything was read.
    """
    fresh, here = read_on(connection, events, since, at_once=limit)
    query = select(events).where(*wanted.conditions(), fresh)
    return _timeline_events(connection, connection.execute(query.order_by(events.c.seq)).all()), here


def count(connection: Connection, wanted: Wanted) -> int:
    query = select(func.count()).select_from(events).where(*wanted.conditions())
    return int(connection.execute(query).scalar_one())


def event_of(connection: Connection, wanted: Wanted, event_id: str) -> TimelineEvent | None:
    rows = connection.execute(select(events).where(events.c.id == event_id, *wanted.conditions())).all()
    return next(iter(_timeline_events(connection, rows)), None)


def _from(source: str) -> ColumnElement[bool]:
    if ":" in source:
        return events.c.source == source
    # A range, not LIKE: `user:` <= source < `user;`.
    return and_(events.c.source >= f"{source}:", events.c.source < f"{source};")


def _timeline_events(connection: Connection, rows: Collection[Row[Any]]) -> list[TimelineEvent]:
    found = [
        (row.seq, Event(row.id, row.timestamp, row.event_type, row.source, row.payload, row.links, row.user_id))
        for row in rows
    ]
    texts = _texts(connection, [event for _, event in found])
    return [
        TimelineEvent(position, event, *texts.get(event.payload.get("message") or "", ())) for position, event in found
    ]


def _texts(connection: Connection, found: Collection[Event]) -> dict[str, tuple[str, datetime]]:
    """The beginning and the time of each message that these events are about."""
    ids = sorted({one for one in (event.payload.get("message") for event in found) if isinstance(one, str)})
    owners = sorted({event.user_id for event in found if event.user_id is not None})
    if not ids or not owners:
        return {}
    beginning = func.substr(messages.c.content, 1, _TEXT)
    theirs = messages.c.user_id.in_(owners) & messages.c.id.in_(ids)
    query = select(messages.c.id, beginning, messages.c.timestamp).where(theirs)
    return {message_id: (text, said_at) for message_id, text, said_at in connection.execute(query)}
