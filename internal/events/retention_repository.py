"""Finds and deletes old events in the database."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, select, tuple_

from internal.storage.chunks import chunks
from internal.storage.engine.expressions import without_index
from internal.storage.tables import event_links, events

_COLUMNS = (events.c.seq, events.c.timestamp, events.c.user_id, events.c.event_type)


@dataclass(frozen=True, slots=True)
class Old:
    """An event that may be deleted if no subscriber waits for it."""

    seq: int
    at: datetime
    user_id: int | None
    event_type: str


def events_before(connection: Connection, moment: datetime, behind: Old | None, *, limit: int) -> list[Old]:
    """Events before a moment and after another event, oldest first."""
    query = select(*_COLUMNS).where(events.c.timestamp < moment)
    if behind is not None:
        query = query.where(tuple_(events.c.timestamp, events.c.seq) > (behind.at, behind.seq))
    found = connection.execute(query.order_by(events.c.timestamp, events.c.seq).limit(limit))
    return [Old(*row) for row in found]


def up_to(connection: Connection, position: int, behind: Old | None, *, limit: int) -> list[Old]:
    """Events up to a position and after another event, in order."""
    since = behind.seq if behind is not None else 0
    query = select(*_COLUMNS).where(events.c.seq > since, events.c.seq <= position).order_by(events.c.seq).limit(limit)
    return [Old(*row) for row in connection.execute(query)]


def last_beyond(connection: Connection, rows: int) -> int:
    """The position of the newest event beyond the number of events to keep; 0 if there are no more than that."""
    excess = connection.execute(select(func.count()).select_from(events)).scalar_one() - rows
    if excess <= 0:
        return 0
    query = select(events.c.seq).order_by(events.c.seq).limit(1).offset(excess - 1)
    return int(connection.execute(query).scalar_one())


def drop(connection: Connection, expired: Collection[Old]) -> None:
    """Deletes events with their links. Links from later events stay without a target."""
    positions = dict[int | None, list[int]]()
    for one in expired:
        positions.setdefault(one.user_id, []).append(one.seq)
    for user_id, theirs in positions.items():
        for part in chunks(theirs):
            connection.execute(delete(events).where(events.c.user_id == user_id, events.c.seq.in_(part)))
            if user_id is not None:  # events of the system have no links
                ours = (without_index(event_links.c.user_id) == user_id) & event_links.c.event_seq.in_(part)
                connection.execute(delete(event_links).where(ours))
