"""Typed writes and reads of nodes and edges."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from support.knowledge.graph_stage import NOON, OWNER, STRANGER, Graph

from internal.errors import NotFound, Refused
from internal.graph import registry, store
from internal.graph.labels import NODES
from internal.graph.model import EdgeFilter, NodeFilter
from internal.storage import search_items as searched
from internal.storage.forgetting import hidings
from internal.storage.tables import claims, evidence, facts, graph_edges, graph_nodes, name_keys, search_items
from internal.storage.types import new_id

LATER = NOON + timedelta(days=1)
LEAST: dict[str, dict[str, Any]] = {
    "Source": {"type": "url", "reference": "r"},
    "Context": {"name": "n", "type": "project"},
    "TemporalMarker": {"type": "point", "description": "d"},
    "Preference": {"preference": "p"},
    "Keyword": {"term": "t"},
    "Question": {"text": "t"},
    "Memory": {"content": "c"},
}


@pytest.mark.parametrize("label", [label for label, schema in NODES.items() if not schema.derived])
def test_every_label_is_stored_and_found(graph: Graph, label: str) -> None:
    """A node of each label comes back as it was checked, with a search item of its own."""
    properties = LEAST.get(label, {"name": "n"} if "name" in NODES[label].model.model_fields else {"description": "d"})
    stored = graph.node(label, **properties)
    assert store.get_node(graph.connection, OWNER, stored.id) == stored
    assert properties.items() <= stored.properties.items()
    assert store.nodes(graph.connection, OWNER, NodeFilter(labels=(label,))) == [stored]
    item = f"{'entity' if label == 'Entity' else 'node'}:{stored.id}"
    assert graph.connection.execute(select(search_items.c.item, search_items.c.rev)).all() == [(item, stored.rev)]
    assert [(kind, op) for kind, _, op in graph.logged()] == [("item", "put"), ("node", "put")]


def test_what_the_registry_refuses_leaves_nothing(graph: Graph) -> None:
    """Nodes and edges: no row, no change in the log."""
    memory, entity = graph.memory("a"), graph.entity("ACME")
    end = graph.log_end
    with pytest.raises(Refused, match=r"Goal\.status: one of active, achieved, abandoned is expected"):
        graph.node("Goal", description="a", status="done")
    with pytest.raises(Refused, match="HAS_CONCEPT: it leads from Memory to Concept, not from Memory to Entity"):
        graph.edge("HAS_CONCEPT", memory, entity)
    with pytest.raises(Refused, match="cannot be linked to itself"):
        graph.edge("RELATES_TO", memory, memory)
    assert graph.log_end == end
    assert graph.rows(graph_edges) == set()


def test_nodes_are_listed_by_label_and_status_in_pages(graph: Graph) -> None:
    """In the order in which they came; the count is of all of them."""
    graph.node("Goal", description="far", status="achieved")
    goals = [graph.node("Goal", NOON + timedelta(minutes=n), description=str(n)) for n in range(5)]
    graph.entity("ACME", type="organization")
    active = NodeFilter(labels=("Goal",), status="active")
    assert store.count_nodes(graph.connection, OWNER, active) == 5
    assert store.nodes(graph.connection, OWNER, active, limit=2, offset=2) == goals[2:4]
    assert store.count_nodes(graph.connection, OWNER) == 7


def test_an_entity_is_found_by_any_of_its_names(graph: Graph) -> None:
    """Whatever the case and the kind of apostrophe; a name that was taken away leads nowhere."""
    acme = graph.entity("ACME", aliases=["Об’єднання АКМЕ"])
    topic = graph.node("Topic", name="Садівництво").id
    for name, found in (("acme", [acme]), ("об'єднання акме", [acme]), ("садівництво", [topic]), ("", [])):
        assert [node.id for node in store.nodes_called(graph.connection, OWNER, [name])] == found
    assert [node.id for node in store.nodes_named(graph.connection, OWNER, "Entity", ["Acme", "x"])] == [acme]
    store.update_node(graph.connection, OWNER, acme, {"aliases": []}, now=LATER)
    assert store.nodes_called(graph.connection, OWNER, ["об'єднання акме"]) == []


def test_an_update_merges_marks_and_follows(graph: Graph) -> None:
    """Changed properties join the others, are marked by who set them, and reach columns, names and search."""
    acme = graph.entity("ACME", description="A company", attributes={"city": "Київ"})
    updated = store.update_node(
        graph.connection, OWNER, acme, {"name": "ACME Ltd", "description": None}, now=LATER, by="owner"
    )
    assert (updated.name, updated.summary) == ("ACME Ltd", "")
    assert updated.properties["attributes"] == {"city": "Київ"}
    assert (updated.owner_set("name"), updated.owner_set("description"), updated.owner_set("attributes")) == (
        True,
        True,
        False,
    )
    assert (updated.updated_at, updated.created_at) == (LATER, NOON)
    assert graph.connection.execute(select(search_items.c.text)).scalar_one() == "ACME Ltd"
    keys = graph.connection.execute(select(name_keys.c.key, name_keys.c.set_by)).all()
    assert keys == [("acme ltd", "owner")]
    row = graph.connection.execute(select(graph_nodes.c.name, graph_nodes.c.name_key)).one()
    assert row == ("ACME Ltd", "acme ltd")


def test_an_update_that_changes_nothing_writes_nothing(graph: Graph) -> None:
    """What was read may be written back, `id` and `created` included; what the owner confirms is marked as his."""
    goal = graph.node("Goal", description="Дім")
    end = graph.log_end
    assert store.update_node(graph.connection, OWNER, goal.id, registry.specified_properties(goal), now=LATER) == goal
    assert graph.log_end == end
    confirmed = store.update_node(graph.connection, OWNER, goal.id, {"description": "Дім"}, now=LATER, by="owner")
    assert confirmed.owner_set("description")
    with pytest.raises(Refused, match=r"Goal\.id"):
        store.update_node(graph.connection, OWNER, goal.id, {"id": "other"}, now=LATER)
    with pytest.raises(NotFound):
        store.update_node(graph.connection, OWNER, new_id(), {}, now=LATER)


def test_accesses_are_counted_and_survive_an_update(graph: Graph) -> None:
    """Each touch is one access at its time."""
    memory = graph.memory("a")
    for moment in (NOON, LATER):
        store.touch_nodes(graph.connection, OWNER, [memory, memory], moment)
    updated = store.update_node(graph.connection, OWNER, memory, {"content": "b"}, now=LATER)
    assert (updated.access_count, updated.last_accessed, updated.properties["summary"]) == (2, LATER, "b")


def test_an_edge_keeps_attributes_times_and_strength(graph: Graph) -> None:
    """Strength is one number, wherever it is read; a change of times leaves the rest as it is."""
    one, two = graph.memory("a"), graph.memory("b")
    edge = graph.edge("RELATES_TO", one, two, valid_at=NOON, strength=0.25, relType="cause")
    assert (edge.strength, edge.properties) == (0.25, {"strength": 0.25, "relType": "cause"})
    assert (edge.source_origin, edge.target_origin, edge.valid_at) == (one, two, NOON)
    assert store.get_edge(graph.connection, OWNER, edge.id) == edge
    closed = store.update_edge(graph.connection, OWNER, edge.id, now=LATER, times={"invalid_at": LATER})
    assert (closed.invalid_at, closed.strength, closed.strength_at) == (LATER, 0.25, NOON)
    stronger = store.update_edge(graph.connection, OWNER, edge.id, now=LATER, properties={"strength": 1.0})
    assert (stronger.strength, stronger.strength_at, stronger.properties["relType"]) == (1.0, LATER, "cause")
    assert stronger.rev > closed.rev > edge.rev
    reopened = store.update_edge(graph.connection, OWNER, edge.id, now=LATER, times={"invalid_at": None})
    assert reopened.invalid_at is None
    with pytest.raises(Refused, match=r"RELATES_TO\.strength"):
        store.update_edge(graph.connection, OWNER, edge.id, now=LATER, properties={"strength": 1.5})
    assert store.update_edge(graph.connection, OWNER, edge.id, now=LATER).rev == reopened.rev


def test_edges_of_a_node_by_direction_type_and_time(graph: Graph) -> None:
    """What has ended, has expired or was not known yet is left out unless it is asked for."""
    acme, kyiv, anna = graph.entity("ACME"), graph.entity("Київ"), graph.entity("Анна")
    old = graph.fact(anna, "WORKS_FOR", acme, valid_at=NOON - timedelta(days=9), invalid_at=NOON - timedelta(days=2))
    located = graph.fact(acme, "LOCATED_IN", kyiv)
    future = graph.fact(anna, "WORKS_FOR", acme, now=LATER, valid_at=LATER)
    expired = graph.fact(acme, "OWNS", kyiv)
    store.update_edge(graph.connection, OWNER, expired.id, now=LATER, times={"expired_at": NOON + timedelta(hours=1)})

    def at(**wanted: Any) -> set[str]:
        found = store.edges_of(graph.connection, OWNER, acme, EdgeFilter(**wanted), now=LATER)
        return {edge.id for edge in found}

    assert at() == {located.id, future.id}
    assert at(include_invalid=True) == {old.id, located.id, future.id, expired.id}
    assert at(at=NOON - timedelta(days=5)) == {old.id, located.id}
    assert at(at=NOON) == {located.id}
    assert at(known_at=NOON) == {located.id, expired.id}
    assert at(known_at=NOON, at=NOON - timedelta(days=5)) == {old.id, located.id, expired.id}
    assert at(types=("RELATES_TO",)) == set()
    paged = store.edges_of(
        graph.connection, OWNER, acme, EdgeFilter(include_invalid=True), now=LATER, limit=1, offset=1
    )
    assert len(paged) == 1


def test_hidden_and_merged_nodes_are_nowhere(graph: Graph) -> None:
    """With their edges; shown again, everything is back; an edge to a merged node is one to where it leads."""
    acme, kyiv, anna = graph.entity("ACME"), graph.entity("Київ"), graph.entity("Анна")
    edge = graph.fact(acme, "LOCATED_IN", kyiv)
    assert hidings.hide(graph.connection, OWNER, "asked", "node", [acme]) == [acme]
    assert store.get_node(graph.connection, OWNER, acme) is None
    assert store.get_node(graph.connection, OWNER, acme, hidden=True) is not None
    assert store.get_edge(graph.connection, OWNER, edge.id) is None
    assert store.edges_of(graph.connection, OWNER, kyiv, now=NOON) == []
    assert acme not in store.nodes_by_ids(graph.connection, OWNER, [acme, kyiv])
    assert [node.id for node in store.nodes(graph.connection, OWNER)] == sorted([kyiv, anna])
    with pytest.raises(NotFound):
        graph.fact(anna, "WORKS_FOR", acme)
    assert hidings.end_hiding(graph.connection, OWNER, "another")["node"] == set()
    assert hidings.end_hiding(graph.connection, OWNER, "asked")["node"] == {acme}
    assert store.get_edge(graph.connection, OWNER, edge.id) is not None
    store.redirect_node(graph.connection, OWNER, acme, kyiv)
    assert store.get_node(graph.connection, OWNER, acme) is None
    resolved = store.resolve_node(graph.connection, OWNER, acme)
    assert resolved is not None
    assert resolved.id == kyiv
    assert graph.fact(anna, "LIVES_IN", acme).target == kyiv


def test_deleting_a_node_takes_all_that_is_about_it(graph: Graph) -> None:
    """Edges, facts, claims, evidence, names, search: nothing is left; the nodes it was linked to are named."""
    acme, kyiv, anna = graph.entity("ACME"), graph.entity("Київ"), graph.entity("Анна")
    told = graph.fact(anna, "WORKS_FOR", acme)
    other = graph.fact(anna, "LIVES_IN", kyiv)
    for edge in (told, other):
        _tell(graph, edge.id, edge.source, edge.target)
    end = graph.log_end
    deleted = store.delete_node(graph.connection, OWNER, acme)
    assert (deleted.edges, deleted.neighbours) == ((told.id,), (anna,))
    remaining = {row for table in (graph_nodes, graph_edges, facts, claims, evidence, name_keys, search_items)
                 for row in graph.rows(table)}  # fmt: skip
    assert remaining
    assert not any(gone in row for row in remaining for gone in (acme, told.id, "ACME"))
    assert graph.connection.execute(select(facts.c.edge_id)).scalars().all() == [other.id]
    assert {("node", acme, "delete"), ("edge", told.id, "delete")} <= set(graph.logged(end))
    with pytest.raises(NotFound):
        store.delete_node(graph.connection, OWNER, acme)


def test_deleting_an_edge_tells_the_log(graph: Graph) -> None:
    """Its search item goes with it; a second time there is nothing to delete."""
    edge = graph.fact(graph.entity("ACME"), "LOCATED_IN", graph.entity("Київ"))
    _tell(graph, edge.id, edge.source, edge.target)
    assert store.delete_edges(graph.connection, OWNER, [edge.id]) == [edge.id]
    assert graph.rows(facts) == set()
    assert ("edge", edge.id, "delete") in graph.logged()
    assert not graph.connection.execute(select(search_items).where(search_items.c.kind == "fact")).all()
    assert store.delete_edges(graph.connection, OWNER, [edge.id]) == []


def test_the_owners_own_node_is_always_the_same(graph: Graph, stranger: Graph) -> None:
    """Made once, one an owner, found by nobody's name."""
    first = store.ensure_owner_node(graph.connection, OWNER, "Олена", NOON)
    again = store.ensure_owner_node(graph.connection, OWNER, "Інша", LATER)
    assert first == again
    assert (first.id, first.subtype, first.name) == (store.owner_node_id(OWNER), "person", "Олена")
    assert store.ensure_owner_node(graph.connection, STRANGER, " ", NOON).name == str(STRANGER)
    assert store.owner_node_id(OWNER) == "ce050fc9-07b6-51e8-98a9-59babbe62499"
    assert store.nodes_called(graph.connection, OWNER, ["Олена"]) == []
    assert graph.rows(search_items) == set()


def test_nothing_of_another_owner_is_seen_or_changed(graph: Graph, stranger: Graph) -> None:
    """Every read with a stranger's id finds nothing, every write is refused, and no row changes."""
    mine, theirs = graph.entity("ACME"), stranger.entity("ACME")
    city = stranger.entity("Київ")
    edge = stranger.fact(theirs, "LOCATED_IN", city)
    before = graph.rows(graph_nodes) | graph.rows(graph_edges)
    connection = graph.connection
    assert store.get_node(connection, OWNER, theirs, hidden=True) is None
    assert store.resolve_node(connection, OWNER, theirs) is None
    assert store.nodes_by_ids(connection, OWNER, [mine, theirs]).keys() == {mine}
    assert [node.id for node in store.nodes_called(connection, OWNER, ["acme"])] == [mine]
    assert store.get_edge(connection, OWNER, edge.id, hidden=True) is None
    assert store.edges_of(connection, OWNER, theirs, now=NOON) == []
    assert hidings.hide(connection, OWNER, "asked", "node", [theirs]) == []
    assert store.delete_edges(connection, OWNER, [edge.id]) == []
    store.touch_nodes(connection, OWNER, [theirs], LATER)
    for write in (
        lambda: graph.fact(mine, "KNOWS", theirs),
        lambda: store.update_node(connection, OWNER, theirs, {"name": "x"}, now=LATER),
        lambda: store.delete_node(connection, OWNER, theirs),
        lambda: store.update_edge(connection, OWNER, edge.id, now=LATER, times={"invalid_at": LATER}),
    ):
        with pytest.raises(NotFound):
            write()
    with pytest.raises(Refused) as refusal:
        store.add_node(connection, OWNER, "Entity", {"name": "x"}, now=NOON, node_id=theirs)
    assert refusal.value.reason == "id_taken"
    assert graph.rows(graph_nodes) | graph.rows(graph_edges) == before


def test_a_node_whose_row_was_written_by_an_older_schema_is_read(graph: Graph) -> None:
    """Properties that are missing in an old row are simply not there."""
    entity = graph.entity("ACME")
    graph.connection.execute(update(graph_nodes).values(props={"name": "ACME", "type": "person"}))
    node = store.get_node(graph.connection, OWNER, entity)
    assert node is not None
    assert (node.name, node.summary) == ("ACME", "")
    assert store.update_node(graph.connection, OWNER, entity, {"aliases": ["a"]}, now=LATER).properties["aliases"] == [
        "a"
    ]


def _tell(graph: Graph, edge_id: str, source: str, target: str) -> None:
    """A claim with its evidence, the fact that follows from it, and its search item."""
    claim = {
        "user_id": graph.user_id,
        "id": new_id(),
        "edge_id": edge_id,
        "source": source,
        "target": target,
        "source_origin": source,
        "target_origin": target,
        "name": "N",
        "statement": "s",
        "fact": "f",
        "attributes": {},
        "valid_stated": False,
        "said_at": NOON,
        "created_at": NOON,
        "set_by": "archivist",
    }
    graph.connection.execute(insert(claims).values(claim))
    fact = {
        "edge_id": edge_id,
        "name": "N",
        "fact": "f",
        "claim_id": claim["id"],
        "attributes": {},
        "set_by": "archivist",
    }
    graph.connection.execute(insert(facts).values(user_id=graph.user_id, **fact))
    for about in (f"claim:{claim['id']}", f"entity:{target}"):
        cited = {"episode_id": "e", "segment": 1, "operation": "created"}
        graph.connection.execute(insert(evidence).values(user_id=graph.user_id, target=about, **cited))
    searched.save_search_item(graph.connection, graph.user_id, "fact", edge_id, "f", 1)
