"""Every person is the profile of an entity: made, renamed, merged, split, hidden and erased together."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sqlalchemy import Connection, Table, insert, select, update
from support.knowledge.people_stage import NOON, OWNER, STRANGER, Archive, memory
from support.long import examples

from internal.graph import store, traversal_repository
from internal.graph.model import EdgeFilter, Node
from internal.people import removal_repository, repository, service
from internal.people.operations import Added, Merged, Updated
from internal.storage.forgetting import hidings
from internal.storage.tables import claims, facts, graph_edges, graph_nodes, merges
from internal.storage.types import new_id

LATER = NOON + timedelta(days=3)


def entity_of(connection: Connection, person_id: int) -> Node:
    """The node behind a person, visible or not."""
    (profile,) = removal_repository.profiles(connection, OWNER, [person_id])
    node = store.get_node(connection, OWNER, profile.entity_id, hidden=True)
    assert node is not None
    return node


def make(connection: Connection, label: str, user_id: int = OWNER, **properties: Any) -> str:
    return store.add_node(connection, user_id, label, properties, now=NOON).id


def tell(connection: Connection, source: str, name: str, target: str) -> str:
    """A fact between two nodes with the claim it follows from; the edge's id."""
    edge = store.add_edge(connection, OWNER, "FACT", source, target, {"name": name, "fact": name}, now=NOON)
    claim = {"id": new_id(), "edge_id": edge.id, "source": source, "target": target, "name": name, "statement": name}
    origins = {"source_origin": source, "target_origin": target}
    said = {"fact": name, "attributes": {}, "valid_stated": False, "said_at": NOON, "created_at": NOON}
    connection.execute(insert(claims).values(user_id=OWNER, set_by="archivist", **claim, **origins, **said))
    kept = {"edge_id": edge.id, "name": name, "fact": name, "claim_id": claim["id"], "attributes": {}}
    connection.execute(insert(facts).values(user_id=OWNER, set_by="archivist", **kept))
    return edge.id


def rows(connection: Connection, *tables: Table) -> set[str]:
    """All rows as text, without the counter of changes."""
    found = (row for table in tables for row in connection.execute(select(table)).mappings())
    return {str(sorted((name, value) for name, value in row.items() if name != "rev")) for row in found}


@pytest.fixture
def two(archive: Archive) -> Archive:
    """Maria (id 1) and Maria Ivanovna (id 2)."""
    archive.fragment(Added("Мария", ("Маша",), bio="Подруга."), Added("Maria Ivanovna", distinct_from=(1,)))
    return archive


def test_a_person_has_an_entity_that_follows_the_profile(two: Archive, connection: Connection) -> None:
    """Type, name, aliases and bio are the profile's; it is found through the profile alone."""
    node = entity_of(connection, 1)
    assert (node.label, node.subtype, node.name, node.summary) == ("Entity", "person", "Мария", "Подруга.")
    assert node.properties["aliases"] == ["Маша"]
    two.fragment(Updated(1, display_name="Мария Петрова", bio="Живёт в Киеве."))
    renamed = entity_of(connection, 1)
    assert (renamed.name, renamed.summary) == ("Мария Петрова", "Живёт в Киеве.")
    assert renamed.properties["aliases"] == ["Маша", "Мария"]
    assert [node.id for node in store.nodes_called(connection, OWNER, ["маша"])] == [node.id]
    service.edit(connection, OWNER, 1, {"circle": "Friends"}, now=LATER)
    assert entity_of(connection, 1).rev == renamed.rev


def test_a_merge_moves_relations_and_a_split_moves_them_back(two: Archive, connection: Connection) -> None:
    """Nothing dangles: edges and claims of the source are the target's, the source's node leads to the target's."""
    source, target = entity_of(connection, 2).id, entity_of(connection, 1).id
    acme = make(connection, "Entity", name="ACME")
    told = tell(connection, source, "WORKS_FOR", acme)
    service.merge(connection, OWNER, 2, 1, now=LATER)
    edge = store.get_edge(connection, OWNER, told)
    assert edge is not None
    assert (edge.source, edge.source_origin) == (target, source)
    assert connection.execute(select(claims.c.source, claims.c.source_origin)).one() == (target, source)
    resolved = store.resolve_node(connection, OWNER, source)
    assert resolved is not None
    assert resolved.id == target
    assert traversal_repository.distances(connection, OWNER, acme, hops=1, now=LATER) == {acme: 0, target: 1}
    learned = tell(connection, target, "LIVES_IN", make(connection, "Entity", name="Київ"))
    service.split(connection, OWNER, 1, now=LATER)
    edges = [store.get_edge(connection, OWNER, one) for one in (told, learned)]
    assert [edge.source for edge in edges if edge] == [source, target]
    assert set(connection.execute(select(claims.c.source)).scalars()) == {source, target}
    assert store.get_node(connection, OWNER, source) is not None


def test_an_archivists_merge_names_the_entity_to_be_projected_anew(two: Archive, connection: Connection) -> None:
    """The flow learns it from the outcome; a fragment without a merge names nobody."""
    assert two.fragment(Updated(1)).merged_entities == set()
    assert two.fragment(Merged(2, 1)).merged_entities == {entity_of(connection, 1).id}


def test_an_edge_that_would_double_another_returns_with_the_split(two: Archive, connection: Connection) -> None:
    """A memory mentions the merged person once; split, each mention is whose it was."""
    source, target = entity_of(connection, 2).id, entity_of(connection, 1).id
    note = make(connection, "Memory", content="Обе были в саду")
    for end, role in ((source, "гостья"), (target, "хозяйка")):
        store.add_edge(connection, OWNER, "MENTIONS", note, end, {"role": role}, now=NOON)
    before = rows(connection, graph_edges)
    service.merge(connection, OWNER, 2, 1, now=LATER)
    (left,) = store.edges_of(connection, OWNER, target, now=LATER)
    assert left.properties == {"role": "хозяйка"}
    service.split(connection, OWNER, 2, now=LATER)
    assert rows(connection, graph_edges) == before


def test_a_mention_whose_memory_was_forgotten_does_not_return(two: Archive, connection: Connection) -> None:
    """A split brings back no edge into nothing."""
    source, target = entity_of(connection, 2).id, entity_of(connection, 1).id
    note = make(connection, "Memory", content="Обе были в саду")
    for end in (source, target):
        store.add_edge(connection, OWNER, "MENTIONS", note, end, {}, now=NOON)
    service.merge(connection, OWNER, 2, 1, now=LATER)
    store.delete_node(connection, OWNER, note)
    service.split(connection, OWNER, 2, now=LATER)
    assert rows(connection, graph_edges) == set()


def test_claims_remember_the_edges_of_before_unless_the_owner_changed_them(
    two: Archive, connection: Connection
) -> None:
    """Projected onto one edge while merged, each claim names its own again; a version that was replaced stays so."""
    source, target = entity_of(connection, 2).id, entity_of(connection, 1).id
    acme = make(connection, "Entity", name="ACME")
    first, second = tell(connection, source, "WORKS_FOR", acme), tell(connection, target, "WORKS_FOR", acme)
    service.merge(connection, OWNER, 2, 1, now=LATER)
    store.delete_edges(connection, OWNER, [second])
    connection.execute(update(claims).values(edge_id=first))
    service.split(connection, OWNER, 2, now=LATER)
    assert dict(connection.execute(select(claims.c.source, claims.c.edge_id)).all()) == {source: first, target: second}
    service.merge(connection, OWNER, 2, 1, now=LATER)
    store.update_edge(connection, OWNER, first, now=LATER, times={"expired_at": LATER})
    newer = {"edge_id": "newer", "name": "WORKS_FOR", "fact": "f", "claim_id": "c", "attributes": {}, "set_by": "owner"}
    connection.execute(insert(facts).values(user_id=OWNER, supersedes=first, **newer))
    connection.execute(update(claims).values(edge_id="newer"))
    service.split(connection, OWNER, 2, now=LATER)
    assert set(connection.execute(select(claims.c.edge_id)).scalars()) == {"newer"}


def test_relations_of_a_chain_of_merges_come_apart_last_first(two: Archive, connection: Connection) -> None:
    """Who went into the source before goes back with it."""
    two.fragment(Added("Мэри"))
    ids = [entity_of(connection, number).id for number in (1, 2, 3)]
    city = make(connection, "Entity", name="Київ")
    told = [tell(connection, one, "LIVES_IN", city) for one in ids]
    before = rows(connection, graph_edges, claims)

    def sources() -> list[str]:
        edges = [store.get_edge(connection, OWNER, one) for one in told]
        return [edge.source for edge in edges if edge]

    service.merge(connection, OWNER, 2, 1, now=LATER)
    service.merge(connection, OWNER, 1, 3, now=LATER)
    assert sources() == [ids[2]] * 3
    service.split(connection, OWNER, 3, now=LATER)
    assert sources() == [ids[0], ids[0], ids[2]]
    service.split(connection, OWNER, 1, now=LATER)
    assert rows(connection, graph_edges, claims) == before


def test_a_hidden_persons_relations_are_hidden_too(two: Archive, connection: Connection) -> None:
    """At once, and back when it is undone."""
    acme, anna = make(connection, "Entity", name="ACME"), entity_of(connection, 1).id
    tell(connection, anna, "WORKS_FOR", acme)
    removal_repository.hide_nodes(connection, OWNER, "asked", [anna])
    assert traversal_repository.distances(connection, OWNER, acme, hops=1, now=NOON) == {acme: 0}
    removal_repository.show_nodes(connection, OWNER, hidings.end_hiding(connection, OWNER, "asked")["node"])
    assert traversal_repository.distances(connection, OWNER, acme, hops=1, now=NOON) == {acme: 0, anna: 1}


def test_an_erased_persons_relations_are_erased(two: Archive, connection: Connection) -> None:
    """With everybody merged into him; the nodes at the other ends are named, and keep what is their own."""
    source, target = entity_of(connection, 2).id, entity_of(connection, 1).id
    acme, city = make(connection, "Entity", name="ACME"), make(connection, "Entity", name="Київ")
    tell(connection, source, "WORKS_FOR", acme)
    tell(connection, target, "KNOWS", source)
    kept = tell(connection, acme, "LOCATED_IN", city)
    service.merge(connection, OWNER, 2, 1, now=LATER)
    assert removal_repository.erase(connection, OWNER, [1, 2]) == {acme}
    assert set(connection.execute(select(graph_nodes.c.id)).scalars()) == {acme, city}
    assert list(connection.execute(select(graph_edges.c.id)).scalars()) == [kept]
    assert list(connection.execute(select(claims.c.edge_id)).scalars()) == [kept]
    assert list(connection.execute(select(facts.c.edge_id)).scalars()) == [kept]
    assert rows(connection, merges) == set()


def test_merges_of_the_time_before_the_graph_can_be_undone(two: Archive, connection: Connection) -> None:
    """Their record holds nothing of the graph."""
    service.merge(connection, OWNER, 2, 1, now=LATER)
    recorded = connection.execute(select(merges.c.before)).scalar_one()
    connection.execute(update(merges).values(before={k: v for k, v in recorded.items() if k != "graph"}))
    service.split(connection, OWNER, 1, now=LATER)
    assert store.get_node(connection, OWNER, entity_of(connection, 2).id) is not None


RELATIONS = st.lists(
    st.tuples(st.sampled_from(["FACT", "MENTIONS"]), st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=10
)


@settings(max_examples=examples(25))
@given(RELATIONS, st.permutations([1, 2, 3]), st.booleans())
def test_a_merge_and_its_split_leave_every_row_as_it_was(
    relations: list[tuple[str, int, int, bool]], order: list[int], chained: bool
) -> None:
    """Facts, claims and mentions, doubled ones and those between the two included, chained merges too."""
    with memory() as connection:
        archive = Archive(connection)
        archive.fragment(Added("Анна"), Added("Ганна", distinct_from=(1,)), Added("Аня", distinct_from=(1, 2)))
        ends = [entity_of(connection, number).id for number in (1, 2, 3)] + [make(connection, "Entity", name="ACME")]
        notes = [make(connection, "Memory", content=text) for text in ("a", "b")]
        for type_, one, two, ended in relations:
            _relate(connection, type_, ends, notes, one, two, ended)
        kept = (graph_edges, claims, facts)
        before, nodes = rows(connection, *kept), rows(connection, graph_nodes)
        first, second, third = order
        service.merge(connection, OWNER, first, second, now=LATER)
        assert not _dangling(connection, first)
        if chained:
            service.merge(connection, OWNER, second, third, now=LATER)
            assert not _dangling(connection, second)
            service.split(connection, OWNER, third, now=LATER)
        service.split(connection, OWNER, second, now=LATER)
        assert rows(connection, *kept) == before
        assert {_without_update(row) for row in rows(connection, graph_nodes)} == {
            _without_update(row) for row in nodes
        }


def test_a_strangers_graph_is_not_moved(two: Archive, connection: Connection) -> None:
    """Even if his rows named the same ids."""
    source = entity_of(connection, 2).id
    ends = {"source": source, "target": "x", "source_origin": source, "target_origin": "x"}
    foreign = {"user_id": STRANGER, "id": "foreign", "type": "FACT", "created_at": NOON, "props": {}, "schema_v": 1}
    connection.execute(insert(graph_edges).values(**foreign, **ends, rev=1))
    before = rows(connection, graph_edges)
    service.merge(connection, OWNER, 2, 1, now=LATER)
    assert rows(connection, graph_edges) == before
    assert store.edges_of(connection, OWNER, repository.listing(connection, OWNER)[0].entity_id, now=NOON) == []


def _relate(
    connection: Connection, type_: str, ends: list[str], notes: list[str], one: int, two: int, ended: bool
) -> None:
    if type_ == "MENTIONS":
        edge = store.add_edge(connection, OWNER, type_, notes[one % 2], ends[two], {}, now=NOON)
        if ended:
            store.update_edge(connection, OWNER, edge.id, now=NOON, times={"invalid_at": NOON})
    elif one != two:
        tell(connection, ends[one], "KNOWS" if ended else "TRUSTS", ends[two])


def _dangling(connection: Connection, person_id: int) -> list[Any]:
    """Edges and claims that still end at a merged person's node."""
    node_id = entity_of(connection, person_id).id
    return [
        row
        for table in (graph_edges, claims)
        for row in connection.execute(select(table).where((table.c.source == node_id) | (table.c.target == node_id)))
    ] + store.edges_of(connection, OWNER, node_id, EdgeFilter(include_invalid=True), now=LATER)


def _without_update(row: str) -> str:
    """A node is written twice, by the merge and by the split: when, and by which setter, is no content."""
    cut = row.index("('field_meta'"), row.index("('schema_v'")
    return row[: cut[0]] + row[cut[1] : row.index("('updated_at'")]
