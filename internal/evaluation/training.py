"""Weights of the ranking from conversations whose answers are known, and how they do on conversations left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from internal.errors import Refused
from internal.evaluation.locomo import Conversation, Question
from internal.evaluation.scores import DEPTH, Ranked
from internal.recall.messages import fitting
from internal.recall.messages.features import NAMES
from internal.recall.messages.fitting import LEXICAL, Judged
from internal.recall.messages.ranking import Ranking, Rankings
from internal.recall.messages.rows import Floats, Mask


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with its candidates: their turns, and their features, shape (candidates, len(NAMES)).

    `owner` is whose conversation it is: what is tried on one owner's samples was never learned from them.
    """

    owner: int
    conversation: Conversation
    question: Question
    turns: tuple[str, ...]
    matrix: Floats

    @property
    def answers(self) -> Mask:
        """Which candidates are evidence, shape (candidates,)."""
        evidence = set(self.question.evidence)
        return np.array([turn in evidence for turn in self.turns], dtype=np.bool_)

    def ranked(self, scores: Floats) -> Ranked:
        """The question with its candidates by these scores, shape (candidates,), the best first."""
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        return Ranked(self.conversation, self.question, tuple(dict.fromkeys(self.turns[place] for place in best)))


@dataclass(frozen=True, slots=True)
class Tried:
    """A sample with the scores that a ranking gave its candidates, shape (candidates,)."""

    sample: Sample
    scores: Floats

    @property
    def ranked(self) -> Ranked:
        return self.sample.ranked(self.scores)


def fit(samples: Sequence[Sample], names: Collection[str] = NAMES) -> Ranking:
    """The ranking learned from these by these features. Refused "evidence" if none of them can be answered."""
    try:
        return fitting.fit([Judged(one.matrix, one.answers) for one in samples if one.question.evidence], names)
    except ValueError:
        raise Refused("evidence", "there is nothing to learn from: no question has evidence that is found") from None


def fit_both(samples: Sequence[Sample]) -> Rankings:
    """Rankings with and without vectors. Raises as `fit`."""
    return Rankings(lexical=fit(samples, LEXICAL), dense=fit(samples))


def tried(samples: Sequence[Sample], ranking: Ranking) -> list[Tried]:
    """What a ranking makes of these."""
    return [Tried(one, ranking.scores(one.matrix)) for one in samples]


def left_out(samples: Sequence[Sample], names: Collection[str] = NAMES, *, parts: int | None = None) -> list[Tried]:
    """Each sample under a ranking that was learned from other conversations, in the order of the samples.

    The conversations are left out one at a time, or in so many parts. Refused "evidence" as `fit`; Refused "few" for
    a single conversation.
    """
    owners = list(dict.fromkeys(one.owner for one in samples))
    if len(owners) < 2:
        raise Refused("few", "one conversation is not enough: nothing is left to learn from when it is left out")
    part_of = {owner: n % (parts or len(owners)) for n, owner in enumerate(owners)}
    rankings = {
        part: fit([one for one in samples if part_of[one.owner] != part], names) for part in set(part_of.values())
    }
    return [Tried(one, rankings[part_of[one.owner]].scores(one.matrix)) for one in samples]
