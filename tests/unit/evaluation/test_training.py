"""Learning from samples: what tells the answers is found, and nobody is tried on what was learned from him."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from bot.evaluation.locomo import Conversation, Question, Turn
from bot.evaluation.scores import mean_metrics
from bot.evaluation.training import Sample, cross_validate, fit, fit_both, score_samples
from internal.errors import Refused
from internal.recall.messages.features import NAMES

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TURNS = tuple(f"D1:{n}" for n in range(1, 13))


def samples(owner: int, telling: str, count: int = 6) -> list[Sample]:
    """Questions of one conversation whose answers have more of the feature `telling`; all others are noise."""
    turns = tuple(Turn(turn, 1, "Ann", "x", "", NOON) for turn in TURNS)
    conversation, made = Conversation(f"{owner}.json", turns, ()), []
    chance = np.random.default_rng(owner)
    for n in range(count):
        matrix = np.zeros((len(TURNS), len(NAMES)), dtype=np.float32)
        matrix[:, :10] = chance.random((len(TURNS), 10))
        matrix[n, NAMES.index(telling)] = 3
        made.append(Sample(owner, conversation, Question(f"{n}?", 4, (TURNS[n],)), TURNS, matrix))
    return made


def test_what_tells_the_answers_is_learned() -> None:
    """On conversations that were left out the one telling feature puts every answer first."""
    everything = [one for owner in (1, 2, 3) for one in samples(owner, "ctx")]
    found = cross_validate(everything)
    assert [one.sample for one in found] == everything
    assert mean_metrics(one.ranked for one in found)["ndcg@10"] > 0.9


def test_nobody_is_tried_on_what_was_learned_from_him() -> None:
    """A conversation whose answers are told by something else than all others' is not answered when it is left out."""
    everything = [*samples(1, "ctx"), *samples(2, "ctx"), *samples(3, "day", 12)]
    by_owner = {owner: [t.ranked for t in cross_validate(everything) if t.sample.owner == owner] for owner in (1, 3)}
    learned = mean_metrics(t.ranked for t in score_samples(everything[12:], fit(everything[12:])))
    assert mean_metrics(by_owner[3])["recall@5"] < 0.8 < learned["recall@5"]


def test_features_that_are_left_out_count_nothing() -> None:
    """Neither do those of vectors where there are none."""
    everything = samples(1, "ctx") + samples(2, "dense")
    assert fit(everything, ("p", "ctx")).weights.keys() == {"p", "ctx"}
    both = fit_both(everything)
    assert set(both.dense.weights) - set(both.lexical.weights) >= {"dense", "dense/max"}


def test_too_little_to_learn_from_is_told() -> None:
    """A single conversation cannot be left out, and questions without evidence teach nothing."""
    alone = samples(1, "ctx", 2)
    with pytest.raises(Refused, match="one conversation is not enough"):
        cross_validate(alone)
    unanswered = [Sample(1, one.conversation, Question("?", 5), one.turns, one.matrix) for one in alone]
    with pytest.raises(Refused, match="nothing to learn from"):
        fit(unanswered)
