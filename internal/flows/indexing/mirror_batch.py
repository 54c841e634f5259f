"""Reads the contents of an owner's mirror from the current rows, for some changes or for everything."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from internal.access import repository as users
from internal.chronicle import repository as chronicle, view
from internal.flows.visibility.pending_forgettings import hidden_messages
from internal.graph import store
from internal.graph.mirror import repository
from internal.graph.mirror.projection import Batch, MirrorEdge, MirrorNode, cypher_properties, edge_of, node_of
from internal.graph.mirror.repository import GraphChange, LabelledEdge
from internal.graph.model import EDGE_CHANGE, NODE_CHANGE, Node
from internal.graph.relationships import FACT
from internal.knowledge import fact_repository
from internal.knowledge.facts.read import filled

PAGE: Final = 2_000
"""Rows read in one transaction while a mirror is built, so that other readers do not wait longer."""

_FACT: Final = (
    "name", "fact", "attributes", "original_fact", "update_reason", "updated_at", "valid_precision",
    "invalid_precision",
)  # fmt: skip

Known = Mapping[str, Collection[str]]
"""Ids of nodes by label."""

Page = Callable[[Connection], tuple[Batch, "Page | None"]]
"""Reads a part of everything, and returns the reader of the next part; None after the last."""


def put_nodes(connection: Connection, user_id: int, changes: Sequence[GraphChange]) -> Known:
    """The nodes among these changes that exist in the graph now, by label."""
    found: dict[str, list[str]] = {}
    wanted = [one.id for one in changes if one.kind == NODE_CHANGE]
    for node in store.nodes_by_ids(connection, user_id, wanted).values():
        found.setdefault(node.label, []).append(node.id)
    return found


def batch_of(connection: Connection, user_id: int, changes: Sequence[GraphChange], mirrored: Collection[str]) -> Batch:
    """The batch for these changes. A node that is not `mirrored` yet has its edges too: it was hidden, or split off.

    A changed session is written as a whole, as its neighbours' edges depend on each event too.
    """
    batch, tz = Batch(), _zone(connection, user_id)
    ids = {kind: {one.id for one in changes if one.kind == kind} for kind in {one.kind for one in changes}}
    wanted_nodes, wanted_edges = ids.get(NODE_CHANGE, set()), ids.get(EDGE_CHANGE, set())
    nodes = store.nodes_by_ids(connection, user_id, wanted_nodes)
    batch.gone_nodes |= wanted_nodes - nodes.keys()
    _add_nodes(batch, user_id, nodes.values(), tz)
    edges = {one.edge.id: one for one in repository.edges_by_ids(connection, user_id, wanted_edges)}
    batch.gone_edges |= wanted_edges - edges.keys()
    edges |= {one.edge.id: one for one in repository.edges_at(connection, user_id, nodes.keys() - set(mirrored))}
    batch.edges += _edges(connection, user_id, edges.values())
    changed = _changed_sessions(connection, user_id, ids, nodes.keys() - set(mirrored))
    batch.gone_nodes |= ids.get(chronicle.EVENT_CHANGE, set())  # written again with its session, if that still exists
    batch.gone_sessions |= changed
    _add_sessions(batch, connection, user_id, changed)
    return batch


def everything(user_id: int) -> Page:
    """The first page of everything in an owner's mirror."""
    return lambda connection: _nodes_page(connection, user_id, "")


def is_empty(connection: Connection, user_id: int) -> bool:
    """Whether an owner has nothing to mirror."""
    return not repository.has_nodes(connection, user_id) and not chronicle.count_sessions(connection, user_id)


def _nodes_page(connection: Connection, user_id: int, after: str) -> tuple[Batch, Page | None]:
    batch, found = Batch(), repository.nodes_behind(connection, user_id, after, PAGE)
    _add_nodes(batch, user_id, found, _zone(connection, user_id))
    if len(found) == PAGE:
        return batch, lambda c: _nodes_page(c, user_id, found[-1].id)
    return batch, lambda c: _edges_page(c, user_id, "")


def _edges_page(connection: Connection, user_id: int, after: str) -> tuple[Batch, Page | None]:
    found = repository.edges_behind(connection, user_id, after, PAGE)
    batch = Batch(edges=_edges(connection, user_id, found))
    if len(found) == PAGE:
        return batch, lambda c: _edges_page(c, user_id, found[-1].edge.id)
    return batch, lambda c: _chronicle_page(c, user_id)


def _chronicle_page(connection: Connection, user_id: int) -> tuple[Batch, Page | None]:
    batch, hidden = Batch(), hidden_messages(connection, user_id)
    _add_view(batch, view.of_owner(connection, user_id, hidden=hidden))
    return batch, None


def _add_nodes(batch: Batch, user_id: int, nodes: Iterable[Node], tz: str) -> None:
    days: dict[str, view.ViewNode] = {}
    for node in nodes:
        batch.nodes.append(node_of(node, _entity(node) if node.label == "Entity" else None))
        if node.label == "Entity":
            calendar, happened = view.entity_happened(user_id, node, tz)
            days |= {one.id: one for one in calendar}
            batch.edges += map(_derived, happened)
    batch.nodes += map(_viewed, days.values())


def _entity(node: Node) -> dict[str, Any]:
    """An entity with the properties that it has in the chronicle and its mirror."""
    return {
        "camelName": view.entity_name(node.name),
        "chronicleType": view.entity_type(node.subtype),
        "description": view.entity_description(node),
    }


def _edges(connection: Connection, user_id: int, edges: Iterable[LabelledEdge]) -> list[MirrorEdge]:
    found = list(edges)
    facts = _facts(connection, user_id, [one.edge.id for one in found if one.edge.type == FACT])
    return [edge_of(one.edge, one.source_label, one.target_label, facts.get(one.edge.id)) for one in found]


def _facts(connection: Connection, user_id: int, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    versions = fact_repository.versions(connection, user_id, ids)
    return {
        fact.id: {name: getattr(fact, name) for name in _FACT} | {"episodes": list(fact.episodes)}
        for fact in filled(connection, user_id, versions.values())
    }


def _changed_sessions(
    connection: Connection, user_id: int, ids: Mapping[str, set[str]], fresh: Collection[str]
) -> set[str]:
    """The sessions that changed, whose events changed, or that mention an entity that was not mirrored."""
    events = chronicle.events_by_ids(connection, user_id, sorted(ids.get(chronicle.EVENT_CHANGE, set())))
    mentioning = chronicle.sessions_mentioning(connection, user_id, fresh)
    return ids.get(chronicle.SESSION_CHANGE, set()) | {event.session_id for event in events} | mentioning


def _add_sessions(batch: Batch, connection: Connection, user_id: int, session_ids: Iterable[str]) -> None:
    hidden = hidden_messages(connection, user_id)
    for session_id in sorted(session_ids):
        found = view.of_session(connection, user_id, session_id, hidden=hidden)
        if found is not None:
            _add_view(batch, found)


def _add_view(batch: Batch, found: view.View) -> None:
    batch.nodes += map(_viewed, found.nodes)
    batch.edges += map(_derived, found.edges)


def _viewed(node: view.ViewNode) -> MirrorNode:
    return MirrorNode(node.label, cypher_properties({"id": node.id, **node.properties}))


def _derived(edge: view.ViewEdge) -> MirrorEdge:
    ends = (edge.source, edge.target, edge.source_label, edge.target_label)
    return MirrorEdge(edge.type, *ends, cypher_properties(edge.properties))


def _zone(connection: Connection, user_id: int) -> str:
    return users.get(connection, user_id).tz
