"""What a published fragment is found by: the beginning of what its messages say, whatever becomes of them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from internal.knowledge import repository as episodes
from internal.knowledge import service as knowledge
from internal.storage import search_items
from internal.storage.owners import next_rev

FOUND_BY: Final = 1_000
"""Characters of an episode by which it is found: the offline embedder needs a tenth of a second for them, and a search
that arrives meanwhile waits for four. What is told further down is found by the facts that follow from it."""

EPISODE_ITEM: Final = "episode"
"""The kind of an episode among search items."""


def follow_messages(connection: Connection, user_id: int, episode_id: str) -> None:
    """Keeps it equal to what the messages say now; call it after they were published, edited or erased."""
    episode = episodes.episode(connection, user_id, episode_id)
    if episode is None:
        return
    found_by = f"{episode.name}\n{knowledge.episode_content(connection, user_id, episode)}"[:FOUND_BY]
    search_items.put(connection, user_id, EPISODE_ITEM, episode_id, found_by, next_rev(connection, user_id))
