"""The message indexes of the owners seen last, right after every committed write."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from internal.recall.index import people_repository as changes
from internal.recall.index.item_repository import VectorKind
from internal.recall.index.terms import TermTools, analyse_new
from internal.recall.index.vector_rows import ByteCache, OwnerLocks
from internal.recall.messages import repository
from internal.recall.messages.index import OWNER, MessageIndex, MessageRow
from internal.storage.database import Database

CACHE_BYTES: Final = 256 * 1024 * 1024
"""Memory for all owners together: some 300,000 messages of 384 dimensions."""


@dataclass(frozen=True, slots=True)
class _Refreshed:
    """What one read found: an index made anew, or the messages that changed and may be found."""

    seq: int
    owner: str
    index: MessageIndex | None = None
    touched: tuple[str, ...] = ()
    current: tuple[MessageRow, ...] = ()


class MessageIndexes:
    """One instance serves all owners; whoever uses an index holds its owner's lock."""

    def __init__(
        self, database: Database, of: VectorKind | None, terms: TermTools | None, *, cache_bytes: int = CACHE_BYTES
    ) -> None:
        """`of` None: there are no vectors. `terms` None: texts too new to have stored terms are not found by words."""
        self._database, self._of, self._tools = database, of, terms
        self._cache: ByteCache[int, MessageIndex] = ByteCache(cache_bytes)
        self._locks = OwnerLocks()

    @property
    def nbytes(self) -> int:
        return self._cache.nbytes

    def lock(self, user_id: int) -> asyncio.Lock:
        """An owner's searches run one after the other."""
        return self._locks.of(user_id)

    def forget(self, user_id: int) -> None:
        """Drops what is in memory of this owner; the next search reads it anew."""
        self._cache.drop(user_id)

    async def current(self, user_id: int) -> MessageIndex:
        """This owner's index with every committed write in it; to be called and used under the owner's lock."""
        cached = self._cache.get(user_id)
        commits = self._database.commits
        if cached is None or cached.commits != commits:
            cached = await self._refreshed(user_id, cached, commits)
        if cached.unread and self._tools is not None:
            found = await analyse_new(self._tools, cached.unread)
            await asyncio.to_thread(cached.read, found)
        return cached

    async def _refreshed(self, user_id: int, cached: MessageIndex | None, commits: int) -> MessageIndex:
        after = None if cached is None else cached.seq
        found = await self._database.read(lambda connection: self._look(connection, user_id, after))
        index = found.index if found.index is not None else cached
        assert index is not None
        if found.index is not None:
            self._cache.put(user_id, index)
        elif found.touched:
            await asyncio.to_thread(index.follow, found.touched, found.current)
            self._cache.shrink()
        index.rename(OWNER, found.owner)
        index.seq, index.commits = found.seq, commits
        return index

    def _look(self, connection: Connection, user_id: int, after: int | None) -> _Refreshed:
        """On a database thread: an index of 100,000 messages takes seconds to build."""
        owner = repository.owner_name(connection, user_id)
        if after is not None:
            log_after = changes.log_after(connection, user_id, after)
            if log_after.entries is not None:
                touched = repository.touched(log_after.entries)
                current = repository.rows(connection, user_id, self._of, touched)
                return _Refreshed(log_after.seq, owner, touched=touched, current=tuple(current))
        seq = changes.last_seq(connection, user_id)
        dimensions = self._of.dimensions if self._of is not None else 0
        index = MessageIndex.load(dimensions, seq, repository.rows(connection, user_id, self._of))
        return _Refreshed(seq, owner, index)
