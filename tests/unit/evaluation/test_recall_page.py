"""The report on recall: what it leaves out, why a question failed, and the page and plot that tell it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from benchmarks.search import recall_quality
from benchmarks.shared import plots, recall_ablation, recall_page
from bot.evaluation.locomo import Conversation, Question, Turn
from bot.evaluation.training import Sample, ScoredSample
from internal.recall.messages.features import NAMES

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TURNS = tuple(f"D1:{n}" for n in range(1, 13))


def tried(file: str, evidence: str, **features: float) -> ScoredSample:
    """A question of twelve candidates whose evidence has these features and the lowest score; all others are alike."""
    turns = tuple(Turn(turn, 1, "Ann", f"said in {turn}", "", NOON) for turn in TURNS)
    matrix = np.ones((len(TURNS), len(NAMES)), dtype=np.float32)
    for name, value in features.items():
        matrix[TURNS.index(evidence) if evidence in TURNS else 0, NAMES.index(name)] = value
    sample = Sample(1, Conversation(file, turns, ()), Question("Who?", 4, (evidence,), ("plain",)), TURNS, matrix)
    return ScoredSample(sample, np.arange(len(TURNS), 0, -1).astype(np.float32))


def test_every_group_is_of_features_that_exist() -> None:
    """A feature that was renamed would silently be left out of nothing."""
    for group in recall_ablation.LEFT_OUT.values():
        assert set(recall_ablation.without(group)) == set(NAMES) - set(group)
    with pytest.raises(ValueError, match="no such features: wit"):
        recall_ablation.without(("wit",))


@pytest.mark.parametrize(
    ("features", "reason"),
    [
        ({"sender": 0.0}, "the question names one speaker, the other one said it"),
        ({"cover": 0.0, "p": 0.0}, "no word of the question in the turn or beside it"),
        ({"p": 0.0}, "the question's words stand only beside the turn"),
        ({"p": 0.5}, "many turns hold the same words, and more of them"),
        ({}, "others are nearer in meaning and context"),
    ],
)
def test_a_failure_has_the_first_reason_that_holds(features: dict[str, float], reason: str) -> None:
    """It is read off the features of the evidence that stands best."""
    [failure] = recall_ablation.failures([tried("en-01.json", "D1:12", **features)])
    assert (failure.place, failure.turn, failure.reason) == (12, "D1:12", reason)


def test_only_questions_with_nothing_among_the_first_ten_failed() -> None:
    """The tenth place is no failure; a turn that is no candidate has no place."""
    found = recall_ablation.failures([tried("a", "D1:10"), tried("b", "D1:11"), tried("c", "D7:1")])
    assert [(one.sample.conversation.file, one.place) for one in found] == [("b", 11), ("c", None)]


def test_the_page_quotes_our_own_failures_only() -> None:
    """With development conversations and without, and the same ones every time."""

    def measured(file: str) -> Any:
        one = tried(file, "D1:12", p=0.0)
        ranked = [one.ranked]
        dropped = {"without words": ranked, "only words": ranked}
        return recall_page.Measured(
            ranked, {"BM25 of the turn": ranked}, (), ranked, dropped, recall_ablation.failures([one])
        )

    own, there = measured("ru-01.json"), measured("26.json")
    quoted = recall_ablation.spread(own.failures, 12)
    with_bot = replace(measured("1.json"), learned_there=own.shipped)
    told, asked = own.shipped[0], replace(own.shipped[0].question, evidence=())
    held = replace(own, shipped=[replace(told, chances=(0.7,)), replace(told, question=asked, chances=(0.2,))])
    whole = recall_page.page(there, with_bot, own, held, quoted, [{"messages": 100_000, "p50 ms": 12.5}])
    assert "“Who?” (ru-01, place 12): the question's words stand only beside the turn" in whole
    assert "(26, " not in whole
    assert "(1, " not in whole
    assert "Conversations with a bot" in whole
    assert "| single-hop | 1 | 0.000 |" in whole
    assert "| 100,000 | 12.5 |" in whole
    assert "| Russian | 1 | 0.000 |" in whole
    assert "| English |" not in whole
    assert "| Russian, between people | 1 | 0.000 |" in whole
    assert "| with an answer | 1 | 1.000 |" in whole
    assert "| without an answer | 1 | 0.000 |" in whole
    assert "| only words | 0.000 (+0.000) |" in whole
    alone = recall_page.page(None, None, own, held, quoted, [])
    assert "## Development" not in alone
    assert "## Speed" not in alone


def test_a_plot_is_one_line_a_way() -> None:
    """Each ends with its name, and no two names stand on each other."""
    lines = {"words & more": [(1, 0.5), (10, 0.8)], "meaning": [(1, 0.4), (10, 0.8)]}
    drawn = ET.fromstring(plots.svg([plots.Panel("Ours", "turns", "recall", lines, (0, 1))]))
    texts = {text.text: float(text.get("y", 0)) for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Ours: recall", "turns", "words & more", "meaning", "0.4"} <= set(texts)
    assert abs(texts["words & more"] - texts["meaning"]) > 10


def test_the_instructions_of_a_prompt_are_those_that_hold_at_the_end() -> None:
    """Only the owner's count; a later one of the same manner takes the place of an earlier one."""
    said = [
        ("user", "Always answer in English."),
        ("assistant", "Always check the weather before you leave."),
        ("user", "We went to the lake."),
        ("user", "Always answer in German."),
        ("user", "Never use emojis."),
    ]
    turns = tuple(Turn(f"D1:{n}", 1, role, text, "", NOON, role) for n, (role, text) in enumerate(said, 1))  # type: ignore[arg-type]
    assert recall_quality.instructions_of(Conversation("a", turns, ())) == ["D1:4", "D1:5"]
