"""The page is made of what was recorded, and of nothing else."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from support.faults.fault_record import RECORD_VARIABLE, append, proving, record, records
from support.faults.reliability import CANARIES, FAULTS, KILLS, page
from support.faults.torture import Batch, Series, begin_or_go_on, left
from support.faults.verdict import Verdict

PASSED = Batch(7, 1, 50, 5, 2, False, 90.0, "abc1234", Verdict(messages=100, replies=80, operations=40))


def cells(text: str, beginning: str) -> list[list[str]]:
    """The rows of tables whose first cell begins so."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if row[0].startswith(beginning)]


def test_a_series_is_one_row_and_all_of_them_another(tmp_path: Path) -> None:
    """Batches of one seed on one commit are added up; another commit is another series."""
    for batch in (PASSED, replace(PASSED, number=2, webhook=True), replace(PASSED, number=3, commit="def5678")):
        append(KILLS, asdict(batch), tmp_path)
    text = page(tmp_path)
    first, second = cells(text, "20")
    assert first[1:9] == ["abc1234", "7", "2", "100", "10", "4", "50", "2/2"]
    assert second[1:9] == ["def5678", "7", "1", "50", "5", "2", "0", "1/1"]
    assert cells(text, "all")[0][3:9] == ["3", "150", "15", "6", "50", "3/3"]
    assert "Not as promised" not in text


def test_series_whose_records_are_gone_stay_on_the_page(tmp_path: Path) -> None:
    """What an earlier page tells of another commit is kept and added up, of the same series it is replaced."""
    append(KILLS, asdict(PASSED), tmp_path / "first")
    before = page(tmp_path / "first")
    for batch in (replace(PASSED, commit="def5678"), replace(PASSED, commit="def5678", number=2)):
        append(KILLS, asdict(batch), tmp_path / "second")
    text = page(tmp_path / "second", before)
    assert [row[1] for row in cells(text, "20")] == ["abc1234", "def5678"]
    assert cells(text, "all")[0][3:9] == ["3", "150", "15", "6", "0", "3/3"]
    assert page(tmp_path / "second", text) == text


def test_runs_of_canaries_are_rows_that_stay(tmp_path: Path) -> None:
    """A run that only the earlier page tells of is kept; what crossed is counted in its row."""
    run = {"chats": 14, "turns": 10_080, "prompts": 10_412, "looks": 216, "crossed": 0}
    append(CANARIES, run | {"commit": "abc1234"}, tmp_path / "first")
    append(CANARIES, run | {"commit": "def5678", "crossed": 2}, tmp_path / "second")
    text = page(tmp_path / "second", page(tmp_path / "first"))
    assert [row[1:] for row in cells(text, "20")] == [
        ["abc1234", "14", "10080", "10412", "216", "0"],
        ["def5678", "14", "10080", "10412", "216", "2"],
    ]


def test_what_was_broken_is_told(tmp_path: Path) -> None:
    """A batch that failed is not counted as passed, and its words are on the page."""
    broken = Verdict(messages=90, lost=1, violations=["lost: a message\nof two lines"])
    append(KILLS, asdict(replace(PASSED, verdict=broken)), tmp_path)
    text = page(tmp_path)
    assert cells(text, "20")[0][8:11] == ["0/1", "90", "1"]
    assert "- seed 7, batch 1: lost: a message of two lines" in text


def test_what_an_earlier_page_tells_beyond_its_rows_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was broken, words about it, and the faults placed by hand, although nothing new is recorded of them."""
    broken = Verdict(messages=90, lost=1, violations=["lost: a message"])
    append(KILLS, asdict(replace(PASSED, verdict=broken)), tmp_path / "first")
    monkeypatch.setenv(RECORD_VARIABLE, str(tmp_path / "first"))
    record("model", "429", "waits")
    first = page(tmp_path / "first")
    assert "- seed 7, batch 1: lost: a message" in first
    before = first.replace("lost: a message\n", "lost: a message\n\nSince abc1235 it waits.\n")
    append(KILLS, asdict(replace(PASSED, seed=8, verdict=broken)), tmp_path / "second")
    text = page(tmp_path / "second", before)
    assert text.count("Not as promised:") == 1
    assert text.index("- seed 7, batch 1") < text.index("Since abc1235 it waits.") < text.index("- seed 8, batch 1")
    assert "| 429 | waits | 1 | 1 |" in text
    assert page(tmp_path / "second", text) == text


def test_faults_are_grouped_by_what_they_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal cases are one row, a failed one is seen in it; without the variable nothing is recorded."""
    monkeypatch.delenv(RECORD_VARIABLE, raising=False)
    record("model", "429", "waits")
    assert records(FAULTS, tmp_path) == []
    monkeypatch.setenv(RECORD_VARIABLE, str(tmp_path))
    record("model", "429", "waits | then answers")
    with pytest.raises(AssertionError), proving("model", "429", "waits | then answers"):
        raise AssertionError
    with proving("kill", "before C1", "everything once"):
        pass
    text = page(tmp_path)
    assert "| 429 | waits \\| then answers | 2 | 1 |" in text
    assert "3 cases, 2 passed" in text
    assert text.index("Kills at the commit points") < text.index("Faults of the model")


def test_a_series_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """What is recorded is not played again, a line that was cut by a crash is; another seed is another series."""
    series = begin_or_go_on(tmp_path, 120, None)
    assert begin_or_go_on(tmp_path, 5, None) == begin_or_go_on(tmp_path, 5, series.seed) == series
    assert list(left(series, tmp_path, 50)) == [(1, 50), (2, 50), (3, 20)]
    append(KILLS, asdict(replace(PASSED, seed=series.seed)), tmp_path)
    with (tmp_path / f"{KILLS}.jsonl").open("a") as lines:
        lines.write('{"seed": ')
    append(KILLS, asdict(replace(PASSED, seed=series.seed, number=2)), tmp_path)
    assert list(left(series, tmp_path, 50)) == [(3, 20)]
    assert begin_or_go_on(tmp_path, 30, series.seed + 1) == Series(series.seed + 1, 30)
