"""Mentions of entities in events. All mentions of an event are written at once: a second reading replaces the first."""

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, delete, insert

from internal.chronicle import repository
from internal.storage.tables import event_mentions

Mentioned = Mapping[str, Mapping[str, int | None]]
"""Relevance (1..5, None if it was not judged) by entity, by event."""


def replace(connection: Connection, user_id: int, mentioned: Mentioned, *, run_id: str | None) -> Collection[str]:
    """Replaces the mentions of each of these events. Returns the ids of the events that changed."""
    held: dict[str, dict[str, int | None]] = {event_id: {} for event_id in mentioned}
    for one in repository.mentions(connection, user_id, list(mentioned)):
        held[one.event_id][one.entity_id] = one.relevance
    changed = [event_id for event_id, entities in mentioned.items() if dict(entities) != held[event_id]]
    for event_id in changed:
        ours = (event_mentions.c.user_id == user_id) & (event_mentions.c.event_id == event_id)
        connection.execute(delete(event_mentions).where(ours))
        rows = [
            {
                "user_id": user_id,
                "event_id": event_id,
                "entity_id": entity_id,
                "entity_origin": entity_id,
                "relevance": relevance,
                "run_id": run_id,
            }
            for entity_id, relevance in mentioned[event_id].items()
        ]
        if rows:
            connection.execute(insert(event_mentions), rows)
    repository.mark_changed(connection, user_id, changed)
    return changed
