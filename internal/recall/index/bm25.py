"""BM25 search over posting lists in numpy, updated in place as documents are added and dropped.

A word of a query has alternatives (see `internal.language.search.terms`) and counts as one term: its document frequency
is that of all alternatives together, and in each document the best alternative counts. Formula: Robertson and Zaragoza,
"The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf that is never negative.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from internal.language.search.terms import NOT_WORDS, OR, Word
from internal.recall.index.roots import Roots

K1: Final = 1.2
B: Final = 0.75
"""The usual BM25 constants."""

_GROWTH: Final = 1.5
_INITIAL_CAPACITY: Final = 16
_MANY_RECENT: Final = 1_000
_TERM_BYTES: Final = 300
"""Approximate memory of one term in the vocabulary, with its string and its root."""

Numbers = NDArray[np.int32]
Scores = NDArray[np.float32]


class LexicalIndex:
    """Documents by number, searched by their words. Numbers change only in `compact`. Not thread-safe for writes."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._roots = Roots()
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._docs: Numbers = np.empty(0, dtype=np.int32)
        self._counts: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self._recent: dict[int, list[tuple[int, int]]] = {}
        self._recent_docs = 0
        self._lengths: NDArray[np.float32] = np.zeros(_INITIAL_CAPACITY, dtype=np.float32)
        self._alive: NDArray[np.bool_] = np.zeros(_INITIAL_CAPACITY, dtype=np.bool_)
        self._size = 0
        self._dropped = 0

    @classmethod
    def of(cls, documents: Iterable[str]) -> LexicalIndex:
        """Builds an index of documents given by their stored terms, numbered from 0 in their order."""
        index = cls()
        numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        postings, lengths = array("q"), array("q")
        for document in documents:
            index._new_doc(document)
            terms = _terms(document)
            postings.extend(map(numbers.__getitem__, terms))
            lengths.append(len(terms))
        index._vocabulary = dict(numbers)
        doc_of_posting = np.repeat(np.arange(len(lengths), dtype=np.int64), np.array(lengths, dtype=np.int64))
        index._build(np.array(postings, dtype=np.int64), doc_of_posting)
        return index

    def packed(self) -> dict[str, NDArray[Any]]:
        """The index as arrays, from which `unpacked` makes one that finds the same."""
        if self._recent:
            self._store(*self._all_postings())
        return {
            "vocabulary": to_bytes(self._vocabulary),
            "starts": self._starts,
            "docs": self._docs,
            "counts": self._counts,
            "lengths": self._lengths[: self._size],
            "alive": self._alive[: self._size],
        }

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> LexicalIndex:
        """The index whose arrays these are, their names begun with `prefix`."""
        index = cls()
        terms = from_bytes(arrays[f"{prefix}vocabulary"])
        index._vocabulary = dict(zip(terms, range(len(terms)), strict=True))
        index._starts, index._docs, index._counts = (arrays[prefix + name] for name in ("starts", "docs", "counts"))
        index._lengths, index._alive = arrays[f"{prefix}lengths"], arrays[f"{prefix}alive"]
        index._size = len(index._alive)
        index._dropped = index._size - int(index._alive.sum())
        return index

    def __len__(self) -> int:
        """The number of documents."""
        return self._size - self._dropped

    @property
    def size(self) -> int:
        """The length of `scores`: one more than the largest number given."""
        return self._size

    @property
    def nbytes(self) -> int:
        arrays = (self._starts, self._docs, self._counts, self._lengths, self._alive)
        recent = sum(map(len, self._recent.values())) * 100
        return sum(array.nbytes for array in arrays) + len(self._vocabulary) * _TERM_BYTES + recent

    @property
    def needs_compaction(self) -> bool:
        """Whether enough was added or dropped since the last build for rebuilding the lists to pay."""
        return self._recent_docs > max(_MANY_RECENT, self._size // 4) or self._dropped > max(
            _INITIAL_CAPACITY, self._size // 4
        )

    def put(self, document: str) -> int:
        """Adds a document by its stored terms and returns its number."""
        doc = self._new_doc(document)
        counts: dict[int, int] = {}
        for term in _terms(document):
            number = self._vocabulary.setdefault(term, len(self._vocabulary))
            counts[number] = counts.get(number, 0) + 1
        for number, count in counts.items():
            self._recent.setdefault(number, []).append((doc, count))
        self._recent_docs += 1
        return doc

    def drop(self, doc: int) -> None:
        """Removes a document; its number is not used again."""
        self._dropped += int(self._alive[doc])
        self._alive[doc] = False
        self._lengths[doc] = 0

    def scores(self, query: Sequence[Word]) -> Scores:
        """BM25 of each document divided by the sum of the words' idf: shape (size,), 0 without any word of the query,
        about 1 with every word once.

        The division makes scores comparable between queries. Dropped documents have 0.
        """
        total = np.zeros(self._size, dtype=np.float32)
        documents = len(self)
        if not query or not documents:
            return total
        alive = self._alive[: self._size]
        weights = self._length_weights(documents)
        idf_sum = 0.0
        for word in query:
            best = self._best_alternative(word, weights)
            frequency = int(np.count_nonzero(best[alive] if self._dropped else best))
            idf = float(np.log1p((documents - frequency + 0.5) / (frequency + 0.5)))
            idf_sum += idf
            total += np.float32(idf) * best
        if self._dropped:
            total[~alive] = 0
        return total / np.float32(idf_sum)

    @property
    def lengths(self) -> Scores:
        """The number of words in each document: shape (size,), 0 for dropped ones."""
        return self._lengths[: self._size]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which numbers belong to documents that were not dropped: shape (size,)."""
        return self._alive[: self._size]

    def occurrences(self, word: Word) -> tuple[Numbers, Scores]:
        """The documents that hold a word, and its count in each: the best alternative's count times its weight.

        The counts have shape (size + 1,) with a zero at the end, so that number -1 stands for no document.
        """
        counts = np.zeros(self._size + 1, dtype=np.float32)
        holding: list[Numbers] = []
        for term, weight in word:
            for docs, term_counts in self._alive_postings(term):
                weighted = np.float32(weight) * term_counts
                if not holding:
                    counts[docs] = weighted
                    holding.append(docs)
                    continue
                before = counts[docs]
                counts[docs] = np.maximum(before, weighted)
                holding.append(docs[before == 0])
        return np.concatenate(holding) if holding else np.empty(0, dtype=np.int32), counts

    def with_relatives(self, words: Iterable[Word]) -> list[Word]:
        """The words of a query, each with the Russian and Ukrainian words of its root as further alternatives."""
        return self._roots.with_relatives(self._vocabulary, words)

    def mean_idfs(self) -> Scores:
        """The mean idf of each document's different terms without sounds, given names and places: shape (size,)."""
        documents = max(1, len(self))
        terms, docs, _ = self._all_postings()
        not_words = np.fromiter((term[0] in NOT_WORDS for term in self._vocabulary), np.bool_, len(self._vocabulary))
        kept = self._alive[docs] & ~not_words[terms]
        terms, docs = terms[kept], docs[kept]
        frequencies = np.bincount(terms, minlength=len(self._vocabulary))
        idf = np.log1p((documents - frequencies + 0.5) / (frequencies + 0.5))
        sums = np.bincount(docs, idf[terms], minlength=self._size)
        return (sums / np.maximum(1, np.bincount(docs, minlength=self._size))).astype(np.float32)

    def mean_idf(self, document: str) -> float:
        """The mean idf of the different terms of one text, computed as in `mean_idfs`."""
        documents = max(1, len(self))
        terms = {term for term in _terms(document) if term[0] not in NOT_WORDS}
        frequencies = [
            sum(int(np.count_nonzero(self._alive[docs])) for docs, _ in self._postings(term)) for term in terms
        ]
        idf = [math.log1p((documents - count + 0.5) / (count + 0.5)) for count in frequencies]
        return sum(idf) / max(1, len(idf))

    def compact(self) -> Numbers:
        """Rebuilds the lists without dropped documents. Returns the new number of each old one, -1 for dropped ones."""
        alive = self._alive[: self._size]
        renumbered = np.where(alive, np.cumsum(alive, dtype=np.int32) - 1, -1).astype(np.int32)
        terms, docs, counts = self._all_postings()
        kept = alive[docs]
        terms, docs, counts = terms[kept], renumbered[docs[kept]], counts[kept]
        used_terms, terms = np.unique(terms, return_inverse=True)
        by_number = list(self._vocabulary)
        self._vocabulary = {by_number[old]: number for number, old in enumerate(used_terms.tolist())}
        self._lengths, self._alive = self._lengths[: self._size][alive], np.ones(int(alive.sum()), dtype=np.bool_)
        self._size, self._dropped = len(self._alive), 0
        self._store(terms.astype(np.int64), docs, counts)
        return renumbered

    def _all_postings(self) -> tuple[NDArray[np.int64], Numbers, NDArray[np.float32]]:
        terms = np.repeat(np.arange(len(self._starts) - 1, dtype=np.int64), np.diff(self._starts))
        recent = [(number, doc, count) for number, postings in self._recent.items() for doc, count in postings]
        added = np.array(recent, dtype=np.int64).reshape(-1, 3)
        return (
            np.concatenate((terms, added[:, 0])),
            np.concatenate((self._docs, added[:, 1].astype(np.int32))),
            np.concatenate((self._counts, added[:, 2].astype(np.float32))),
        )

    def _build(self, terms: NDArray[np.int64], docs: NDArray[np.int64]) -> None:
        """Builds the posting lists from (term, document) pairs; a pair that occurs twice is counted twice."""
        width = max(1, self._size)
        pairs, counts = np.unique(terms * width + docs, return_counts=True)
        self._store(pairs // width, (pairs % width).astype(np.int32), counts.astype(np.float32))

    def _store(self, terms: NDArray[np.int64], docs: Numbers, counts: NDArray[np.float32]) -> None:
        order = np.argsort(terms, kind="stable")
        self._docs, self._counts = docs[order], counts[order]
        lengths = np.bincount(terms, minlength=len(self._vocabulary))
        self._starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))
        self._recent, self._recent_docs = {}, 0

    def _new_doc(self, document: str) -> int:
        if self._size == len(self._alive):
            self._grow()
        doc, self._size = self._size, self._size + 1
        self._lengths[doc] = document.count(" ") + 1 if document else 0
        self._alive[doc] = True
        return doc

    def _grow(self) -> None:
        spare = int(len(self._alive) * (_GROWTH - 1)) + 1
        self._lengths = np.concatenate((self._lengths, np.zeros(spare, dtype=np.float32)))
        self._alive = np.concatenate((self._alive, np.zeros(spare, dtype=np.bool_)))

    def _length_weights(self, documents: int) -> Scores:
        """What BM25 adds to the count in the denominator: K1 for average length, more for a longer document."""
        lengths = self._lengths[: self._size]
        mean = max(float(lengths.sum()) / documents, 1e-9)
        return np.float32(K1) * (np.float32(1 - B) + np.float32(B / mean) * lengths)

    def _best_alternative(self, word: Word, weights: Scores) -> Scores:
        """The best alternative's BM25 weight of one word in each document: shape (size,)."""
        best = np.zeros(self._size, dtype=np.float32)
        for term, weight in word:
            for docs, counts in self._postings(term):
                weights_in_docs = np.float32(weight * (K1 + 1)) * counts / (counts + weights[docs])
                best[docs] = np.maximum(best[docs], weights_in_docs)
        return best

    def _alive_postings(self, term: str) -> Iterable[tuple[Numbers, NDArray[np.float32]]]:
        """The postings of documents that were not dropped."""
        if not self._dropped:
            return self._postings(term)
        postings = ((docs, counts, self._alive[docs]) for docs, counts in self._postings(term))
        return ((docs[alive], counts[alive]) for docs, counts, alive in postings)

    def _postings(self, term: str) -> Iterable[tuple[Numbers, NDArray[np.float32]]]:
        number = self._vocabulary.get(term)
        if number is None:
            return
        if number < len(self._starts) - 1:
            posting_range = slice(self._starts[number], self._starts[number + 1])
            yield self._docs[posting_range], self._counts[posting_range]
        if recent := self._recent.get(number):
            docs, counts = zip(*recent, strict=True)
            yield np.array(docs, dtype=np.int32), np.array(counts, dtype=np.float32)


def _terms(document: str) -> list[str]:
    return document.replace(OR, " ").split()


def to_bytes(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Texts without line breaks as one array."""
    return np.frombuffer("\n".join(texts).encode(), dtype=np.uint8)


def from_bytes(array: NDArray[Any]) -> list[str]:
    """The texts that `to_bytes` was given."""
    return array.tobytes().decode().split("\n") if len(array) else []
