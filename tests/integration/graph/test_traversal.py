"""Walks over the graph."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sqlalchemy import Connection, event
from support.knowledge.graph_stage import NOON, OWNER, Graph, memory
from support.long import examples

from internal.errors import NotFound
from internal.graph import store, traversal_repository
from internal.graph.model import EdgeFilter
from internal.storage.forgetting import hidings

LATER = NOON + timedelta(days=1)


def chain(graph: Graph, count: int) -> list[str]:
    """Entities, each knowing the next."""
    made = [graph.entity(f"e{n}") for n in range(count)]
    for one, two in pairwise(made):
        graph.fact(one, "KNOWS", two)
    return made


def within(graph: Graph, start: str, far: int, **options: Any) -> dict[str, int]:
    """The nodes reached, without the start."""
    found = traversal_repository.distances(graph.connection, OWNER, start, hops=far, now=NOON, **options)
    assert found.pop(start) == 0
    return found


def test_within_some_hops_in_either_direction(graph: Graph) -> None:
    """Each node at its shortest distance, however many edges lead there."""
    made = chain(graph, 6)
    graph.fact(made[0], "KNOWS", made[3])
    graph.fact(made[0], "TRUSTS", made[3])
    assert within(graph, made[0], 2) == {made[1]: 1, made[3]: 1, made[2]: 2, made[4]: 2}
    assert within(graph, made[2], 1) == {made[1]: 1, made[3]: 1}
    assert within(graph, made[0], 0) == {}


def test_only_edges_of_a_type_and_a_moment_are_followed(graph: Graph) -> None:
    """By default what holds now; at a moment what held then; known then; or everything."""
    anna, acme, kyiv = (graph.entity(name) for name in ("Анна", "ACME", "Київ"))
    graph.fact(anna, "WORKS_FOR", acme, valid_at=NOON - timedelta(days=9), invalid_at=NOON - timedelta(days=1))
    graph.fact(anna, "LIVES_IN", kyiv, now=LATER, valid_at=NOON - timedelta(days=2))

    def at(**wanted: Any) -> set[str]:
        return set(within(graph, anna, 1, edges=EdgeFilter(**wanted)))

    assert at() == {kyiv}
    assert at(at=NOON - timedelta(days=5)) == {acme}
    assert at(at=NOON - timedelta(days=2)) == {acme, kyiv}
    assert at(known_at=NOON, at=NOON - timedelta(days=2)) == {acme}
    assert at(include_invalid=True) == {acme, kyiv}
    assert at(include_invalid=True, types=("RELATES_TO",)) == set()


def test_no_walk_leads_through_what_is_hidden_or_merged(graph: Graph) -> None:
    """Nor over a hidden node to what lies behind it."""
    made = chain(graph, 4)
    hidings.hide(graph.connection, OWNER, "asked", "node", [made[1]])
    assert within(graph, made[0], 3) == {}
    with pytest.raises(NotFound):
        within(graph, made[1], 1)
    hidings.end_hiding(graph.connection, OWNER, "asked")
    store.redirect_node(graph.connection, OWNER, made[2], made[0])
    assert within(graph, made[0], 3) == {made[1]: 1}


def test_no_walk_leaves_its_owner(graph: Graph, stranger: Graph) -> None:
    """A stranger's node is no start, and nothing of his is reached."""
    mine, theirs = chain(graph, 3), chain(stranger, 3)
    assert set(within(graph, mine[0], 6)) == set(mine[1:])
    with pytest.raises(NotFound):
        within(graph, theirs[0], 1)


def test_a_walk_visits_no_more_than_it_may(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a star larger than the bound the walk ends at the bound."""
    centre = graph.entity("centre")
    for number in range(20):
        graph.fact(centre, "KNOWS", graph.entity(str(number)))
    monkeypatch.setattr(traversal_repository, "MAX_NODES", 8)
    assert len(traversal_repository.distances(graph.connection, OWNER, centre, hops=3, now=NOON)) == 8


def test_a_hop_is_one_query_in_each_direction(graph: Graph) -> None:
    """However many nodes the frontier holds."""
    centre = graph.entity("centre")
    for number in range(30):
        one = graph.entity(f"a{number}")
        graph.fact(centre, "KNOWS", one)
        graph.fact(one, "KNOWS", graph.entity(f"b{number}"))
    statements: list[str] = []

    def note(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(graph.connection, "before_cursor_execute", note)
    assert len(traversal_repository.distances(graph.connection, OWNER, centre, hops=2, now=NOON)) == 61
    event.remove(graph.connection, "before_cursor_execute", note)
    assert len([one for one in statements if "graph_edges" in one]) == 2 * 2


PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1]), max_size=14)


@settings(max_examples=examples(25))
@given(PAIRS)
def test_walks_agree_with_a_plain_search(pairs: list[tuple[int, int]]) -> None:
    """Distances are those of breadth-first search over the same edges in memory."""
    with memory() as connection:
        graph = Graph(connection)
        made = [graph.entity(str(number)) for number in range(8)]
        for source, target in pairs:
            graph.fact(made[source], "KNOWS", made[target])
        found = traversal_repository.distances(connection, OWNER, made[0], hops=6, now=NOON)
        assert found == {made[number]: far for number, far in _plain(pairs).items() if far <= 6}


def _plain(pairs: list[tuple[int, int]]) -> dict[int, int]:
    """Distances from 0."""
    away, waiting = {0: 0}, deque([0])
    while waiting:
        here = waiting.popleft()
        for there in [two for one, two in pairs if one == here] + [one for one, two in pairs if two == here]:
            if there not in away:
                away[there] = away[here] + 1
                waiting.append(there)
    return away
