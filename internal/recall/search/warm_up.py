"""The first question after a start does not wait for what others find in memory: that is read before anybody asks."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Final, Protocol

from internal.dialogue import repository as dialogue
from internal.errors import StorageError
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone

log = logging.getLogger(__name__)

MOST_OWNERS: Final = 50
MOST_BYTES: Final = 256 * 1024 * 1024
"""How many owners are read at most, and the memory from which no further one is: who asks is not to be pushed out."""


class WarmableSearch(Protocol):
    """A search that keeps in memory what it searches."""

    @property
    def cached_bytes(self) -> int: ...

    async def prepare(self, user_id: int) -> None:
        """Has in memory what a search of this owner needs."""
        ...


class WarmUp:
    """Reads what belongs to the owners who spoke last, the latest first, one owner after the other."""

    def __init__(self, database: Database, searches: Sequence[WarmableSearch], *, most_bytes: int = MOST_BYTES) -> None:
        self._database, self._searches, self._most_bytes = database, searches, most_bytes

    async def run(self) -> int:
        """Reads until all are read or the memory is used; how many owners. A store that fails is met by whoever asks.

        The reading is done on a database thread: an owner with 100,000 messages takes it some seconds.
        """
        began, prepared = time.perf_counter(), 0
        try:
            with acting_for_everyone():
                owners = await self._database.read(lambda c: dialogue.latest_active(c, limit=MOST_OWNERS))
            for user_id in owners:
                if sum(search.cached_bytes for search in self._searches) >= self._most_bytes:
                    break
                with acting_for(user_id):
                    for search in self._searches:
                        await search.prepare(user_id)
                prepared += 1
        except StorageError as error:
            log.warning("recall_not_prepared", extra={"reason": type(error).__name__})
        log.info("recall_prepared", extra={"owners": prepared, "seconds": round(time.perf_counter() - began, 3)})
        return prepared
