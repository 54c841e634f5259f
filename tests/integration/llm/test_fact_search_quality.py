"""Facts are found in three languages with the offline embedder: the rates that the weights were chosen for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support.paths import ROOT

BENCHMARK = ("-m", "benchmarks.search.knowledge_search")


@pytest.fixture(scope="module")
def rates() -> dict[str, dict[str, float]]:
    run = subprocess.run(
        [sys.executable, *BENCHMARK, "quality", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: dict[str, dict[str, float]] = json.loads(run.stdout)
    return found


def test_the_fact_meant_is_found_and_stands_in_the_prompt(rates: dict[str, dict[str, float]]) -> None:
    """Nine in ten come first, all among the first five, and none is cut as not belonging to its question."""
    whole = rates["vectors, words and names"]
    assert whole["recall_at_1"] >= 0.9
    assert whole["recall_at_5"] >= 0.98
    assert whole["in_prompt"] >= 0.98


def test_every_channel_earns_its_place(rates: dict[str, dict[str, float]]) -> None:
    """Words add to vectors, and names to both."""
    both, whole = rates["vectors and words"]["recall_at_1"], rates["vectors, words and names"]["recall_at_1"]
    assert rates["vectors"]["recall_at_1"] < both
    assert both + 0.05 < whole
    assert rates["words"]["recall_at_5"] >= 0.8


def test_questions_about_something_else_are_given_little(rates: dict[str, dict[str, float]]) -> None:
    """A joke or a translation brings no more than two facts into the prompt on average."""
    assert rates["vectors, words and names"]["given_for_nothing"] <= 2
