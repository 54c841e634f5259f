"""The score of every row in one search of items, and the best rows. Large indexes are computed on a thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from internal.language.search.memory_kinds import RequestedKinds
from internal.language.search.terms import Word
from internal.recall.index.hits import Reasons
from internal.recall.index.items import ItemIndex
from internal.recall.index.scoring import TARGET_SHARE, Mask, Scores, fuse, top
from internal.storage.vectors import Vector

_KIND_SCORE: Final = 0.45
"""The weight of the kind in "what did I decide about the car?": below NAMED, so alone it is not relevant."""


@dataclass(frozen=True, slots=True)
class IndexCandidate:
    """A row that may answer the question."""

    id: str
    score: float
    reasons: Reasons


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Every row of an index compared with the vector and words of a question, each array of shape (rows,).

    Valid while `version` is that of the index. `cosines` is None without a vector.
    """

    index: ItemIndex
    version: int
    cosines: Scores | None
    words: Scores


@dataclass(frozen=True, slots=True, eq=False)
class ScoredItems:
    """A match with how clearly each row is `named`, shape (rows,); `all` is the fused score."""

    match: Match
    named: Scores
    all: Scores


def match(index: ItemIndex, vector: Vector | None, words: Sequence[Word]) -> Match:
    """Compares every row with a question; `vector` is normalised."""
    cosines = index.vectors @ vector if vector is not None else None
    return Match(index, index.version, cosines, index.lexical(words))


def score_items(match: Match, named: Scores) -> ScoredItems:
    """Fuses all channels of every row; `named` is how clearly the question names each row, shape (rows,)."""
    return ScoredItems(match, named, fuse(match.cosines, match.index.embedded, match.words, named))


def best(scores: ScoredItems, mask: Mask | None, count: int) -> list[IndexCandidate]:
    """The best `count` rows among those allowed by the mask, best first, equal ones by id."""
    index, words = scores.match.index, scores.match.words
    if mask is None:
        rows = top(scores.all, count).tolist()
    else:
        allowed = np.flatnonzero(mask)
        rows = allowed[top(scores.all[allowed], count)].tolist()
    embedded, cosines = index.embedded, scores.match.cosines

    def reasons(row: int) -> Reasons:
        meaning = float(cosines[row]) if cosines is not None and embedded[row] else None
        return Reasons(meaning, float(words[row]), float(scores.named[row]))

    candidates = [IndexCandidate(index.ids[row], float(scores.all[row]), reasons(row)) for row in rows]
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.id))


def entity_names(index: ItemIndex, named: Mapping[str, float]) -> Scores:
    """How clearly the question names each entity: shape (rows,)."""
    scores = np.zeros(len(index), dtype=np.float32)
    for row in index.rows_of(named):
        scores[row] = named[index.ids[row]]
    return scores


def memory_names(index: ItemIndex, about: Mapping[str, float], kinds: RequestedKinds) -> Scores:
    """How clearly the question names what each memory mentions, or asks for its kind: shape (rows,)."""
    scores = np.zeros(len(index), dtype=np.float32)
    if kinds.labels:
        scores[index.source_in(kinds.labels)] = 1.0 if kinds.alone else _KIND_SCORE
    for row in index.rows_of(about):
        scores[row] = max(scores[row], about[index.ids[row]])
    return scores


def fact_names(index: ItemIndex, named: Mapping[str, float]) -> Scores:
    """How clearly the question names the ends of each fact, (rows,): the source fully, the target in part."""
    scores = np.zeros(len(index), dtype=np.float32)
    for node_id, boost in named.items():
        at_source, at_target = index.source_in([node_id]), index.target_in([node_id])
        scores += np.float32(boost) * at_source + np.float32(boost * TARGET_SHARE) * at_target
    return np.minimum(scores, np.float32(1 + TARGET_SHARE))
