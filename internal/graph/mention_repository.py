"""Mentions of entities in events of the chronicle: merged, split and erased with the entities.

A row keeps its `entity_origin`, so a split moves back exactly what a merge had moved. After a merge two rows of one
event may have the same entity; readers take the highest relevance.
"""

from collections.abc import Collection
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, select, update

from internal.storage.change_log import record_change
from internal.storage.tables import event_mentions

EVENT_CHANGE: Final = "event"
"""The kind of change of an event in the change log."""


def repoint(connection: Connection, user_id: int, from_id: str, to_id: str) -> None:
    """Moves the mentions of one entity to another."""
    _move_mentions(connection, user_id, event_mentions.c.entity_id == from_id, to_id)


def restore(connection: Connection, user_id: int, from_id: str, to_id: str, origins: Collection[str]) -> None:
    """Moves back what `repoint(from_id, to_id)` moved: mentions written for one of `origins`."""
    moved = (event_mentions.c.entity_id == to_id) & event_mentions.c.entity_origin.in_(list(origins))
    _move_mentions(connection, user_id, moved, from_id)


def drop(connection: Connection, user_id: int, entity_id: str) -> None:
    """Deletes the mentions of an entity."""
    ours = (event_mentions.c.user_id == user_id) & (event_mentions.c.entity_id == entity_id)
    _record_changes(connection, user_id, event_mentions.c.entity_id == entity_id)
    connection.execute(delete(event_mentions).where(ours))


def _move_mentions(connection: Connection, user_id: int, moving: ColumnElement[bool], to_id: str) -> None:
    _record_changes(connection, user_id, moving)
    ours = (event_mentions.c.user_id == user_id) & moving
    connection.execute(update(event_mentions).where(ours).values(entity_id=to_id))


def _record_changes(connection: Connection, user_id: int, changing: ColumnElement[bool]) -> None:
    query = select(event_mentions.c.event_id).where(event_mentions.c.user_id == user_id, changing).distinct()
    for event_id in connection.execute(query.order_by(event_mentions.c.event_id)).scalars().all():
        record_change(connection, user_id, EVENT_CHANGE, event_id)
