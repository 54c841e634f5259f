"""Walks over the graph."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event
from support.knowledge.graph_stage import NOON, OWNER, Graph, memory
from support.long import examples

from internal.errors import NotFound
from internal.graph import store, traversal
from internal.graph.model import EdgeFilter, NodeFilter, Reached
from internal.storage.erasure import hidings

LATER = NOON + timedelta(days=1)


def chain(graph: Graph, count: int) -> list[str]:
    """Entities, each knowing the next."""
    made = [graph.entity(f"e{n}") for n in range(count)]
    for one, two in pairwise(made):
        graph.fact(one, "KNOWS", two)
    return made


def hops(found: list[Reached]) -> dict[str, int]:
    return {reached.node.id: reached.hops for reached in found}


def within(graph: Graph, start: str, far: int, **options: Any) -> dict[str, int]:
    return hops(traversal.within(graph.connection, OWNER, start, hops=far, now=NOON, **options))


def test_neighbours_are_one_hop_away_in_either_direction(graph: Graph) -> None:
    """With the edge that leads there; the start is not its own neighbour, nor is anybody named twice."""
    one, two, three, _ = chain(graph, 4)
    graph.fact(two, "TRUSTS", three)
    found = traversal.neighbours(graph.connection, OWNER, two, now=NOON)
    assert hops(found) == {one: 1, three: 1}
    assert {reached.via.source for reached in found if reached.via} == {one, two}
    out = traversal.neighbours(graph.connection, OWNER, two, now=NOON, edges=EdgeFilter(direction="out"))
    assert hops(out) == {three: 1}
    into = traversal.neighbours(graph.connection, OWNER, two, now=NOON, edges=EdgeFilter(direction="in"))
    assert hops(into) == {one: 1}


def test_within_some_hops_nearest_first(graph: Graph) -> None:
    """Each node at its shortest distance; a limit keeps the nearest."""
    made = chain(graph, 6)
    graph.fact(made[0], "KNOWS", made[3])
    assert within(graph, made[0], 2) == {made[1]: 1, made[3]: 1, made[2]: 2, made[4]: 2}
    nearest = traversal.within(graph.connection, OWNER, made[0], hops=9, now=NOON, limit=2)
    assert [reached.hops for reached in nearest] == [1, 1]
    assert within(graph, made[0], 0) == {}
    distances = traversal.distances(graph.connection, OWNER, made[0], hops=2, now=NOON)
    assert distances == within(graph, made[0], 2) | {made[0]: 0}


def test_a_filter_of_nodes_says_what_is_given_back_not_where_the_way_leads(graph: Graph) -> None:
    """Memories that share a concept are two hops apart, over the concept."""
    one, two = graph.memory("a"), graph.memory("b")
    concept = graph.node("Concept", name="сад").id
    for memory_id in (one, two):
        graph.edge("HAS_CONCEPT", memory_id, concept)
    assert within(graph, one, 2, nodes=NodeFilter(labels=("Memory",))) == {two: 2}
    place = graph.entity("Київ", type="place")
    graph.edge("MENTIONS", one, place)
    assert within(graph, one, 2, nodes=NodeFilter(subtypes=("place",))) == {place: 1}
    assert within(graph, one, 2, nodes=NodeFilter(labels=("Goal",))) == {}


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


def test_weak_associations_can_be_left_out(graph: Graph) -> None:
    """An edge without strength is no strong one."""
    one, two, three = (graph.memory(text) for text in "abc")
    graph.edge("RELATES_TO", one, two, strength=0.9)
    graph.edge("RELATES_TO", one, three, strength=0.1)
    assert set(within(graph, one, 1, edges=EdgeFilter(min_strength=0.5))) == {two}


def test_a_shortest_way_with_its_edges(graph: Graph) -> None:
    """From the start on; directed when it is asked for; none is an empty one."""
    made = chain(graph, 5)
    way = traversal.shortest_path(graph.connection, OWNER, made[0], made[4], now=NOON)
    assert [(reached.node.id, reached.hops) for reached in way] == [(made[n], n) for n in range(5)]
    assert way[0].via is None
    assert [(step.via.source, step.via.target) for step in way[1:] if step.via] == list(pairwise(made))
    out, back = EdgeFilter(direction="out"), EdgeFilter(direction="in")

    def length(start: str, goal: str, **options: Any) -> int:
        return len(traversal.shortest_path(graph.connection, OWNER, start, goal, now=NOON, **options))

    assert length(made[0], made[4], edges=out) == length(made[4], made[0], edges=back) == 5
    assert length(made[4], made[0], edges=out) == 0
    assert length(made[0], made[4], max_hops=3) == 0
    assert length(made[0], made[0]) == 1
    assert length(made[0], graph.entity("lonely")) == 0


def test_no_walk_leads_through_what_is_hidden_or_merged(graph: Graph) -> None:
    """Nor over a hidden node to what lies behind it."""
    made = chain(graph, 4)
    hidings.hide(graph.connection, OWNER, "asked", "node", [made[1]])
    assert within(graph, made[0], 3) == {}
    with pytest.raises(NotFound):
        traversal.neighbours(graph.connection, OWNER, made[1], now=NOON)
    hidings.end(graph.connection, OWNER, "asked")
    store.redirect_node(graph.connection, OWNER, made[2], made[0])
    assert within(graph, made[0], 3) == {made[1]: 1}


def test_no_walk_leaves_its_owner(graph: Graph, stranger: Graph) -> None:
    """A stranger's node is no start, no goal, and nothing of his is reached."""
    mine, theirs = chain(graph, 3), chain(stranger, 3)
    assert set(within(graph, mine[0], 6)) == set(mine[1:])
    for walk in (
        lambda: traversal.neighbours(graph.connection, OWNER, theirs[0], now=NOON),
        lambda: traversal.shortest_path(graph.connection, OWNER, mine[0], theirs[0], now=NOON),
        lambda: traversal.distances(graph.connection, OWNER, theirs[0], hops=1, now=NOON),
    ):
        with pytest.raises(NotFound):
            walk()


def test_a_walk_visits_no_more_than_it_may(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a star larger than the bound the walk ends at the bound."""
    centre = graph.entity("centre")
    for number in range(20):
        graph.fact(centre, "KNOWS", graph.entity(str(number)))
    monkeypatch.setattr(traversal, "MAX_NODES", 8)
    assert len(traversal.distances(graph.connection, OWNER, centre, hops=3, now=NOON)) == 8


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
    assert len(traversal.distances(graph.connection, OWNER, centre, hops=2, now=NOON)) == 61
    event.remove(graph.connection, "before_cursor_execute", note)
    assert len([one for one in statements if "graph_edges" in one]) == 2 * 2


PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1]), max_size=14)


@settings(max_examples=examples(25))
@given(PAIRS, st.sampled_from(["out", "in", "both"]))
def test_walks_agree_with_a_plain_search(pairs: list[tuple[int, int]], direction: Any) -> None:
    """Distances and shortest ways are those of breadth-first search over the same edges in memory."""
    with memory() as connection:
        graph = Graph(connection)
        made = [graph.entity(str(number)) for number in range(8)]
        for source, target in pairs:
            graph.fact(made[source], "KNOWS", made[target])
        wanted = _plain(pairs, direction)
        edges = EdgeFilter(direction=direction)
        found = traversal.distances(connection, OWNER, made[0], hops=6, now=NOON, edges=edges)
        assert found == {made[number]: far for number, far in wanted.items() if far <= traversal.MAX_HOPS}
        for goal in range(8):
            way = traversal.shortest_path(connection, OWNER, made[0], made[goal], now=NOON, edges=edges)
            far = wanted.get(goal, traversal.MAX_HOPS + 1)
            assert len(way) == (far + 1 if far <= traversal.MAX_HOPS else 0)
            for before, after in pairwise(way):
                assert after.via is not None
                ends = {after.via.source, after.via.target}
                assert ends == {before.node.id, after.node.id}
                if direction != "both":
                    assert (after.via.source == before.node.id) == (direction == "out")


def _plain(pairs: list[tuple[int, int]], direction: str) -> dict[int, int]:
    """Distances from 0."""
    away, waiting = {0: 0}, deque([0])
    while waiting:
        here = waiting.popleft()
        onward = [two for one, two in pairs if one == here and direction != "in"]
        onward += [one for one, two in pairs if two == here and direction != "out"]
        for there in onward:
            if there not in away:
                away[there] = away[here] + 1
                waiting.append(there)
    return away
