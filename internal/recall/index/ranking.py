"""The arithmetic of one search of items: every row's score, and the best rows. Large ones run on a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from internal.language.search.memory_kinds import KindsAsked
from internal.language.search.terms import Word
from internal.recall.index.hits import Reasons
from internal.recall.index.items import ItemIndex
from internal.recall.index.scoring import TARGET_SHARE, Mask, Scores, fused, top
from internal.storage.vectors import Vector

_KIND_BESIDE: Final = 0.45
"""What the kind counts for in "what did I decide about the car?": less than NAMED, so that by itself it finds none."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that may be what was asked for."""

    id: str
    score: float
    reasons: Reasons


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Every row of an index against the vector and the words of a question, each array of the shape (rows,).

    Right while `version` is that of the index. `cosines` are None without a vector.
    """

    index: ItemIndex
    version: int
    cosines: Scores | None
    words: Scores


@dataclass(frozen=True, slots=True, eq=False)
class ItemScores:
    """The same with how plainly each row is `named`; `all` is the fused score."""

    matched: Matched
    named: Scores
    all: Scores


def matched(index: ItemIndex, vector: Vector | None, words: Sequence[Word]) -> Matched:
    """Every row against a question whose `vector` is normalised."""
    cosines = index.vectors @ vector if vector is not None else None
    return Matched(index, index.version, cosines, index.lexical(words))


def scored(found: Matched, named: Scores) -> ItemScores:
    """Every row by all that speaks for it; `named` is how plainly the question names each."""
    return ItemScores(found, named, fused(found.cosines, found.index.embedded, found.words, named))


def best(scores: ItemScores, counting: Mask | None, count: int) -> list[Candidate]:
    """The best `count` rows of those that count, best first, equal ones by id."""
    index, words = scores.matched.index, scores.matched.words
    if counting is None:
        rows = top(scores.all, count).tolist()
    else:
        counted = np.flatnonzero(counting)
        rows = counted[top(scores.all[counted], count)].tolist()
    embedded, cosines = index.embedded, scores.matched.cosines

    def reasons(row: int) -> Reasons:
        meaning = float(cosines[row]) if cosines is not None and embedded[row] else None
        return Reasons(meaning, float(words[row]), float(scores.named[row]))

    found = [Candidate(index.ids[row], float(scores.all[row]), reasons(row)) for row in rows]
    return sorted(found, key=lambda one: (-one.score, one.id))


def of_entities(index: ItemIndex, named: Mapping[str, float]) -> Scores:
    """How plainly the question names each entity."""
    found = np.zeros(len(index), dtype=np.float32)
    for row in index.rows_of(named):
        found[row] = named[index.ids[row]]
    return found


def of_memories(index: ItemIndex, about: Mapping[str, float], kinds: KindsAsked) -> Scores:
    """How plainly the question names what each memory mentions, or asks for its kind."""
    found = np.zeros(len(index), dtype=np.float32)
    if kinds.labels:
        found[index.source_in(kinds.labels)] = 1.0 if kinds.alone else _KIND_BESIDE
    for row in index.rows_of(about):
        found[row] = max(found[row], about[index.ids[row]])
    return found


def of_ends(index: ItemIndex, named: Mapping[str, float]) -> Scores:
    """How plainly the question names the ends of each fact: the source counts whole, the target in part."""
    found = np.zeros(len(index), dtype=np.float32)
    for node_id, boost in named.items():
        whole, part = index.source_in([node_id]), index.target_in([node_id])
        found += np.float32(boost) * whole + np.float32(boost * TARGET_SHARE) * part
    return np.minimum(found, np.float32(1 + TARGET_SHARE))
