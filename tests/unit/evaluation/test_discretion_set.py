"""Our own orders and facts are sound, their scorer counts rightly, and the half for development is kept to."""

from __future__ import annotations

import json
import re
import runpy
from typing import Any

import pytest
from support.paths import ROOT

from internal.language.discretion.recipients import recipient_of
from internal.language.discretion.sensitivity import topics_of

SCORE = runpy.run_path(str(ROOT / "benchmarks/discretion_set/score.py"))
PROFILES: dict[str, dict[str, Any]] = SCORE["read"]("all")
ORDERS = [(name, context) for name in SCORE["read"]("development") for context in PROFILES[name]["contexts"]]


def test_keys_give_away_one_fact_each() -> None:
    """A key stands in its own fact, in no other of the profile and in no order; ids of contexts exist."""
    assert len(PROFILES) == 10
    assert sum(len(one["contexts"]) for one in PROFILES.values()) == 50
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


@pytest.mark.parametrize(("name", "context"), ORDERS)
def test_what_an_order_may_not_show_touches_a_topic(name: str, context: dict[str, Any]) -> None:
    """Each order for others is recognised, and all but one in fifty of its violating facts touch a topic."""
    profile = PROFILES[name]
    names = {word for fact in profile["facts"].values() for word in re.findall(r"\b[A-ZА-ЯІЇЄ]\w+", fact["text"])}
    found = recipient_of(context["order"], names - {"The", "My", "We", "Our", "From", "Help", "Have"})
    assert (found is None) == (context["recipient"] == "owner")
    if found is not None:
        wrong = SCORE["violating"](profile, context)
        open_ones = [one for one in wrong if topics_of(profile["facts"][one]["text"]) <= found.knows]
        assert len(open_ones) <= 1
