"""Fits ranking weights to conversations with known answers, and cross-validates them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from bot.evaluation.locomo import Conversation, Question
from bot.evaluation.scores import DEPTH, RankedQuestion
from internal.errors import Refused
from internal.recall.messages import training
from internal.recall.messages.features import NAMES
from internal.recall.messages.message_rows import Floats, Mask
from internal.recall.messages.ranking import Ranking, Rankings
from internal.recall.messages.training import LEXICAL, Judged


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with its candidates: their turns, and their features, shape (candidates, len(NAMES)).

    `owner` owns the conversation: samples of one owner are never both trained on and tested.
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

    def ranked(self, scores: Floats) -> RankedQuestion:
        """The question with its candidates in the order of these scores, shape (candidates,), best first."""
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        return RankedQuestion(
            self.conversation, self.question, tuple(dict.fromkeys(self.turns[candidate] for candidate in best))
        )


@dataclass(frozen=True, slots=True)
class ScoredSample:
    """A sample with the scores that a ranking gave its candidates, shape (candidates,)."""

    sample: Sample
    scores: Floats

    @property
    def ranked(self) -> RankedQuestion:
        return self.sample.ranked(self.scores)


def fit(samples: Sequence[Sample], names: Collection[str] = NAMES) -> Ranking:
    """Fits a ranking to these samples by these features. Raises Refused "evidence" if none of them can be answered."""
    try:
        return training.fit(
            [Judged(sample.matrix, sample.answers) for sample in samples if sample.question.evidence], names
        )
    except ValueError:
        raise Refused("evidence", "there is nothing to learn from: no question has evidence that is found") from None


def fit_both(samples: Sequence[Sample]) -> Rankings:
    """Fits rankings with and without vectors. Raises what `fit` raises."""
    return Rankings(lexical=fit(samples, LEXICAL), dense=fit(samples))


def score_samples(samples: Sequence[Sample], ranking: Ranking) -> list[ScoredSample]:
    """The samples with the scores of a ranking."""
    return [ScoredSample(sample, ranking.scores(sample.matrix)) for sample in samples]


def cross_validate(
    samples: Sequence[Sample], names: Collection[str] = NAMES, *, parts: int | None = None
) -> list[ScoredSample]:
    """Cross-validation: scores each sample by a ranking fitted to other conversations, in order.

    The conversations are left out one at a time, or in `parts` parts. Raises Refused "evidence" like `fit`, and Refused
    "few" for a single conversation.
    """
    owners = list(dict.fromkeys(sample.owner for sample in samples))
    if len(owners) < 2:
        raise Refused("few", "one conversation is not enough: nothing is left to learn from when it is left out")
    part_of = {owner: n % (parts or len(owners)) for n, owner in enumerate(owners)}
    rankings = {
        part: fit([sample for sample in samples if part_of[sample.owner] != part], names)
        for part in set(part_of.values())
    }
    return [ScoredSample(sample, rankings[part_of[sample.owner]].scores(sample.matrix)) for sample in samples]
