"""Events in the database: appended in the transaction of what they tell."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from internal.events.model import Event
from internal.storage.tables import events
from internal.storage.types import new_id


def append(
    connection: Connection,
    event_type: str,
    *,
    source: str,
    now: datetime,
    user_id: int | None = None,
    payload: dict[str, Any] | None = None,
    links: dict[str, Any] | None = None,
) -> str:
    """Records one event and returns its id."""
    event_id = new_id()
    connection.execute(
        insert(events).values(
            id=event_id,
            user_id=user_id,
            timestamp=now,
            event_type=event_type,
            source=source,
            payload=payload or {},
            links=links,
        )
    )
    return event_id


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
    query = select(events).where(events.c.user_id == user_id).order_by(events.c.seq).limit(limit)
    if event_type is not None:
        query = query.where(events.c.event_type == event_type)
    if source is not None:
        query = query.where(events.c.source == source)
    if after is not None:
        query = query.where(events.c.seq > select(events.c.seq).where(events.c.id == after).scalar_subquery())
    return [_event(row) for row in connection.execute(query)]


def _event(row: Row[Any]) -> Event:
    return Event(row.id, row.timestamp, row.event_type, row.source, row.payload, row.links, row.user_id)
