"""Fits the message ranking to judged questions: a softmax over each question's candidates, gradient descent.

The loss of a question is the cross entropy between the softmax of its candidates' scores and equal shares for those
that answer it (ListNet: Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach", 2007).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from internal.recall.messages.features import NAMES
from internal.recall.messages.message_rows import Floats, Mask
from internal.recall.messages.ranking import Ranking, shipped_rankings

_DENSE: Final = frozenset(name for name in NAMES if name.startswith("dense"))
LEXICAL: Final = tuple(name for name in NAMES if name not in _DENSE)
"""The features that need no vectors."""

OF_BOT: Final = ("assistant", "answer", "wish", "opening", "order*number")
"""Features of conversations with a bot: its words come after the owner's, but what it answered tells what the message
before is about; and one standing wish may be meant by any question. They are learned after all others, from such
conversations only: with those of people they would be learned from a few questions among thousands."""

_EITHER_SIGN: Final = frozenset({"sender*ctx", "assistant", "question", "time", "number", "names"})
"""Features whose weight may be negative. All others are kept positive: a negative weight of "the very day that is
named", learned from a few questions, cost five points of recall@10 in other conversations."""

_RIVALS: Final = 60
"""Candidates of a question that are learned from besides its answers: further ones change no weight and cost time."""

_RIVAL_WEIGHTS: Final = {"ctx": 1.0, "win": 0.4, "ses": 0.3, "sender": 0.15, "dense": 0.1}
_L2_PENALTY: Final = 0.5
"""Learned from 15 conversations of our own, others lose a point of recall@10 each way at 0.1 and at 2."""

_SENDER: Final = "sender"
"""Learned again by itself, among the best by all weights: there many messages of the other person stand above the
answers to a question that names one. Recall@10 of questions with evidence in several turns rises by 0.02 on LoCoMo,
0.01 on our own; where a question names the wrong person it falls by 0.015 and 0.024. By words only LoCoMo loses."""

_L2_PENALTY_OF_SENDER: Final = 0.05

_L2_PENALTY_OF_BOT: Final = 0.05
"""Three weights from some hundred questions; each conversation left out in turn, 0.5 loses two points of recall@10, and
less than this wins nothing."""

_ADAM_STEPS: Final = 600
_LEARNING_RATE: Final = 0.05
_ADAM_DECAY: Final = (0.9, 0.999)
_TINY: Final = 1e-9
_NEWTON_STEPS: Final = 30


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's candidates, shape (candidates, len(NAMES)), and which of them answer it, shape (candidates,)."""

    matrix: Floats
    answers: Mask


def fit(judged: Sequence[Judged], names: Collection[str] = NAMES) -> Ranking:
    """The ranking by these features that puts the answers of these questions first.

    Questions without an answer among their candidates are left out. Raises ValueError if none is left. Deterministic.
    """
    answered = [question for question in judged if question.answers.any()]
    if not answered:
        raise ValueError("no question has an answer among its candidates")
    with_bot = [question for question in answered if _is_with_bot(question)]
    between_people = [question for question in answered if not _is_with_bot(question)] or answered
    weights = _learned(
        between_people, [name for name in NAMES if name in names and name not in OF_BOT], {}, _L2_PENALTY
    )
    if _SENDER in weights and not _DENSE.isdisjoint(weights):
        others = {name: weight for name, weight in weights.items() if name != _SENDER}
        weights = _learned(between_people, [_SENDER], others, _L2_PENALTY_OF_SENDER, weights)
    of_bot = [name for name in OF_BOT if name in names]
    if with_bot:
        weights |= _learned(with_bot, of_bot, weights, _L2_PENALTY_OF_BOT)
    else:
        weights |= {name: shipped_rankings().dense.weights.get(name, 0.0) for name in of_bot}
    return Ranking(weights, *_calibrate(Ranking(weights, 1, 0, 0), judged))


def _is_with_bot(question: Judged) -> bool:
    return bool(question.matrix[:, [NAMES.index("assistant"), NAMES.index("answer")]].any())


def _learned(
    answered: Sequence[Judged],
    names: Sequence[str],
    known: Mapping[str, float],
    penalty: float,
    rivals: Mapping[str, float] = _RIVAL_WEIGHTS,
) -> dict[str, float]:
    """These weights and the `known` ones, which stay as they are; `rivals` are the weights that choose the rivals."""
    if not names:
        return dict(known)
    columns = [NAMES.index(name) for name in names]
    questions = [_with_rivals_only(question, rivals) for question in answered]
    features = np.concatenate([question.matrix[:, columns] for question in questions]).astype(np.float64)
    given = np.concatenate([Ranking(known, 1, 0, 0).scores(question.matrix) for question in questions])
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
    shares = np.concatenate([question.answers / question.answers.sum() for question in questions])
    sizes = np.array([len(question.answers) for question in questions])
    rising = np.array([name not in _EITHER_SIGN for name in names])
    weights = _minimise((features - mean) / spread, given, shares, sizes, rising, penalty) / spread
    weights[features.std(axis=0) < _TINY] = 0
    return dict(known) | {name: float(weight) for name, weight in zip(names, weights, strict=True)}


def _with_rivals_only(question: Judged, weights: Mapping[str, float]) -> Judged:
    """The answers and their strongest rivals by these weights."""
    rivals = np.argsort(-Ranking(weights, 1, 0, 0).scores(question.matrix), kind="stable")[:_RIVALS]
    rows = np.union1d(rivals, np.flatnonzero(question.answers))
    return Judged(question.matrix[rows], question.answers[rows])


def _minimise(
    features: NDArray[np.float64],
    given: Floats,
    shares: NDArray[np.float64],
    sizes: NDArray[np.intp],
    rising: Mask,
    penalty: float,
) -> NDArray[np.float64]:
    """Minimises the loss by Adam (Kingma and Ba, 2015); the weights of `rising` features stay positive.

    `given` are scores that are added to those of the features.
    """
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    question = np.repeat(np.arange(len(sizes)), sizes)
    weights = np.zeros(features.shape[1])
    momentum, squares = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _ADAM_STEPS + 1):
        scores = features @ weights + given
        exponentials = np.exp(scores - np.maximum.reduceat(scores, starts)[question])
        expected = exponentials / np.add.reduceat(exponentials, starts)[question]
        gradient = features.T @ (expected - shares) / len(sizes) + penalty * weights
        momentum = _ADAM_DECAY[0] * momentum + (1 - _ADAM_DECAY[0]) * gradient
        squares = _ADAM_DECAY[1] * squares + (1 - _ADAM_DECAY[1]) * gradient**2
        size = np.sqrt(squares / (1 - _ADAM_DECAY[1] ** step)) + _TINY
        weights -= _LEARNING_RATE * momentum / (1 - _ADAM_DECAY[0] ** step) / size
        weights = np.where(rising, np.maximum(weights, 0), weights)
    return weights


def _calibrate(ranking: Ranking, judged: Sequence[Judged]) -> tuple[float, float, float]:
    """Fits slope, lag and offset of the chance by logistic regression (Platt, 1999) over all candidates.

    By the score alone, candidates far below a better one looked too likely: with the lag the log loss in other
    conversations fell from 0.0156 to 0.0125.
    """
    scores = [ranking.scores(question.matrix).astype(np.float64) for question in judged if len(question.matrix)]
    answers = np.concatenate([question.answers for question in judged if len(question.matrix)]).astype(np.float64)
    scores_and_lags = np.stack(
        (np.concatenate(scores), np.concatenate([question - question.max() for question in scores])), axis=1
    )
    centre, spread = scores_and_lags.mean(axis=0), scores_and_lags.std(axis=0) + _TINY
    inputs = np.concatenate(((scores_and_lags - centre) / spread, np.ones((len(scores_and_lags), 1))), axis=1)
    coefficients = np.array([1.0, 0.0, np.log((answers.sum() + 1) / (len(answers) - answers.sum() + 1))])
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ coefficients, -50, 50)))
        curvature = (inputs * (chance * (1 - chance))[:, np.newaxis]).T @ inputs + 1e-6 * np.eye(3)
        coefficients = coefficients - np.linalg.solve(curvature, inputs.T @ (chance - answers) + 1e-6 * coefficients)
    slope, lag = (coefficients[:2] / spread).tolist()
    return slope, lag, float(coefficients[2] - slope * centre[0] - lag * centre[1])
