"""Groups of features that the recall report leaves out one at a time, and reasons why questions failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bot.evaluation.scores import RankedQuestion
from bot.evaluation.training import Sample, ScoredSample
from internal.recall.messages.features import NAMES
from internal.recall.messages.message_rows import Floats

DENSE = ("dense", "dense/max", "dense_ses", "dense_prev", "dense_next")
WORDS = ("p", "p/max", "p_prev", "p_next", "ctx", "ctx/max", "win", "cover", "ses", "sesmax", "sender*ctx")

LEFT_OUT: dict[str, tuple[str, ...]] = {
    "meaning (all vectors)": DENSE,
    "meaning of neighbours and session": ("dense_ses", "dense_prev", "dense_next"),
    "words (all of them)": WORDS,
    "words of neighbours": ("p_prev", "p_next", "ctx", "ctx/max", "win", "cover", "sender*ctx", "sesmax"),
    "session": ("ses", "sesmax", "dense_ses"),
    "share of the best candidate": ("p/max", "ctx/max", "dense/max"),
    "sender": ("sender", "sender*ctx"),
    "length and rarity": ("length", "idf"),
    "whether it asks, or answers": ("question", "prev_asks"),
    "time, numbers, names in it": ("time", "number", "names", "when*time", "many*number", "where_who*names"),
    "kind of question": ("when*time", "many*number", "where_who*names"),
    "dates named in the question": ("month", "year", "day"),
}
"""Groups of features by what a reader would call them."""

FOUND_WITHIN = 10
"""Turns among which a question's evidence should stand."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A question none of whose evidence is among the first ten. `place` counts from 1; None: beyond the candidates."""

    sample: Sample
    turn: str
    place: int | None
    reason: str


def without(group: Sequence[str]) -> tuple[str, ...]:
    """All features but these. ValueError for a name that is no feature."""
    unknown = set(group) - set(NAMES)
    if unknown:
        raise ValueError(f"no such features: {', '.join(sorted(unknown))}")
    return tuple(name for name in NAMES if name not in group)


def by_one(samples: Sequence[Sample], name: str) -> list[RankedQuestion]:
    """The candidates in the order of a single feature."""
    column = NAMES.index(name)
    return [one.ranked(one.matrix[:, column]) for one in samples]


@dataclass(frozen=True, slots=True)
class _Seen:
    """One feature at the best evidence, and among all candidates, by name."""

    matrix: Floats
    row: int

    def __call__(self, name: str) -> float:
        return float(self.matrix[self.row, NAMES.index(name)])

    def ahead(self, name: str) -> int:
        """How many candidates have more of it."""
        return int(np.count_nonzero(self.matrix[:, NAMES.index(name)] > self(name)))


REASONS: tuple[tuple[str, Callable[[_Seen], bool]], ...] = (
    ("the question names one speaker, the other one said it", lambda seen: seen("sender") == 0),
    ("no word of the question in the turn or beside it", lambda seen: seen("cover") == 0),
    ("the question's words stand only beside the turn", lambda seen: seen("p") == 0),
    ("many turns hold the same words, and more of them", lambda seen: seen.ahead("p") >= FOUND_WITHIN),
    ("others are nearer in meaning and context", lambda _: True),
)
"""Why the best evidence stands where it stands, the first that is true."""

NO_CANDIDATE = "not among the candidates at all"


def failures(tried: Sequence[ScoredSample]) -> list[Failure]:
    """The questions with nothing among the first ten, each with the reason of its best evidence."""
    found = []
    for one in tried:
        sample, scored, evidence = one.sample, one.scores, one.sample.question.evidence
        if not evidence or set(one.ranked.ranking[:FOUND_WITHIN]) & set(evidence):
            continue
        answers = np.flatnonzero(sample.answers)
        if not len(answers):
            found.append(Failure(sample, evidence[0], None, NO_CANDIDATE))
            continue
        row = int(answers[np.argmax(scored[answers])])
        place = int(np.count_nonzero(scored > scored[row])) + 1
        seen = _Seen(sample.matrix, row)
        reason = next(reason for reason, holds in REASONS if holds(seen))
        found.append(Failure(sample, sample.turns[row], place, reason))
    return found


def spread(all_failures: Sequence[Failure], count: int) -> list[Failure]:
    """So many failures of as many languages and reasons as there are, in turn, always the same ones."""
    groups: dict[tuple[str, str], list[Failure]] = {}
    for one in all_failures:
        groups.setdefault((one.reason, one.sample.conversation.file[:2]), []).append(one)
    chosen: list[Failure] = []
    depth = 0
    while len(chosen) < min(count, len(all_failures)):
        level = [groups[key][depth] for key in sorted(groups) if depth < len(groups[key])]
        chosen += level[: count - len(chosen)]
        depth += 1
    return chosen
