"""The search item of a published fragment: the beginning of its messages' current text."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection

from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.storage import search_items
from internal.storage.database import Database
from internal.storage.forgetting import forgettings
from internal.storage.owner_counters import next_rev

FOUND_BY: Final = 1_000
"""The most characters of an episode that are indexed: the offline embedder takes a tenth of a second, and a search
that arrives meanwhile waits for four. What stands further down is found through the facts that follow from it.
"""

EPISODE_ITEM: Final = "episode"
"""The kind of an episode among search items."""

_BATCH: Final = 50


def follow_messages(connection: Connection, user_id: int, episode_id: str) -> None:
    """Updates the search item; call it after messages are published, edited, hidden or shown again.

    The item of a hidden fragment keeps its text for an undo.
    """
    episode = episodes.episode(connection, user_id, episode_id)
    if episode is None or forgettings.pending_of(connection, user_id, "episode", episode_id) is not None:
        return
    content = knowledge.episode_content(connection, user_id, episode, without=messages_to_forget(connection, user_id))
    found_by = f"{episode.name}\n{content}"[:FOUND_BY]
    search_items.save_search_item(
        connection, user_id, EPISODE_ITEM, episode_id, found_by, next_rev(connection, user_id)
    )


def lose_messages(connection: Connection, user_id: int, episode_ids: Iterable[str]) -> None:
    """Calls `follow_messages` after some were erased, and deletes terms and vectors with their words at once."""
    for episode_id in episode_ids:
        search_items.forget_words(connection, user_id, EPISODE_ITEM, episode_id)
        follow_messages(connection, user_id, episode_id)


class FragmentBackfill:
    """Indexes, once, fragments that were published by a version without this index."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._done = False

    async def follow_due(self) -> int:
        """Indexes due fragments. Returns their number."""
        count = 0
        while not self._done:
            made = await self._database.write(_follow_some)
            count, self._done = count + made, made < _BATCH
        return count


def _follow_some(connection: Connection) -> int:
    found = episodes.fragments_not_found(connection, limit=_BATCH)
    for user_id, episode_id in found:
        follow_messages(connection, user_id, episode_id)
    return len(found)
