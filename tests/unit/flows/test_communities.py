"""Communities: who and what is told of together, the same each time, with ids that stay from week to week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from internal.flows.reflections.communities import grouped

WORK, HOME, SPORT = ("acme", "mia", "oleh", "tom"), ("anna", "dacha", "dad", "mum"), ("gym", "ira", "kate")


def weights(*groups: Iterable[str], more: Iterable[tuple[str, str]] = ()) -> Counter[tuple[str, str]]:
    told = Counter({pair: 3 for group in groups for pair in combinations(sorted(group), 2)})
    told.update((min(pair), max(pair)) for pair in more)
    return told


def members(found: dict[str, list[str]]) -> set[tuple[str, ...]]:
    return {tuple(sorted(some)) for some in found.values()}


def test_what_is_told_of_together_is_one_community() -> None:
    """A word in passing between two does not join them; two alone are none."""
    told = weights(WORK, HOME, SPORT, ("anton", "vlad"), more=[("anna", "oleh"), ("gym", "tom")])
    assert members(grouped(told, {})) == {WORK, HOME, SPORT}
    assert grouped(told, {}) == grouped(told, {})
    assert grouped({}, {}) == {}


def test_an_id_stays_while_a_community_grows_splits_and_others_come() -> None:
    """The larger part keeps it; what is new gets another, although its first member once gave its name."""
    before = grouped(weights(WORK, HOME), {})
    ids = {tuple(sorted(some)): one for one, some in before.items()}
    grown = grouped(weights((*WORK, "new"), HOME, SPORT), before)
    assert {ids[WORK], ids[HOME]} < set(grown)
    assert sorted(grown[ids[WORK]]) == sorted((*WORK, "new"))
    parted = grouped(weights(("mia", "oleh", "tom", "x"), ("acme", "y", "z")), before)
    assert sorted(parted[ids[WORK]]) == ["mia", "oleh", "tom", "x"]
    assert len(parted) == 2
