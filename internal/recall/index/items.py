"""One owner's facts, entities, memories or episodes in memory: vectors, words and times after every commit."""

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
from internal.people.repository import CHANGE_KIND as PERSON, ITEM_PREFIX as PERSON_PREFIX
from internal.recall.index import item_repository, people_repository
from internal.recall.index.bm25 import LexicalIndex
from internal.recall.index.changed_owners import log_since
from internal.recall.index.item_repository import FOREVER, ItemKind, ItemRow, VectorKind
from internal.recall.index.scoring import Mask, Scores
from internal.recall.index.terms import TermTools, analyse_new
from internal.recall.index.vector_rows import FIRST_ROWS, ByteCache, OwnerLocks, VectorRows
from internal.storage.database import Database
from internal.storage.types import to_micros
from internal.storage.vectors import Vector

CACHE_BYTES: Final = 512 * 1024 * 1024
"""Memory for all owners together: some 250,000 facts of 384 dimensions."""

_ITEM_BYTES: Final = 400
"""Approximate memory of one item besides its numbers: ids and lookup tables."""

_NAMES_BYTES: Final = 300
"""Approximate memory of the names of one entity."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The time a search is about: facts that hold from `now` on, held at `as_of`, or were known at `known_at`.

    With `until` as well: facts that held at any time in [as_of, until).
    """

    now: datetime
    as_of: datetime | None = None
    known_at: datetime | None = None
    include_invalid: bool = False
    until: datetime | None = None


class ItemIndex:
    """All search items of one kind of an owner. Not thread-safe for writes."""

    def __init__(self, dimensions: int, seq: int = 0, rows: int = FIRST_ROWS) -> None:
        """`seq` is the change log position up to which the index is current; `cache_version` as in PeopleMatrix."""
        self.seq = seq
        self.cache_version = -1
        self.version = 0
        """Grows with every change: results computed from the rows of one version are valid for that version only."""
        self.unanalysed: dict[str, str] = {}
        self.names: dict[str, tuple[str, ...]] = {}
        """Names of entities, as far as they were read since the entity last changed."""
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
    def load(cls, dimensions: int, seq: int, items: Iterable[ItemRow], *, expected: int) -> ItemIndex:
        """Builds an index of these rows; of two with the same id the later counts."""
        index = cls(dimensions, seq, max(expected, FIRST_ROWS))
        unique = list({item.ref_id: item for item in items}.values())
        index._words = LexicalIndex.of(item.terms or "" for item in unique)
        for doc, item in enumerate(unique):
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
        """The rows of these ids; ids that are not in the index are left out."""
        return [row for ref_id in ref_ids if (row := self._rows.row_of(ref_id)) is not None]

    def lexical(self, query: Sequence[Word]) -> Scores:
        """How much of the query's words each row holds; see `LexicalIndex.scores`."""
        scores: Scores = self._words.scores(query)[self._rows.column("doc")]
        return scores

    def valid_at(self, moment: Moment) -> Mask:
        """Which rows count at a moment. With `known_at` there are too many: stored rows have to decide."""
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
        """Which facts begin at one of these nodes, or which nodes have one of these labels."""
        return _is_in(self._rows.column("source"), self._numbers(node_ids))

    def target_in(self, node_ids: Collection[str]) -> Mask:
        """Which facts end at one of these nodes."""
        return _is_in(self._rows.column("target"), self._numbers(node_ids))

    def apply_changes(self, touched: Iterable[str], current: Sequence[ItemRow]) -> None:
        """Applies changes: `touched` ids that are not among `current` are removed, the others replaced."""
        visible = {item.ref_id: item for item in current}
        self.version += 1
        for ref_id in touched:
            self.names.pop(ref_id, None)
            if ref_id not in visible:
                self._drop(ref_id)
        for item in visible.values():
            self._put(item)
        self._compact_words()

    def set_terms(self, terms: dict[str, str]) -> None:
        """Sets the terms of texts whose terms were not stored yet."""
        self.version += 1
        for ref_id, text_terms in terms.items():
            row = self._rows.row_of(ref_id)
            if row is not None and self.unanalysed.pop(ref_id, None) is not None:
                self._rows.column("doc")[row] = self._new_doc(ref_id, text_terms, int(self._rows.column("doc")[row]))
        self._compact_words()

    def _put(self, item: ItemRow) -> None:
        row = self._rows.row_of(item.ref_id)
        doc = None if row is None else int(self._rows.column("doc")[row])
        terms = item.terms or ""
        if doc is None or hash(terms) != self._terms[item.ref_id]:
            doc = self._new_doc(item.ref_id, terms, doc)
        self._put_row(item, doc)

    def _put_row(self, item: ItemRow, doc: int) -> None:
        if item.terms is None:
            self.unanalysed[item.ref_id] = item.text or ""
        else:
            self.unanalysed.pop(item.ref_id, None)
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
            self.unanalysed.pop(ref_id, None)

    def _compact_words(self) -> None:
        if self._words.needs_compaction:
            renumbered = self._words.compact()
            docs = self._rows.column("doc")
            docs[:] = renumbered[docs]

    def _number(self, node_id: str) -> int:
        return self._nodes.setdefault(node_id, len(self._nodes))

    def _numbers(self, node_ids: Collection[str]) -> list[int]:
        return [self._nodes[node_id] for node_id in node_ids if node_id in self._nodes]


def _is_in(values: NDArray[np.int64], numbers: Sequence[int]) -> Mask:
    """Which values are among a few numbers: one comparison each is faster than `np.isin`."""
    mask = np.zeros(len(values), dtype=np.bool_)
    for number in numbers:
        mask |= values == number
    return mask


class ItemIndexes:
    """The indexes of the owners who searched last. Use an index only while holding its owner's lock."""

    def __init__(
        self,
        database: Database,
        vectors_of: VectorKind | None,
        terms: TermTools | None,
        *,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """`vectors_of` None: no vectors. `terms` None: texts without stored terms are not found by words."""
        self._database, self._vectors_of, self._tools = database, vectors_of, terms
        self._cache: ByteCache[tuple[int, ItemKind], ItemIndex] = ByteCache(cache_bytes)
        self._locks: dict[ItemKind, OwnerLocks] = {kind: OwnerLocks() for kind in item_repository.KINDS}

    @property
    def nbytes(self) -> int:
        return self._cache.nbytes

    def lock(self, user_id: int, kind: ItemKind) -> asyncio.Lock:
        """The lock that makes an owner's searches of one kind run one after the other."""
        return self._locks[kind].of(user_id)

    def forget(self, user_id: int) -> None:
        """Drops this owner's data from memory; the next search reads it again."""
        for kind in item_repository.KINDS:
            self._cache.drop((user_id, kind))

    async def current(self, user_id: int, kind: ItemKind) -> ItemIndex:
        """This owner's index, current with every committed write. Call and use it under the owner's lock."""
        cached = self._cache.get((user_id, kind))
        cache_version = self._database.cache_version(user_id)
        if cached is None or cached.cache_version != cache_version:
            cached = await self._refreshed(user_id, kind, cached, cache_version)
        if cached.unanalysed and self._tools is not None:
            terms = await analyse_new(self._tools, cached.unanalysed)
            cached.set_terms(terms)
        return cached

    async def _refreshed(self, user_id: int, kind: ItemKind, cached: ItemIndex | None, cache_version: int) -> ItemIndex:
        log = None if cached is None else await log_since(self._database, user_id, cached.seq, cache_version)
        if cached is None or log is None or log.entries is None:
            cached = await self._database.read(lambda connection: self._load(connection, user_id, kind))
            self._cache.put((user_id, kind), cached)
        else:
            if _concern(kind, entries := log.entries):
                touched, current = await self._database.read(lambda c: self._changed(c, user_id, kind, entries))
                if touched:
                    cached.apply_changes(touched, current)
                    self._cache.shrink()
            cached.seq = log.seq
        cached.cache_version = cache_version
        return cached

    def _changed(
        self, connection: Connection, user_id: int, kind: ItemKind, entries: Sequence[tuple[str, str]]
    ) -> tuple[Sequence[str], Sequence[ItemRow]]:
        touched = item_repository.touched(connection, user_id, kind, entries)
        return touched, list(item_repository.rows(connection, user_id, kind, self._vectors_of, ANALYZER, touched))

    def _load(self, connection: Connection, user_id: int, kind: ItemKind) -> ItemIndex:
        """Runs on a database thread: building an index of 20,000 items takes half a second."""
        seq = people_repository.last_seq(connection, user_id)
        expected = item_repository.count(connection, user_id, kind)
        items = item_repository.rows(connection, user_id, kind, self._vectors_of, ANALYZER)
        dimensions = self._vectors_of.dimensions if self._vectors_of is not None else 0
        return ItemIndex.load(dimensions, seq, items, expected=expected)


def _concern(kind: ItemKind, entries: Sequence[tuple[str, str]]) -> bool:
    """Whether any of these changes may be about an item of this kind."""
    prefixes = (*item_repository.ITEMS_OF.get(kind, (f"{kind}:",)), *([PERSON_PREFIX] if kind == "entity" else []))
    return any(
        kind in item_repository.CHANGED_KINDS.get(change, ())
        or ref.startswith(prefixes)
        or (change == PERSON and kind == "entity")
        for change, ref in entries
    )
