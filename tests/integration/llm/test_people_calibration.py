"""The offline embedder finds people: the rates its threshold was chosen for."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest
from support.paths import ROOT

BENCHMARK = ("-m", "benchmarks.search.calibrate_people")


@cache
def measured(*options: str) -> dict[str, float]:
    run = subprocess.run(
        [sys.executable, *BENCHMARK, "--json", *options], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rates: dict[str, float] = json.loads(run.stdout)
    return rates


def test_the_threshold_keeps_its_rates() -> None:
    """At the threshold in use, with names: found first, found among five, and found though nobody was meant."""
    rates = measured()
    assert rates["recall_at_1"] >= 0.93
    assert rates["recall_at_5"] >= 0.95
    assert rates["false_accepts"] <= 0.1


@pytest.mark.long
def test_names_earn_their_weight() -> None:
    """Without the boost fewer are found first: names help the match."""
    assert measured()["recall_at_1"] > measured("--weight", "0")["recall_at_1"] + 0.03


@pytest.mark.long
def test_a_name_is_found_whatever_the_embedding_model_says() -> None:
    """Out of every cosine's reach those are found who are named, six in ten of the queries, and nobody else."""
    rates = measured("--threshold", "1.2")
    assert rates["recall_at_5"] >= 0.61
    assert rates["false_accepts"] == 0.0
