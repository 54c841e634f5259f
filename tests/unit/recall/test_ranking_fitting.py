"""Weights are learned from judged questions, and stored rankings are those that are read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from internal.recall.messages.features import NAMES
from internal.recall.messages.ranking import Ranking, Rankings, shipped_rankings, write_rankings
from internal.recall.messages.training import LEXICAL, OF_BOT, Judged, fit


def judged(count: int = 30) -> list[Judged]:
    """Questions whose answer has the largest "ctx"; "question" speaks against it, everything else is noise."""
    random = np.random.default_rng(6)
    found = []
    for _ in range(count):
        matrix = random.random((20, len(NAMES))).astype(np.float32)
        merit = 4 * matrix[:, NAMES.index("ctx")] - 2 * matrix[:, NAMES.index("question")]
        found.append(Judged(matrix, merit == merit.max()))
    return found


def test_what_tells_answers_gets_the_weight() -> None:
    """The features that decide stand out with their signs, and most answers come first."""
    learned = [name for name in NAMES if name not in OF_BOT]
    ranking = fit(judged(), learned)
    strongest = sorted(learned, key=lambda name: -abs(ranking.weights[name]))[:2]
    assert set(strongest) == {"ctx", "question"}
    assert ranking.weights["ctx"] > 0 > ranking.weights["question"]
    first = [one.answers[ranking.scores(one.matrix).argmax()] for one in judged(60)[30:]]
    assert sum(first) > 12, "of 30; one or two would be luck"


def test_chances_grow_with_scores_and_tell_how_often_answers_come() -> None:
    """Over all candidates the chances add up to the answers there are."""
    questions = judged()
    ranking = fit(questions)
    chances = [ranking.chances(ranking.scores(one.matrix)) for one in questions]
    assert sum(map(float, map(np.sum, chances))) == pytest.approx(len(questions), rel=0.01)
    assert ranking.slope + ranking.lag > 0


def test_what_stands_behind_a_better_one_is_less_likely() -> None:
    """The same score has a lower chance beside a higher one; no candidates have no chances."""
    ranking = Ranking({}, slope=1, lag=0.5, offset=0)
    alone, beside = ranking.chances(np.float32([1]))[0], ranking.chances(np.float32([1, 3]))[0]
    assert beside < alone
    assert ranking.chances(np.float32([])).shape == (0,)


def test_only_the_wanted_features_are_learned() -> None:
    """Without vectors none of theirs has a weight; what never varies has none either."""
    questions = judged(5)
    for one in questions:
        one.matrix[:, NAMES.index("year")] = 0
    ranking = fit(questions, LEXICAL)
    assert set(ranking.weights) == set(LEXICAL)
    assert ranking.weights["year"] == 0


def test_the_sender_is_learned_again_among_the_best() -> None:
    """If answers are their sender's and others hold as many words, he weighs more than beside all other features."""
    questions = judged(60)
    for one in questions:
        sender = np.arange(20) % 2 == int(one.answers.argmax()) % 2
        one.matrix[:, [place for place, name in enumerate(NAMES) if name.startswith("dense") or "sender*" in name]] = 0
        one.matrix[:, NAMES.index("sender")] = sender
    learned = [name for name in NAMES if name not in OF_BOT]
    once, again = (fit(questions, names).weights for names in (LEXICAL, learned))
    assert again["sender"] > 1.5 * once["sender"] > 0
    assert again["ctx"] == pytest.approx(once["ctx"], abs=1e-5)


def with_bot(count: int = 30) -> list[Judged]:
    """Questions whose words the bot repeats at length, but the owner's message before such an answer is meant."""
    random = np.random.default_rng(7)
    found = []
    for _ in range(count):
        matrix = np.zeros((20, len(NAMES)), dtype=np.float32)
        matrix[:, NAMES.index("assistant")] = np.arange(20) % 2
        matrix[:, NAMES.index("ctx")] = random.random(20) + matrix[:, NAMES.index("assistant")]
        matrix[::2, NAMES.index("answer")] = matrix[1::2, NAMES.index("ctx")] / 2
        found.append(Judged(matrix, np.arange(20) == 2 * int(matrix[::2, NAMES.index("answer")].argmax())))
    return found


def test_weights_of_a_bots_words_are_learned_from_talks_with_a_bot() -> None:
    """The bot's words come later, what it answered counts, and nothing else is learned from such talks."""
    people = [Judged(one.matrix.copy(), one.answers) for one in judged()]
    for one in people:
        one.matrix[:, [NAMES.index(name) for name in OF_BOT]] = 0
    ranking, of_people = fit([*people, *with_bot()]), fit(people)
    assert ranking.weights["assistant"] < 0 < ranking.weights["answer"]
    of_words = Ranking(dict(ranking.weights) | dict.fromkeys(OF_BOT, 0.0), 1, 0, 0)
    first, first_by_words = (
        sum(one.answers[by.scores(one.matrix).argmax()] for one in with_bot(60)[30:]) for by in (ranking, of_words)
    )
    assert first > first_by_words
    assert {name: ranking.weights[name] for name in NAMES if name not in OF_BOT} == {
        name: of_people.weights[name] for name in NAMES if name not in OF_BOT
    }


def test_without_a_talk_with_a_bot_its_weights_stay_as_shipped() -> None:
    """Talks of people say nothing of a bot's words."""
    people = judged()
    for one in people:
        one.matrix[:, [NAMES.index(name) for name in OF_BOT]] = 0
    shipped = shipped_rankings().dense.weights
    assert {name: fit(people).weights[name] for name in OF_BOT} == {name: shipped[name] for name in OF_BOT}


def test_nothing_to_learn_from_is_refused() -> None:
    """Without any answer there is no ranking."""
    with pytest.raises(ValueError, match="no question"):
        fit([Judged(np.zeros((3, len(NAMES)), dtype=np.float32), np.zeros(3, dtype=np.bool_))])


def test_rankings_are_read_as_they_were_stored(tmp_path: Path) -> None:
    """Weights keep five digits; features that are not computed are refused."""
    ranking = Ranking({"ctx": 1.25, "p/max": -0.5}, 2, 1, -3)
    written = tmp_path / "ranking.json"
    write_rankings(written, Rankings(ranking, ranking))
    assert Rankings.of(json.loads(written.read_text())) == Rankings(ranking, ranking)
    write_rankings(written, Rankings(ranking, Ranking({"luck": 1}, 1, 0, 0)))
    with pytest.raises(ValueError, match="luck"):
        Rankings.of(json.loads(written.read_text()))


def test_the_shipped_rankings_can_be_used() -> None:
    """They know only features that are computed, and without vectors none of theirs."""
    rankings = shipped_rankings()
    assert rankings.lexical.slope + rankings.lexical.lag > 0
    assert set(rankings.lexical.weights) <= set(LEXICAL)
