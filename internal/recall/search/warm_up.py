"""Loads the search indexes of recent owners after a start, so that their first question does not wait for it."""

import logging
import time
from collections.abc import Sequence
from typing import Final, Protocol

from internal.dialogue import repository as dialogue
from internal.errors import StorageError
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone

log = logging.getLogger(__name__)

MAX_OWNERS: Final = 50
MAX_BYTES: Final = 256 * 1024 * 1024
"""Most owners loaded, and the memory from which no further one is loaded: active owners must not be evicted."""


class WarmableSearch(Protocol):
    """A search that keeps its index in memory."""

    @property
    def cached_bytes(self) -> int: ...

    async def prepare(self, user_id: int) -> None:
        """Loads what a search of this owner needs into memory."""


class WarmUp:
    """Loads the indexes of the owners who wrote last, latest first, one owner after the other."""

    def __init__(self, database: Database, searches: Sequence[WarmableSearch], *, max_bytes: int = MAX_BYTES) -> None:
        self._database, self._searches, self._max_bytes = database, searches, max_bytes

    async def run(self) -> int:
        """Loads until all are loaded or the memory is used; returns the number of owners. Logs storage errors.

        Runs on a database thread: an owner with 100,000 messages takes some seconds.
        """
        started, prepared = time.perf_counter(), 0
        try:
            with acting_for_everyone():
                owners = await self._database.read(lambda c: dialogue.latest_active(c, limit=MAX_OWNERS))
            for user_id in owners:
                if sum(search.cached_bytes for search in self._searches) >= self._max_bytes:
                    break
                with acting_for(user_id):
                    for search in self._searches:
                        await search.prepare(user_id)
                prepared += 1
        except StorageError as error:
            log.warning("recall_not_prepared", extra={"reason": type(error).__name__})
        log.info("recall_prepared", extra={"owners": prepared, "seconds": round(time.perf_counter() - started, 3)})
        return prepared
