"""The message indexes of the owners who searched last, current with every committed write."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from internal.recall.index import people_repository as changes
from internal.recall.index.changed_owners import FEW, log_since
from internal.recall.index.item_repository import VectorKind
from internal.recall.index.people_repository import ChangeLog
from internal.recall.index.terms import TermTools, analyse_new
from internal.recall.index.vector_rows import ByteCache, OwnerLocks, on_thread
from internal.recall.messages import repository
from internal.recall.messages.index import MessageIndex
from internal.recall.messages.message_rows import OWNER, MessageRow
from internal.recall.messages.saved_indexes import SavedIndexes
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone

CACHE_BYTES: Final = 256 * 1024 * 1024
"""Memory for all owners together: some 300,000 messages of 384 dimensions."""

MANY_UNSAVED: Final = 500
"""Changed messages after which an index is saved again: applying 500 takes a quarter of a second."""


@dataclass(frozen=True, slots=True)
class _Refreshed:
    """The result of one read: a newly built or saved index, and the messages that changed and are visible."""

    seq: int
    owner: str
    index: MessageIndex | None = None
    touched: tuple[str, ...] = ()
    current: tuple[MessageRow, ...] = ()


class MessageIndexes:
    """One instance serves all owners; use an index only while holding its owner's lock."""

    def __init__(
        self,
        database: Database,
        vectors_of: VectorKind | None,
        terms: TermTools | None,
        *,
        cache_bytes: int = CACHE_BYTES,
        data_dir: Path | None = None,
    ) -> None:
        """`vectors_of` None: no vectors. `terms` None: texts without stored terms are not found by words.

        `data_dir` is where large indexes are saved.
        """
        self._database, self._vectors_of, self._tools = database, vectors_of, terms
        self._saved = SavedIndexes(data_dir, vectors_of) if data_dir is not None else None
        self._swept = False
        self._emptied: set[int] = set()  # owners whose index was dropped while it was in use
        self._cache: ByteCache[int, MessageIndex] = ByteCache(cache_bytes)
        self._locks = OwnerLocks()

    @property
    def nbytes(self) -> int:
        return self._cache.nbytes

    def lock(self, user_id: int) -> asyncio.Lock:
        """The lock that makes an owner's searches run one after the other."""
        return self._locks.of(user_id)

    def forget(self, user_id: int) -> None:
        """Drops this owner's data from memory; the next search reads it again, or before it the next `save`."""
        if self._cache.get(user_id) is not None:
            self._emptied.add(user_id)
        self._cache.drop(user_id)
        if self._saved is not None:
            self._saved.forget(user_id)

    async def save(self) -> None:
        """Saves the indexes of which much changed since, and drops files that may not be there. Raises OSError.

        First it builds those again that a forgetting dropped: the next question does not wait for 100,000 messages.
        """
        while self._emptied:
            user_id = self._emptied.pop()
            with acting_for(user_id):
                async with self.lock(user_id):
                    await self.current(user_id)
        if (saved := self._saved) is None:
            return
        if not self._swept:
            with acting_for_everyone():
                await self._database.read(saved.sweep)
            self._swept = True
        for user_id in self._cache.held():
            async with self.lock(user_id):
                position, index = saved.position(user_id), self._cache.get(user_id)
                if index is not None and index.unsaved >= MANY_UNSAVED and not index.unanalysed:
                    with acting_for(user_id):
                        await self._database.read(partial(saved.save, user_id=user_id, index=index, position=position))

    async def current(self, user_id: int) -> MessageIndex:
        """This owner's index, current with every committed write. Call and use it under the owner's lock."""
        cached = self._cache.get(user_id)
        cache_version = self._database.cache_version(user_id)
        if cached is None or cached.cache_version != cache_version:
            cached = await self._refreshed(user_id, cached, cache_version)
        if cached.unanalysed and self._tools is not None:
            terms = await analyse_new(self._tools, cached.unanalysed)
            await on_thread(len(cached), lambda: cached.set_terms(terms))
        return cached

    async def _refreshed(self, user_id: int, cached: MessageIndex | None, cache_version: int) -> MessageIndex:
        log = None if cached is None else await log_since(self._database, user_id, cached.seq, cache_version)
        if log is not None and log.entries is not None and len(log.entries) <= FEW:
            refreshed = await self._database.read_quickly(lambda connection: self._changed(connection, user_id, log))
        else:
            refreshed = await self._database.read(lambda connection: self._read(connection, user_id, log))
        index = refreshed.index if refreshed.index is not None else cached
        assert index is not None
        if refreshed.index is not None:
            self._cache.put(user_id, index)
        if refreshed.touched:
            current_rows = await self._analysed(refreshed.current)
            await on_thread(len(index), lambda: index.apply_changes(refreshed.touched, current_rows))
            self._cache.shrink()
        index.rename(OWNER, refreshed.owner)
        index.seq, index.cache_version = refreshed.seq, cache_version
        return index

    async def _analysed(self, rows: Sequence[MessageRow]) -> Sequence[MessageRow]:
        """The rows, with terms where none are stored yet, so that the index takes in each text once."""
        texts = {row.ref_id: row.text for row in rows if row.terms is None and row.text}
        terms = await analyse_new(self._tools, texts) if texts and self._tools is not None else {}
        return [replace(row, terms=terms.get(row.ref_id, row.terms)) for row in rows] if terms else rows

    def _read(self, connection: Connection, user_id: int, log: ChangeLog | None) -> _Refreshed:
        """Runs on a database thread: building an index of 100,000 messages takes seconds."""
        saved = None
        if log is None and self._saved is not None:
            saved = self._saved.load(connection, user_id)
            log = None if saved is None else changes.log_after(connection, user_id, saved.seq)
        if log is not None and log.entries is not None:
            return self._changed(connection, user_id, log, saved)
        seq = changes.last_seq(connection, user_id)
        dimensions = self._vectors_of.dimensions if self._vectors_of is not None else 0
        index = MessageIndex.load(dimensions, seq, repository.rows(connection, user_id, self._vectors_of))
        return _Refreshed(seq, repository.owner_name(connection, user_id), index)

    def _changed(
        self, connection: Connection, user_id: int, log: ChangeLog, saved: MessageIndex | None = None
    ) -> _Refreshed:
        touched, owner = repository.touched(log.entries or ()), repository.owner_name(connection, user_id)
        current = repository.rows(connection, user_id, self._vectors_of, touched)
        return _Refreshed(log.seq, owner, saved, touched, tuple(current))
