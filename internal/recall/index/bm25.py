"""Search by words: BM25 over posting lists in numpy, kept right while documents come and go.

A word of a query has alternatives (see `internal.language.search.terms`), and counts as one term: its frequency in the
collection is that of all of them together, and in a document the best of them counts. Formula: Robertson and Zaragoza,
"The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf that is never negative.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from internal.language.search.terms import GIVEN, OR, PLACE, SOUND, Word

K1: Final = 1.2
B: Final = 0.75
"""The customary constants."""

_GROWTH: Final = 1.5
_FIRST: Final = 16
_MANY_FRESH: Final = 1_000
_NO_WORDS: Final = (SOUND, GIVEN, PLACE)
_TERM_BYTES: Final = 200
"""About what one term takes in the vocabulary, its string included."""

Numbers = NDArray[np.int32]
Scores = NDArray[np.float32]


class LexicalIndex:
    """Documents by number, found by their words. Numbers change only in `compact`. Not safe for threads that write."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._docs: Numbers = np.empty(0, dtype=np.int32)
        self._counts: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self._fresh: dict[int, list[tuple[int, int]]] = {}
        self._fresh_docs = 0
        self._lengths: NDArray[np.float32] = np.zeros(_FIRST, dtype=np.float32)
        self._alive: NDArray[np.bool_] = np.zeros(_FIRST, dtype=np.bool_)
        self._size = 0
        self._gone = 0

    @classmethod
    def of(cls, documents: Iterable[str]) -> LexicalIndex:
        """An index of stored terms, numbered from 0 in their order."""
        index = cls()
        numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        postings, lengths = array("q"), array("q")
        for stored in documents:
            index._new(stored)
            terms = _terms(stored)
            postings.extend(map(numbers.__getitem__, terms))
            lengths.append(len(terms))
        index._vocabulary = dict(numbers)
        of_doc = np.repeat(np.arange(len(lengths), dtype=np.int64), np.array(lengths, dtype=np.int64))
        index._build(np.array(postings, dtype=np.int64), of_doc)
        return index

    def __len__(self) -> int:
        """How many documents there are."""
        return self._size - self._gone

    @property
    def size(self) -> int:
        """The length of `scores`: one more than the largest number given."""
        return self._size

    @property
    def nbytes(self) -> int:
        arrays = (self._starts, self._docs, self._counts, self._lengths, self._alive)
        fresh = sum(map(len, self._fresh.values())) * 100
        return sum(array.nbytes for array in arrays) + len(self._vocabulary) * _TERM_BYTES + fresh

    @property
    def wasteful(self) -> bool:
        """Whether so much came or went since the lists were built that building them anew pays."""
        return self._fresh_docs > max(_MANY_FRESH, self._size // 4) or self._gone > max(_FIRST, self._size // 4)

    def put(self, stored: str) -> int:
        """Adds a document by its stored terms; its number."""
        doc = self._new(stored)
        counts: dict[int, int] = {}
        for term in _terms(stored):
            number = self._term(term)
            counts[number] = counts.get(number, 0) + 1
        for number, count in counts.items():
            self._fresh.setdefault(number, []).append((doc, count))
        self._fresh_docs += 1
        return doc

    def drop(self, doc: int) -> None:
        """Takes a document out; its number is given to nobody else."""
        self._gone += int(self._alive[doc])
        self._alive[doc] = False
        self._lengths[doc] = 0

    def scores(self, query: Sequence[Word]) -> Scores:
        """How much of a query each document holds: shape (size,), 0 for none of it, about 1 for every word once.

        That is BM25 divided by the sum of the words' idf, so that it means the same for every query. What is dropped
        has 0.
        """
        total = np.zeros(self._size, dtype=np.float32)
        documents = len(self)
        if not query or not documents:
            return total
        alive = self._alive[: self._size]
        weights = self._length_weights(documents)
        whole = 0.0
        for word in query:
            best = self._best(word, weights)
            having = int(np.count_nonzero(best[alive] if self._gone else best))
            idf = float(np.log1p((documents - having + 0.5) / (having + 0.5)))
            whole += idf
            total += np.float32(idf) * best
        if self._gone:
            total[~alive] = 0
        return total / np.float32(whole)

    @property
    def lengths(self) -> Scores:
        """How many words each document has: shape (size,), 0 for what was dropped."""
        return self._lengths[: self._size]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which numbers are documents still: shape (size,)."""
        return self._alive[: self._size]

    def occurrences(self, word: Word) -> tuple[Numbers, Scores]:
        """The documents that hold a word, and how often each does: its best alternative, times that one's weight.

        The counts have one place more than there are numbers, a zero: so number -1 stands for no document.
        """
        counts = np.zeros(self._size + 1, dtype=np.float32)
        holding: list[Numbers] = []
        for term, weight in word:
            for docs, found in self._there(term):
                weighted = np.float32(weight) * found
                if not holding:
                    counts[docs] = weighted
                    holding.append(docs)
                    continue
                before = counts[docs]
                counts[docs] = np.maximum(before, weighted)
                holding.append(docs[before == 0])
        return np.concatenate(holding) if holding else np.empty(0, dtype=np.int32), counts

    def rarities(self) -> Scores:
        """The mean idf of each document's different terms, sounds and the like left out: shape (size,), 0 for none."""
        documents = max(1, len(self))
        terms, docs, _ = self._everything()
        named = np.fromiter((term[0] in _NO_WORDS for term in self._vocabulary), np.bool_, len(self._vocabulary))
        kept = self._alive[docs] & ~named[terms]
        terms, docs = terms[kept], docs[kept]
        having = np.bincount(terms, minlength=len(self._vocabulary))
        idf = np.log1p((documents - having + 0.5) / (having + 0.5))
        sums = np.bincount(docs, idf[terms], minlength=self._size)
        return (sums / np.maximum(1, np.bincount(docs, minlength=self._size))).astype(np.float32)

    def rarity(self, stored: str) -> float:
        """The mean idf of the different terms of one text, as `rarities` counts it."""
        documents = max(1, len(self))
        terms = {term for term in _terms(stored) if term[0] not in _NO_WORDS}
        having = [sum(int(np.count_nonzero(self._alive[docs])) for docs, _ in self._postings(term)) for term in terms]
        idf = [math.log1p((documents - count + 0.5) / (count + 0.5)) for count in having]
        return sum(idf) / max(1, len(idf))

    def compact(self) -> Numbers:
        """Builds the lists anew without what was dropped. The new number of each old one, -1 for the dropped."""
        alive = self._alive[: self._size]
        renumbered = np.where(alive, np.cumsum(alive, dtype=np.int32) - 1, -1).astype(np.int32)
        terms, docs, counts = self._everything()
        kept = alive[docs]
        terms, docs, counts = terms[kept], renumbered[docs[kept]], counts[kept]
        used, terms = np.unique(terms, return_inverse=True)
        by_number = list(self._vocabulary)
        self._vocabulary = {by_number[number]: place for place, number in enumerate(used.tolist())}
        self._lengths, self._alive = self._lengths[: self._size][alive], np.ones(int(alive.sum()), dtype=np.bool_)
        self._size, self._gone = len(self._alive), 0
        self._store(terms.astype(np.int64), docs, counts)
        return renumbered

    def _everything(self) -> tuple[NDArray[np.int64], Numbers, NDArray[np.float32]]:
        terms = np.repeat(np.arange(len(self._starts) - 1, dtype=np.int64), np.diff(self._starts))
        fresh = [(number, doc, count) for number, found in self._fresh.items() for doc, count in found]
        added = np.array(fresh, dtype=np.int64).reshape(-1, 3)
        return (
            np.concatenate((terms, added[:, 0])),
            np.concatenate((self._docs, added[:, 1].astype(np.int32))),
            np.concatenate((self._counts, added[:, 2].astype(np.float32))),
        )

    def _build(self, terms: NDArray[np.int64], docs: NDArray[np.int64]) -> None:
        """The lists of (term, document) pairs, one that comes twice counted twice."""
        width = max(1, self._size)
        pairs, counts = np.unique(terms * width + docs, return_counts=True)
        self._store(pairs // width, (pairs % width).astype(np.int32), counts.astype(np.float32))

    def _store(self, terms: NDArray[np.int64], docs: Numbers, counts: NDArray[np.float32]) -> None:
        order = np.argsort(terms, kind="stable")
        self._docs, self._counts = docs[order], counts[order]
        lengths = np.bincount(terms, minlength=len(self._vocabulary))
        self._starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))
        self._fresh, self._fresh_docs = {}, 0

    def _new(self, stored: str) -> int:
        if self._size == len(self._alive):
            self._grow()
        doc, self._size = self._size, self._size + 1
        self._lengths[doc] = stored.count(" ") + 1 if stored else 0
        self._alive[doc] = True
        return doc

    def _grow(self) -> None:
        spare = int(len(self._alive) * (_GROWTH - 1)) + 1
        self._lengths = np.concatenate((self._lengths, np.zeros(spare, dtype=np.float32)))
        self._alive = np.concatenate((self._alive, np.zeros(spare, dtype=np.bool_)))

    def _term(self, term: str) -> int:
        return self._vocabulary.setdefault(term, len(self._vocabulary))

    def _length_weights(self, documents: int) -> Scores:
        """What BM25 divides by besides the count: K1 for a document of average length, more for a longer one."""
        lengths = self._lengths[: self._size]
        mean = max(float(lengths.sum()) / documents, 1e-9)
        return np.float32(K1) * (np.float32(1 - B) + np.float32(B / mean) * lengths)

    def _best(self, word: Word, weights: Scores) -> Scores:
        """The best alternative of one word in each document."""
        best = np.zeros(self._size, dtype=np.float32)
        for term, weight in word:
            for docs, counts in self._postings(term):
                found = np.float32(weight * (K1 + 1)) * counts / (counts + weights[docs])
                best[docs] = np.maximum(best[docs], found)
        return best

    def _there(self, term: str) -> Iterable[tuple[Numbers, NDArray[np.float32]]]:
        """The postings of what was not dropped."""
        if not self._gone:
            return self._postings(term)
        found = ((docs, counts, self._alive[docs]) for docs, counts in self._postings(term))
        return ((docs[alive], counts[alive]) for docs, counts, alive in found)

    def _postings(self, term: str) -> Iterable[tuple[Numbers, NDArray[np.float32]]]:
        number = self._vocabulary.get(term)
        if number is None:
            return
        if number < len(self._starts) - 1:
            place = slice(self._starts[number], self._starts[number + 1])
            yield self._docs[place], self._counts[place]
        if fresh := self._fresh.get(number):
            docs, counts = zip(*fresh, strict=True)
            yield np.array(docs, dtype=np.int32), np.array(counts, dtype=np.float32)


def _terms(stored: str) -> list[str]:
    return stored.replace(OR, " ").split()
