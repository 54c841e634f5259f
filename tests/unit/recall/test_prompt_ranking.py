"""What of everything found stands in a prompt: one ranking and one budget."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from internal.recall.prompt.rank import Kind, PromptCandidate, select_candidates
from internal.recall.search.calibration import MIN_PICKED_CHANCE, episode_chance, fact_chance, person_chance


def passage(key: str, chance: float, text: str = "", **more: Any) -> PromptCandidate:
    fields: dict[str, Any] = {"tokens": 10, "message_ids": frozenset({key}), **more}
    return PromptCandidate("passage", key, chance, text=text or key, **fields)


def fact(key: str, chance: float, text: str = "", **more: Any) -> PromptCandidate:
    return PromptCandidate("fact", key, chance, **{"tokens": 10, "text": text or key, **more})


def keys(*candidates: PromptCandidate, budget: int = 1_000, most: dict[Kind, int] | None = None) -> list[str]:
    return [one.candidate.key for one in select_candidates(candidates, budget, most or {})]


def test_kinds_compete_by_their_chances() -> None:
    """Neither facts nor messages come first because of what they are."""
    assert keys(fact("f1", 0.3), passage("m1", 0.9), fact("f2", 0.5), passage("m2", 0.1)) == ["m1", "f2", "f1", "m2"]


def test_the_budget_holds_and_long_ones_make_room() -> None:
    """What does not fit is left out, and something shorter takes its place."""
    found = fact("f1", 0.9, tokens=60), passage("m1", 0.8, tokens=50), fact("f2", 0.2, tokens=40)
    assert keys(*found, budget=100) == ["f1", "f2"]
    assert keys(*found, budget=0) == []


def test_the_lines_beside_come_along_where_there_is_room() -> None:
    """A message is worth its place without them too."""
    found = passage("m1", 0.9, tokens=40, with_context=90), passage("m2", 0.8, tokens=10, with_context=100)
    chosen = select_candidates(found, 100, {})
    assert [(one.candidate.key, one.with_context) for one in chosen] == [("m1", True), ("m2", False)]


def test_the_third_hit_of_a_session_counts_for_half() -> None:
    """Another session has its say before, unless it hardly fits."""
    same = [passage(f"m{number}", 0.8 - number / 100, session="a") for number in range(4)]
    assert keys(*same, passage("other", 0.5, session="b")) == ["m0", "m1", "other", "m2", "m3"]
    assert keys(*same, passage("other", 0.1, session="b")) == ["m0", "m1", "m2", "m3", "other"]


def test_a_message_is_the_receipt_of_its_fact() -> None:
    """The fact stays, as likely as the message was; a message that says much more stays as well."""
    works = fact("f1", 0.2, "Петров работает в ACME", message_ids=frozenset({"m1"}))
    short = passage("m1", 0.9, "Петров теперь работает в ACME!")
    assert keys(works, short, fact("f2", 0.5)) == ["f1", "f2"]
    long = passage("m1", 0.9, "Петров теперь работает в ACME, " + "а ещё было много всего другого, " * 4)
    assert keys(works, long, fact("f2", 0.5)) == ["m1", "f2", "f1"]
    assert keys(works, passage("m2", 0.9, "Петров теперь работает в ACME!")) == ["m2", "f1"]


def test_the_same_text_counts_once() -> None:
    """Whatever its punctuation; the fact stays, of two messages the likelier."""
    assert keys(passage("m1", 0.4, "Купил билеты!"), passage("m2", 0.6, "купил билеты")) == ["m2"]
    assert keys(passage("m1", 0.9, "Анна живёт в Киеве."), fact("f1", 0.1, "Анна живёт в Киеве")) == ["f1"]
    assert keys(passage("m1", 0.9, "👍"), passage("m2", 0.8, "🎉")) == ["m1", "m2"]


def test_what_was_replaced_never_stands_before_its_successor() -> None:
    """Over several versions too, whatever their words fit; a circle ends."""
    first, second = fact("f1", 0.9, replaced_by=frozenset({"f2"})), fact("f2", 0.8, replaced_by=frozenset({"f3"}))
    assert keys(first, second, fact("f3", 0.1), fact("f4", 0.5)) == ["f4", "f3", "f2", "f1"]
    assert keys(fact("f1", 0.9, replaced_by=frozenset({"gone"}))) == ["f1"]
    assert set(
        keys(fact("f1", 0.9, replaced_by=frozenset({"f2"})), fact("f2", 0.8, replaced_by=frozenset({"f1"})))
    ) == {"f1", "f2"}


def test_a_message_that_time_overtook_stands_behind_what_did() -> None:
    """Behind the fact and the message that tell what is so now, though their session is crowded."""
    old = passage("m1", 0.9, session="a", replaced_by=frozenset({"f1", "m9"}))
    crowd = [passage(f"m{number}", 0.8, session="b") for number in range(2, 5)]
    new = passage("m9", 0.7, "Живу теперь в Одессе, и ещё многое другое", session="b")
    assert keys(old, *crowd, new, fact("f1", 0.1)) == ["m2", "m3", "m4", "m9", "f1", "m1"]
    assert keys(old, *crowd) == ["m1", "m2", "m3", "m4"]


def test_each_kind_has_a_most() -> None:
    """Forty short facts are no prompt."""
    assert keys(*(fact(f"f{number}", 0.5) for number in range(5)), passage("m1", 0.1), most={"fact": 2})[2:] == ["m1"]


_CANDIDATES = st.lists(
    st.builds(
        PromptCandidate,
        kind=st.sampled_from(["fact", "passage", "memory", "person"]),
        key=st.integers(0, 10_000).map(str),
        chance=st.floats(0, 1),
        tokens=st.integers(1, 300),
        text=st.text("аб ", max_size=4),
        session=st.sampled_from([None, "a", "b"]),
        message_ids=st.frozensets(st.sampled_from("xyz"), max_size=2),
        replaced_by=st.frozensets(st.sampled_from("12"), max_size=2),
    ),
    max_size=12,
    unique_by=lambda one: one.key,
)


@given(_CANDIDATES, st.integers(0, 1_000))
def test_never_more_than_the_budget_and_nothing_twice(candidates: list[PromptCandidate], budget: int) -> None:
    """Whatever was found."""
    chosen = [one.candidate for one in select_candidates(candidates, budget, {})]
    assert sum(one.tokens for one in chosen) <= budget
    assert len({one.key for one in chosen}) == len(chosen)


@pytest.mark.parametrize(("score", "least", "most"), [(-50.0, 0.0, 0.001), (5.187, 0.49, 0.51), (12.0, 0.999, 1.0)])
def test_a_score_becomes_a_chance(score: float, least: float, most: float) -> None:
    """Five spreads above the others it is as likely right as not."""
    assert least <= fact_chance(score) <= most


def test_an_import_stands_out_by_less() -> None:
    """Among a dozen imports none can lie five spreads above the others."""
    assert fact_chance(3.2) < 0.05 < episode_chance(3.2) == pytest.approx(0.5, abs=0.01)


def test_whom_a_model_picked_is_likely() -> None:
    """It has read the profile; without a pick the cosine above the threshold tells."""
    assert person_chance(0.7, 0.84, picked=True) == MIN_PICKED_CHANCE
    assert person_chance(0.84, 0.84, picked=False) < person_chance(0.9, 0.84, picked=False) < 1
