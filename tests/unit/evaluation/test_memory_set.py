"""Our own conversations are readable, and their scorer, which needs nothing of ours, gives our figures."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation import locomo
from bot.evaluation.scores import RankedQuestion, mean_metrics

FOLDER = Path(__file__).parents[3] / "benchmarks" / "memory_set"


@pytest.fixture(scope="module")
def scorer() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "score.py"))


def test_every_question_names_turns_that_exist() -> None:
    """Only questions of abstention have no evidence."""
    for conversation in locomo.read(sorted((FOLDER / "conversations").glob("*.json"))):
        ids = {turn.dia_id for turn in conversation.turns}
        assert len(ids) == len(conversation.turns)
        for question in conversation.questions:
            assert set(question.evidence) <= ids, question.text
            assert bool(question.evidence) == (question.category != "abstention"), question.text


def test_the_part_held_back_is_there(scorer: dict[str, Any]) -> None:
    """It holds every language, with a bot and without, and nothing of the other part."""
    held, learning = (set(scorer["read"](part)) for part in ("held-back", "learning"))
    assert held == scorer["HELD_BACK"]
    assert {name[:2] + str("-bot-" in name) for name in held} == {
        language + str(bot) for language in ("en", "ru", "uk") for bot in (True, False)
    }
    assert not held & learning
    assert held | learning == set(scorer["read"]("all"))


def test_the_scorer_agrees_with_ours(scorer: dict[str, Any]) -> None:
    """The baseline of one conversation has the same recall and NDCG by both."""
    name = "uk-bot-02.json"
    [conversation] = locomo.read([FOLDER / "conversations" / name])
    lines = list(scorer["bm25"]({name: scorer["read"]("held-back")[name]}))
    rankings = {(line["file"], line["question"]): line for line in lines}
    rows = list(scorer["table"]({name: scorer["read"]("all")[name]}, rankings))
    ours = mean_metrics(
        RankedQuestion(conversation, question, rankings[name, question.text]["ranking"])
        for question in conversation.questions
    )
    assert [float(cell) for cell in rows[1][1:]] == pytest.approx(list(ours.values()), abs=0.0006)


def test_false_recalls_are_counted(scorer: dict[str, Any]) -> None:
    """A turn that is called an answer to what nobody told is a false recall."""
    name = "uk-bot-02.json"
    conversation = scorer["read"]("all")[name]
    rankings = {
        (name, question["question"]): {"ranking": ["D1:1"], "chances": [0.9 if question["evidence"] else 0.2]}
        for question in conversation["qa"]
    }
    *_, unanswerable, answerable = scorer["table"]({name: conversation}, rankings)
    assert unanswerable[2] == "0.000"
    assert answerable[2] == "1.000"


def test_the_scorer_needs_nothing_of_ours(tmp_path: Path) -> None:
    """Alone, with no packages in sight, it says what it takes."""
    (tmp_path / "score.py").write_text((FOLDER / "score.py").read_text(encoding="utf-8"), encoding="utf-8")
    alone = [sys.executable, "-I", "-S", "score.py", "--help"]
    shown = subprocess.run(alone, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "held-back" in shown.stdout
