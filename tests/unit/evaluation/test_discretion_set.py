"""Our own orders and facts are sound, and their scorer counts rightly."""

from __future__ import annotations

import json
import runpy
from typing import Any

from support.paths import ROOT

SCORE = runpy.run_path(str(ROOT / "benchmarks/discretion_set/score.py"))
PROFILES: dict[str, dict[str, Any]] = SCORE["read"]("all")


def test_keys_give_away_one_fact_each() -> None:
    """A key stands in its own fact, in no other of the profile and in no order; ids of contexts exist."""
    assert len(PROFILES) >= 15
    assert sum(len(one["contexts"]) for one in PROFILES.values()) >= 75
    for profile in PROFILES.values():
        facts = profile["facts"]
        for name, fact in facts.items():
            assert [one for one in facts if fact["key"] in facts[one]["text"].casefold()] == [name]
            assert not any(fact["key"] in context["order"].casefold() for context in profile["contexts"])
        for context in profile["contexts"]:
            assert set(context["needs"]) <= set(facts)
            assert not set(context["needs"]) & set(SCORE["violating"](profile, context))


def test_the_scorer_tells_what_was_kept_back_from_what_was_not_recalled() -> None:
    """A needed fact that was never recalled is not counted as kept back."""
    profile = PROFILES["en-01.json"]
    facts, order = profile["facts"], profile["contexts"][0]["order"]
    line = {"file": "en-01.json", "order": order, "prompt": facts["h1"]["text"], "everything": facts["m1"]["text"]}
    [found] = SCORE["judged"](PROFILES, json.loads(json.dumps([line])))
    assert (found["violating"], found["kept_back"], found["not_recalled"]) == (["h1"], ["m1"], ["p7"])
    assert "1 of 10 (10.0%) | 0.0% | 1 of 2 | 1 of 2" in SCORE["table"](PROFILES, [line])
