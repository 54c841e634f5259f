"""Things that are one become one and two again: their names, links, facts and words go with them, and come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import Connection, select
from support.knowledge.memory_stage import NOON, OWNER, Memories, database, link, ref, told
from support.long import examples

from internal.errors import NotFound, Refused
from internal.flows.forgetting import erase
from internal.flows.merging import entities
from internal.graph import store
from internal.knowledge import service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import FactFilter
from internal.memory import service as memory
from internal.people import service as people
from internal.people.service import TelegramAccount
from internal.storage.tables import graph_edges, graph_nodes, node_merges

KEY = b"k" * 32


@pytest.fixture
def connection() -> Iterator[Connection]:
    with database() as opened:
        yield opened


@pytest.fixture
def memories(connection: Connection) -> Memories:
    return Memories(connection)


def named(connection: Connection, label: str, words: str) -> str:
    [node] = store.nodes_named(connection, OWNER, label, [words])
    return node.id


def rows(connection: Connection) -> tuple[list[Any], list[Any]]:
    """Every node by what it says and every edge by its ends: what a merge and a split leave as they were."""
    nodes = connection.execute(
        select(graph_nodes.c.id, graph_nodes.c.label, graph_nodes.c.props, graph_nodes.c.merged_into).order_by("id")
    ).all()
    edges = connection.execute(
        select(graph_edges.c.id, graph_edges.c.type, graph_edges.c.source, graph_edges.c.target, graph_edges.c.props)
        .where(graph_edges.c.expired_at.is_(None))
        .order_by("id")
    ).all()
    return list(nodes), list(edges)


def test_concepts_that_are_one(memories: Memories) -> None:
    """Memories of either have the one, once; what is told under the old name later is told of it; a split undoes it."""
    connection = memories.connection
    either = [link("HAS_CONCEPT", ref("Concept", name), relevance=0.5) for name in ("machine learning", "ML")]
    memories.tell(told(ref("Memory", "I read on it"), either[0]), told(ref("Memory", "A course"), either[1]))
    memories.tell(told(ref("Memory", "Both words"), *either))
    before = rows(connection)
    whole, short = named(connection, "Concept", "machine learning"), named(connection, "Concept", "ML")
    merged = entities.merge(connection, OWNER, short, whole, now=NOON)
    assert (merged.id, merged.name) == (whole, "machine learning")
    assert len(store.edges_of(connection, OWNER, whole, now=NOON)) == 3
    memories.tell(told(ref("Memory", "A third"), link("HAS_CONCEPT", ref("Concept", "ml"))), episode="later")
    assert len(store.edges_of(connection, OWNER, whole, now=NOON)) == 4
    memories.forget("later")
    source, target = entities.split(connection, OWNER, whole, now=NOON)
    assert source is not None
    assert target is not None
    assert (source.id, source.name, target.id) == (short, "ML", whole)
    assert rows(connection) == before
    with pytest.raises(NotFound):
        entities.split(connection, OWNER, whole, now=NOON)


def test_organizations_that_are_one(memories: Memories) -> None:
    """The target answers to both names and has the facts of both; a split gives each its own again."""
    connection = memories.connection
    acme, other = memories.entity("Acme", type="organization"), memories.entity("Acme Corp", type="organization")
    tom = memories.entity("Tom", type="person")

    def fact(source: str, words: str, line: int) -> NewClaim:
        lines = (ClaimLine(line, f"e1/{line}", words),)
        return NewClaim(source, "HIRED", tom, words, said_at=NOON, lines=lines, episode_id="e1")

    told_of = [fact(acme, "Acme hired Tom", 1), fact(other, "Acme Corp hired Tom in May", 2)]
    knowledge.record_claims(connection, OWNER, told_of, now=NOON)
    before = rows(connection)
    entities.merge(connection, OWNER, other, acme, now=NOON)
    assert [node.id for node in store.nodes_called(connection, OWNER, ["acme corp"])] == [acme]
    facts = knowledge.facts_about(connection, OWNER, FactFilter(), now=NOON)
    assert {(one.source, one.target) for one in facts} == {(acme, tom)}
    with pytest.raises(Refused, match="already"):
        entities.merge(connection, OWNER, other, tom, now=NOON)
    entities.split(connection, OWNER, other, now=NOON)
    assert rows(connection) == before
    assert [node.id for node in store.nodes_called(connection, OWNER, ["acme corp"])] == [other]


def test_what_only_one_of_them_was_told_by_falls_with_its_message(memories: Memories) -> None:
    """An erased line takes the merged node's own words along; the rest stays merged."""
    connection = memories.connection
    memories.tell(told(ref("Goal", "Learn to sail")), episode="first")
    memories.tell(told(ref("Goal", "Get the skipper's licence", priority=1)), episode="second")
    whole, part = named(connection, "Goal", "Learn to sail"), named(connection, "Goal", "Get the skipper's licence")
    assert entities.merge(connection, OWNER, part, whole, now=NOON).properties["priority"] == 1
    assert memory.set_status(connection, OWNER, part, "active", now=NOON).id == whole  # a button of before
    with entities.split_all_merged(connection, OWNER, now=NOON):
        memory.remove_episode(connection, OWNER, "second", now=NOON)
    left = store.get_node(connection, OWNER, whole)
    assert left is not None
    assert left.name == "Learn to sail"
    assert "priority" not in left.properties
    assert store.get_node(connection, OWNER, part, hidden=True) is None
    assert connection.execute(select(node_merges)).all() == []


def test_a_forgotten_thing_takes_along_what_was_merged_into_it(memories: Memories) -> None:
    """Under whichever name it was told."""
    connection = memories.connection
    words = ("sailing", "boats")
    memories.tell(*(told(ref("Memory", f"On {one}"), link("HAS_CONCEPT", ref("Concept", one))) for one in words))
    whole, part = (named(connection, "Concept", one) for one in words)
    entities.merge(connection, OWNER, part, whole, now=NOON)
    erase.erase_memory(connection, OWNER, whole, key=KEY, now=NOON)
    assert [store.get_node(connection, OWNER, one, hidden=True) for one in (whole, part)] == [None, None]
    assert len(store.nodes_named(connection, OWNER, "Memory", [f"On {one}" for one in words])) == 2


def test_what_cannot_be_one_is_refused(memories: Memories) -> None:
    """Other labels, a person and a thing, memories, people with a profile, the owner, a thing and itself."""
    connection = memories.connection
    memories.tell(told(ref("Memory", "One"), link("HAS_CONCEPT", ref("Concept", "one"))), told(ref("Memory", "Two")))
    concept, first, second = (
        named(connection, *one) for one in (("Concept", "one"), ("Memory", "One"), ("Memory", "Two"))
    )
    thing, someone = memories.entity("Rose", type="organization"), memories.entity("Rose", type="person")
    tom = people.from_metadata(connection, OWNER, TelegramAccount(501, "Tom"), seen_at=NOON, now=NOON)
    owner = store.ensure_owner_node(connection, OWNER, "Оля", NOON).id
    refused = [
        (concept, concept, "self_merge"),
        (concept, thing, "different_labels"),
        (first, second, "not_merged"),
        (thing, someone, "different_types"),
        (someone, tom.entity_id, "person"),
        (someone, owner, "owner"),
    ]
    for source, target, reason in refused:
        with pytest.raises(Refused) as error:
            entities.merge(connection, OWNER, source, target, now=NOON)
        assert error.value.reason == reason


NAMES = ("sailing", "boats", "the sea", "rowing")
PAIRS = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))
STEPS = st.lists(st.tuples(st.sampled_from(("tell", "merge", "split", "forget")), PAIRS), min_size=4, max_size=10)


def meant(connection: Connection, name: str) -> str | None:
    found = store.nodes_named(connection, OWNER, "Concept", [name])
    return found[0].id if found else None


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_whatever_is_told_merged_split_and_forgotten(steps: list[tuple[str, tuple[str, str]]]) -> None:
    """Every memory leads to concepts that are there, to each once; when all is forgotten, nothing is left anywhere."""
    with database() as connection:
        memories = Memories(connection)
        for number, (step, (one, other)) in enumerate(steps):
            ids = meant(connection, one), meant(connection, other)
            if step == "tell":
                links = [link("HAS_CONCEPT", ref("Concept", name)) for name in dict.fromkeys((one, other))]
                memories.tell(told(ref("Memory", f"Memory {number}"), *links), episode=f"e{number}")
            elif step == "forget":
                forgotten(connection, f"e{number % 4}")
            elif ids[0] is not None and ids[1] is not None:
                with suppress(Refused, NotFound):
                    if step == "merge":
                        entities.merge(connection, OWNER, ids[0], ids[1], now=memories.now)
                    else:
                        entities.split(connection, OWNER, ids[0], now=memories.now)
            check_links(connection)
        for number in range(len(steps)):
            forgotten(connection, f"e{number}")
        standing = select(node_merges).where(node_merges.c.undone_at.is_(None))
        assert rows(connection) == ([], [])
        assert connection.execute(standing).all() == []
        assert all(row.before == {} for row in connection.execute(select(node_merges)))


def forgotten(connection: Connection, episode: str) -> None:
    with entities.split_all_merged(connection, OWNER, now=NOON):
        memory.remove_episode(connection, OWNER, episode, now=NOON)


def check_links(connection: Connection) -> None:
    nodes, edges = rows(connection)
    there = {one.id for one in nodes if one.merged_into is None}
    ends = [(one.type, one.source, one.target) for one in edges]
    assert all(source in there and target in there for _, source, target in ends)
    assert len(set(ends)) == len(ends)
