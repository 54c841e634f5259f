"""`laplaced eval` as its user meets it: one JSON object, and one line for a file that is none."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.cli.main import main

CONVERSATION = {
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [{"speaker": "Ann", "dia_id": f"D1:{n}", "text": f"line {n}"} for n in range(1, 4)],
    "qa": [
        {"question": "first?", "evidence": ["D1:1"], "category": 4},
        {"question": "second?", "evidence": ["D1:2; D1:3"], "category": 1},
        {"question": "nothing?", "evidence": [], "category": 5},
    ],
}
RANKINGS = [
    {"file": "one.json", "question": "first?", "category": 4, "ranking": ["D1:1", "D1:2"]},
    {"file": "one.json", "question": "second?", "category": 1, "ranking": ["D1:2", "D1:1"]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.json").write_text(json.dumps(CONVERSATION), encoding="utf-8")
    (tmp_path / "rankings.jsonl").write_text("\n".join(map(json.dumps, RANKINGS)), encoding="utf-8")
    return tmp_path


def called(folder: Path, *words: str) -> Result:
    with contextlib.chdir(folder):
        result = CliRunner().invoke(main, ["eval", *words], prog_name="laplaced")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_scores_are_one_json_object(folder: Path) -> None:
    """Overall, by category and by file; the question without evidence counts as unranked only."""
    told = called(folder, "score", "rankings.jsonl", "one.json")
    assert told.exit_code == 0
    scores = json.loads(told.stdout)
    assert set(scores) == {"unranked", "overall", "by_category", "by_file"}
    assert scores["unranked"] == 1
    assert (scores["overall"]["questions"], scores["overall"]["recall@10"]) == (2, 0.75)
    assert {name: of["recall@10"] for name, of in scores["by_category"].items()} == {"1": 0.5, "4": 1.0}
    assert scores["by_file"]["one.json"] == scores["overall"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["score", "rankings.jsonl", "absent.json"], 1, "laplaced: cannot read absent.json: No such file or directory"),
        (["score", "one.json", "one.json"], 1, "laplaced: one.json, line 1 has no file, question or ranking"),
        (["locomo", "rankings.jsonl", "--out", "x"], 1, "laplaced: rankings.jsonl is not JSON (line 2)"),
        (["locomo", "one.json", "--out", "no/x"], 1, "laplaced: cannot write no/x: No such file or directory"),
        (["locomo", "one.json", "--out", "/dev/null"], 1, "laplaced: /dev/null is no file that could be written"),
        (["locomo", "one.json", "--out", "x", "--embedder", "mine"], 2, "Error: there is no embedder mine; there are"),
        (["locomo", "one.json", "--out", "./one.json"], 1, "laplaced: one.json is one of the conversations; choose"),
        (["train", "one.json", "--out", "one.json"], 1, "laplaced: one.json is one of the conversations; choose"),
        (["train", "absent.json", "--out", "x"], 1, "laplaced: cannot read absent.json: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_is_begun(
    folder: Path, words: list[str], code: int, said: str
) -> None:
    """In a line that names it; no file is left behind."""
    told = called(folder, *words)
    assert (told.exit_code, told.stdout) == (code, "")
    assert said in told.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["one.json", "rankings.jsonl"]
