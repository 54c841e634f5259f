"""Recall by turn and session and NDCG, on rankings that can be counted by hand."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.evaluation import scores
from bot.evaluation.locomo import Conversation, Question, Turn
from bot.evaluation.scores import RankedQuestion, RankingsUnreadable

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def conversation(*questions: Question, file: str = "one.json") -> Conversation:
    """Ten sessions of ten turns each."""
    turns = (Turn(f"D{s}:{n}", s, "Ann", "x", "", NOON) for s in range(1, 11) for n in range(1, 11))
    return Conversation(file, tuple(turns), questions)


def test_recall_is_the_share_of_the_evidence() -> None:
    """Half of what answers among the first ten is .5, whatever stands around it."""
    question = Question("?", 1, ("D1:1", "D2:2"))
    ranking = [*(f"D3:{n}" for n in range(1, 10)), "D1:1", *(f"D4:{n}" for n in range(1, 11)), "D2:2"]
    found = scores.metrics_of(RankedQuestion(conversation(question), question, ranking))
    assert (found["recall@5"], found["recall@10"], found["recall@20"], found["recall@50"]) == (0.0, 0.5, 0.5, 1.0)
    assert found["ndcg@10"] == pytest.approx((1 / math.log2(11)) / (1 + 1 / math.log2(3)))
    assert found["session_recall@5"] == 1.0


def test_sessions_stand_in_the_order_of_their_best_turn() -> None:
    """The sixth session that appears is not among the first five; evidence in one session counts once."""
    question = Question("?", 4, ("D6:1", "D6:2", "D1:5"))
    ranking = ["D1:1", "D1:2", "D2:1", "D3:1", "D4:1", "D5:1", "D6:1", "D6:2"]
    assert scores.metrics_of(RankedQuestion(conversation(question), question, ranking))["session_recall@5"] == 0.5


def test_evidence_that_does_not_exist_is_never_found() -> None:
    """A turn that the file lacks lowers the recall; without a session it is left out of the sessions."""
    question = Question("?", 4, ("D1:1", "D99:1"))
    found = scores.metrics_of(RankedQuestion(conversation(question), question, ["D1:1"]))
    assert (found["recall@5"], found["session_recall@5"]) == (0.5, 1.0)


def test_a_report_tells_overall_by_category_file_and_tag() -> None:
    """Questions without evidence count nowhere."""
    asked = Question("a", 1, ("D1:1",), ("plain",)), Question("b", 2, ("D1:2",)), Question("c", 5)
    one = conversation(*asked)
    told = scores.report(
        [
            RankedQuestion(one, asked[0], ["D1:1"]),
            RankedQuestion(one, asked[1], []),
            RankedQuestion(one, asked[2], ["D1:1"]),
        ]
    )
    assert told["overall"] == {
        "questions": 2,
        "recall@5": 0.5,
        "recall@10": 0.5,
        "recall@20": 0.5,
        "recall@50": 0.5,
        "ndcg@10": 0.5,
        "session_recall@5": 0.5,
    }
    assert {name: of["recall@10"] for name, of in told["by_category"].items()} == {"1": 1.0, "2": 0.0}
    assert told["by_file"] == {"one.json": told["overall"]}
    assert told["by_tag"]["plain"]["questions"] == 1


def test_rankings_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    """A question asked twice takes its lines in order; lines of other files are passed over; a missing one is told."""
    asked = Question("a", 1, ("D1:1",)), Question("a", 4, ("D1:2",)), Question("b", None)
    one = conversation(*asked)
    lines = [RankedQuestion(one, asked[0], ["D1:1"]).line, RankedQuestion(one, asked[1], ["D1:2", "D1:1"]).line]
    other = RankedQuestion(conversation(file="other.json"), asked[2], ["D1:3"]).line
    path = tmp_path / "rankings.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [other, *lines]) + "\n\n", encoding="utf-8")
    assert set(lines[0]) == {"file", "question", "category", "ranking", "chances"}
    ranked, missing = scores.read_rankings(path, [one])
    assert [tuple(one.ranking) for one in ranked] == [("D1:1",), ("D1:2", "D1:1"), ()]
    assert missing == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "line 1 is not JSON"),
        ("\n[1]", "line 2 has no file, question or ranking"),
        ('{"file": "one.json", "question": "a", "ranking": [1]}', "line 1: ranking should hold ids"),
        ('{"file": "two.json", "question": "a", "ranking": []}', "ranks no question of one.json"),
    ],
)
def test_rankings_of_another_form_are_told_with_their_line(tmp_path: Path, content: str, said: str) -> None:
    """Scores of nothing would look like a search that finds nothing."""
    path = tmp_path / "rankings.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RankingsUnreadable, match=said):
        scores.read_rankings(path, [conversation(Question("a", 1, ("D1:1",)))])
