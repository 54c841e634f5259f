"""A short life through the product, by the benchmark that lives two years."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from support.paths import ROOT

BENCHMARK = ("-m", "benchmarks.messages.two_years")
SESSIONS = 6
SHORT = (
    *("--sessions", str(SESSIONS), "--days", str(SESSIONS), "--messages", str(8 * SESSIONS)),
    *("--rounds", "1", "--change-every", str(SESSIONS // 2), "--json"),
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What a life of some sessions came to, the mirror left out."""
    run = subprocess.run(
        [sys.executable, *BENCHMARK, *SHORT, "--no-mirror"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_a_chronicle_is_whole_after_a_life_with_edits_deletions_and_merges(told: dict[str, Any]) -> None:
    """The audit meets its five aims, and what was said makes one chain."""
    aims = {"next_integrity": 1.0, "full_text": 1.0, "analysis_coverage": 1.0, "orphans": 0}
    assert {name: told["audit"][name] for name in aims} == aims
    assert told["audit"]["entity_uniqueness"] >= 0.98
    assert told["chains"] == 1
    assert told["changes"]["messages edited"] == told["changes"]["messages deleted"] == 2


def test_a_life_fills_memory_and_every_run_is_applied(told: dict[str, Any]) -> None:
    """Each session was archived and judged, and what was said became people, memories and preferences."""
    assert set(told["runs"]) == {"applied"}
    assert told["nodes"]["Session"] == SESSIONS
    assert min(told["nodes"][label] for label in ("Entity", "Memory", "Preference", "Analysis")) > 0


def test_a_restart_takes_up_the_open_dialogue(told: dict[str, Any]) -> None:
    """What was said last is in no fragment yet, and is in the buffers again after a restart."""
    assert told["restored"] == 1
