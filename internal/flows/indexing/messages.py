"""Indexes messages that were stored in bulk, or by a version without this index."""

from collections.abc import Callable
from typing import Final

from internal.dialogue import search_item_repository
from internal.storage.database import Database

BATCH: Final = 200
"""Messages of one transaction, some 60 ms for which a new message waits."""

_BATCHES: Final = 10
"""The most batches of one call, as other jobs are due as well."""


class MessageBackfill:
    """Indexes remaining messages in batches; `wake` asks for the next call at once."""

    def __init__(self, database: Database, wake: Callable[[], None] = lambda: None) -> None:
        self._database, self._wake = database, wake

    async def follow_due(self) -> int:
        """Indexes some batches. Returns the number of messages. Costs one query if nothing remains."""
        count = 0
        for _ in range(_BATCHES):
            if not await self._database.read(search_item_repository.waits):
                return count
            count += await self._database.write(
                lambda connection: search_item_repository.put_some(connection, limit=BATCH)
            )
        self._wake()
        return count
