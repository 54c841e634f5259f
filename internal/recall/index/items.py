"""One owner's facts, entities, memories or episodes in memory: vectors, words and times, right after every write."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from internal.language.search.terms import ANALYZER, Word
from internal.recall.index import item_repository, people_repository
from internal.recall.index.bm25 import LexicalIndex
from internal.recall.index.item_repository import FOREVER, ItemKind, ItemRow, VectorKind
from internal.recall.index.scoring import Mask, Scores
from internal.recall.index.terms import TermTools, analysed
from internal.recall.index.vector_rows import FIRST_ROWS, ByteCache, OwnerLocks, VectorRows
from internal.storage.database import Database
from internal.storage.types import to_micros
from internal.storage.vectors import Vector

CACHE_BYTES: Final = 512 * 1024 * 1024
"""Memory for all owners together: some 250,000 facts of 384 dimensions."""

_ITEM_BYTES: Final = 400
"""About what one item takes besides its numbers: ids and the places where they are looked up."""

_NAMES_BYTES: Final = 300
"""About what the names of one entity take."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Which facts count: what holds at `now` or later; `as_of`: what held then; `known_at`: what was known then.

    With `until` as well: what held at any time in [as_of, until).
    """

    now: datetime
    as_of: datetime | None = None
    known_at: datetime | None = None
    include_invalid: bool = False
    until: datetime | None = None


class ItemIndex:
    """Everything of one kind an owner has. Not safe for threads that write."""

    def __init__(self, dimensions: int, seq: int = 0, rows: int = FIRST_ROWS) -> None:
        """`seq` is the place in the change log up to which this is right; `commits` as in PeopleMatrix."""
        self.seq = seq
        self.commits = -1
        self.version = 0
        """Grows with every change: what was worked out from the rows of one version holds for that version only."""
        self.unread: dict[str, str] = {}
        self.names: dict[str, tuple[str, ...]] = {}
        """What entities are called, as far as that was read since they changed last."""
        self._rows: VectorRows[str] = VectorRows(
            dimensions,
            rows,
            doc=np.int64,
            embedded=np.bool_,
            begins=np.int64,
            ends=np.int64,
            known=np.int64,
            gone=np.int64,
            source=np.int64,
            target=np.int64,
        )
        self._words = LexicalIndex()
        self._terms: dict[str, int] = {}
        self._nodes: dict[str, int] = {}

    @classmethod
    def load(cls, dimensions: int, seq: int, found: Iterable[ItemRow], *, expected: int) -> ItemIndex:
        """An index of all these; of two with one id the later counts."""
        index = cls(dimensions, seq, max(expected, FIRST_ROWS))
        items = list({item.ref_id: item for item in found}.values())
        index._words = LexicalIndex.of(item.terms or "" for item in items)
        for doc, item in enumerate(items):
            index._terms[item.ref_id] = hash(item.terms or "")
            index._put_row(item, doc)
        return index

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        items = len(self._rows) * _ITEM_BYTES + len(self.names) * _NAMES_BYTES
        return self._rows.nbytes + self._words.nbytes + items

    @property
    def ids(self) -> Sequence[str]:
        """The ids by row."""
        return self._rows.keys

    @property
    def vectors(self) -> Vector:
        """Shape (items, dimensions); rows that are not `embedded` are zero."""
        return self._rows.vectors

    @property
    def embedded(self) -> Mask:
        return self._rows.column("embedded")

    def rows_of(self, ref_ids: Iterable[str]) -> list[int]:
        """The rows of those of these that may be found."""
        return [row for ref_id in ref_ids if (row := self._rows.row_of(ref_id)) is not None]

    def lexical(self, query: Sequence[Word]) -> Scores:
        """How much of the query's words each row holds; see `LexicalIndex.scores`."""
        scores: Scores = self._words.scores(query)[self._rows.column("doc")]
        return scores

    def counting(self, moment: Moment) -> Mask:
        """Which rows may be found. Knowledge of the past can only be judged row by row: then it holds too many."""
        known, gone = self._rows.column("known"), self._rows.column("gone")
        if moment.known_at is not None:
            then = to_micros(moment.known_at)
            return (known <= then) & ((then < gone) | moment.include_invalid)
        mask: Mask = np.ones(len(self), dtype=np.bool_) if moment.include_invalid else gone == FOREVER
        if moment.as_of is not None:
            then = to_micros(moment.as_of)
            latest = then if moment.until is None else to_micros(moment.until) - 1
            return mask & (self._rows.column("begins") <= latest) & (then < self._rows.column("ends"))
        return mask if moment.include_invalid else mask & (self._rows.column("ends") > to_micros(moment.now))

    def source_in(self, node_ids: Collection[str]) -> Mask:
        """Which facts begin at one of these nodes; which nodes are of one of these labels."""
        return _is_in(self._rows.column("source"), self._numbers(node_ids))

    def target_in(self, node_ids: Collection[str]) -> Mask:
        """Which facts end at one of these nodes."""
        return _is_in(self._rows.column("target"), self._numbers(node_ids))

    def follow(self, touched: Iterable[str], current: Sequence[ItemRow]) -> None:
        """Takes over what became of those that were touched; those not among `current` are found no more."""
        there = {item.ref_id: item for item in current}
        self.version += 1
        for ref_id in touched:
            self.names.pop(ref_id, None)
            if ref_id not in there:
                self._drop(ref_id)
        for item in there.values():
            self._put(item)
        self._tidy()

    def read(self, terms: dict[str, str]) -> None:
        """Takes over the terms of texts that had none stored yet."""
        self.version += 1
        for ref_id, found in terms.items():
            row = self._rows.row_of(ref_id)
            if row is not None and self.unread.pop(ref_id, None) is not None:
                self._rows.column("doc")[row] = self._new_doc(ref_id, found, int(self._rows.column("doc")[row]))
        self._tidy()

    def _put(self, item: ItemRow) -> None:
        row = self._rows.row_of(item.ref_id)
        doc = None if row is None else int(self._rows.column("doc")[row])
        terms = item.terms or ""
        if doc is None or hash(terms) != self._terms[item.ref_id]:
            doc = self._new_doc(item.ref_id, terms, doc)
        self._put_row(item, doc)

    def _put_row(self, item: ItemRow, doc: int) -> None:
        if item.terms is None:
            self.unread[item.ref_id] = item.text or ""
        else:
            self.unread.pop(item.ref_id, None)
        self._rows.put(
            item.ref_id,
            item.vector,
            doc=doc,
            embedded=item.vector is not None,
            begins=item.begins,
            ends=item.ends,
            known=item.known,
            gone=item.gone,
            source=self._number(item.source),
            target=self._number(item.target),
        )

    def _new_doc(self, ref_id: str, terms: str, old: int | None) -> int:
        if old is not None:
            self._words.drop(old)
        self._terms[ref_id] = hash(terms)
        return self._words.put(terms)

    def _drop(self, ref_id: str) -> None:
        row = self._rows.row_of(ref_id)
        if row is not None:
            self._words.drop(int(self._rows.column("doc")[row]))
            self._rows.drop(ref_id)
            del self._terms[ref_id]
            self.unread.pop(ref_id, None)

    def _tidy(self) -> None:
        if self._words.wasteful:
            renumbered = self._words.compact()
            docs = self._rows.column("doc")
            docs[:] = renumbered[docs]

    def _number(self, node_id: str) -> int:
        return self._nodes.setdefault(node_id, len(self._nodes))

    def _numbers(self, node_ids: Collection[str]) -> list[int]:
        return [self._nodes[node_id] for node_id in node_ids if node_id in self._nodes]


def _is_in(values: NDArray[np.int64], numbers: Sequence[int]) -> Mask:
    """Which values are among a few numbers: one comparison each is quicker than `np.isin`."""
    found = np.zeros(len(values), dtype=np.bool_)
    for number in numbers:
        found |= values == number
    return found


@dataclass(frozen=True, slots=True)
class _Refreshed:
    """What one read found: an index made anew, or the items that changed and may be found."""

    seq: int
    index: ItemIndex | None = None
    touched: tuple[str, ...] = ()
    current: tuple[ItemRow, ...] = ()


class ItemIndexes:
    """The indexes of the owners seen last. One instance serves all; whoever uses an index holds its owner's lock."""

    def __init__(
        self,
        database: Database,
        of: VectorKind | None,
        terms: TermTools | None,
        *,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """`of` None: there are no vectors. `terms` None: texts too new to have stored terms are not found by words."""
        self._database, self._of, self._tools = database, of, terms
        self._cache: ByteCache[tuple[int, ItemKind], ItemIndex] = ByteCache(cache_bytes)
        self._locks: dict[ItemKind, OwnerLocks] = {kind: OwnerLocks() for kind in item_repository.KINDS}

    @property
    def nbytes(self) -> int:
        return self._cache.nbytes

    def lock(self, user_id: int, kind: ItemKind) -> asyncio.Lock:
        """An owner's searches of one kind run one after the other."""
        return self._locks[kind].of(user_id)

    def forget(self, user_id: int) -> None:
        """Drops what is in memory of this owner; the next search reads it anew."""
        for kind in item_repository.KINDS:
            self._cache.drop((user_id, kind))

    async def current(self, user_id: int, kind: ItemKind) -> ItemIndex:
        """This owner's index with every committed write in it; to be called and used under the owner's lock."""
        cached = self._cache.get((user_id, kind))
        commits = self._database.commits
        if cached is None or cached.commits != commits:
            cached = await self._refreshed(user_id, kind, cached, commits)
        if cached.unread and self._tools is not None:
            found = await analysed(self._tools, cached.unread)
            cached.read(found)
        return cached

    async def _refreshed(self, user_id: int, kind: ItemKind, cached: ItemIndex | None, commits: int) -> ItemIndex:
        after = None if cached is None else cached.seq
        found = await self._database.read(lambda connection: self._look(connection, user_id, kind, after))
        index = found.index if found.index is not None else cached
        assert index is not None
        if found.index is not None:
            self._cache.put((user_id, kind), index)
        elif found.touched:
            index.follow(found.touched, found.current)
            self._cache.shrink()
        index.seq, index.commits = found.seq, commits
        return index

    def _look(self, connection: Connection, user_id: int, kind: ItemKind, after: int | None) -> _Refreshed:
        """On a database thread: an index of 20,000 items takes half a second to build."""
        if after is not None:
            log_after = people_repository.log_after(connection, user_id, after)
            if log_after.entries is not None:
                touched = item_repository.touched(connection, user_id, kind, log_after.entries)
                current = item_repository.rows(connection, user_id, kind, self._of, ANALYZER, touched)
                return _Refreshed(log_after.seq, touched=touched, current=tuple(current))
        seq = people_repository.last_seq(connection, user_id)
        expected = item_repository.count(connection, user_id, kind)
        everything = item_repository.rows(connection, user_id, kind, self._of, ANALYZER)
        dimensions = self._of.dimensions if self._of is not None else 0
        return _Refreshed(seq, ItemIndex.load(dimensions, seq, everything, expected=expected))
