"""The example queries of the memory-graph specification as SQL, each named as there, and pages of one kind."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, FromClause, Select, and_, bindparam, func, or_, select

from internal.graph import store
from internal.graph.model import Node
from internal.graph.node_repository import VISIBLE, node_of
from internal.language.text.spelling import name_key
from internal.storage.forgetting import hidings
from internal.storage.tables import graph_edges, graph_nodes

_memory: Final = graph_nodes.alias("memory")
_other: Final = graph_nodes.alias("other")
_edge: Final = graph_edges.alias("edge")

_ONE_MEMORY: Final = (_memory.c.user_id, _memory.c.id)
"""The whole primary key, so that a group by it has one value of every other column."""


def about_concept(connection: Connection, user_id: int, concept: str, limit: int) -> list[Node]:
    """(m:Memory)-[:HAS_CONCEPT]->(c:Concept {name}): those never accessed first, as in Cypher, then the last accessed.

    The concepts have exactly this name, else a name that differs in case only.
    """
    query = _pairs(user_id, "HAS_CONCEPT", _memory, "Memory", _other, "Concept")
    order = (_memory.c.last_accessed.desc().nulls_first(), _memory.c.created_at.desc(), _memory.c.id)
    chosen = query.with_only_columns(_memory.c.id).where(_other.c.id.in_(_named(connection, user_id, concept)))
    # Grouped, so that a memory with two concepts of the name is found once.
    ids = connection.execute(chosen.group_by(*_ONE_MEMORY).order_by(*order).limit(limit)).scalars().all()
    return _read(connection, user_id, ids)


def answering(connection: Connection, user_id: int, limit: int) -> list[tuple[Node, Node]]:
    """(q:Question {status: 'open'})<-[:PARTIALLY_ANSWERS]-(m:Memory): (question, memory), oldest question first."""
    query = _pairs(user_id, "PARTIALLY_ANSWERS", _memory, "Memory", _other, "Question")
    return _in_pairs(connection, user_id, query.where(_other.c.status == "open"), limit)


def contradicting(connection: Connection, user_id: int, limit: int) -> list[tuple[Node, Node]]:
    """(c:Contradiction {status: 'unresolved'})-[:CONFLICTS_WITH]->(m:Memory): (contradiction, memory), oldest first."""
    query = _pairs(user_id, "CONFLICTS_WITH", _other, "Contradiction", _memory, "Memory")
    return _in_pairs(connection, user_id, query.where(_other.c.status == "unresolved"), limit)


def preferences(connection: Connection, user_id: int, category: str | None, limit: int) -> list[Node]:
    """(p:Preference {category}), strongest first; None: of every category."""
    node = graph_nodes.c
    query = select(node.id).where(*_visible(graph_nodes, user_id, "Preference"))
    if category is not None:
        query = query.where(node.props["category"].as_string() == category)
    order = (node.props["strength"].as_float().desc().nulls_first(), node.created_at, node.id)
    return _read(connection, user_id, connection.execute(query.order_by(*order).limit(limit)).scalars().all())


def sharing_concepts(connection: Connection, user_id: int, memory_id: str, limit: int) -> list[Node]:
    """(m1:Memory {id})-[:HAS_CONCEPT]->(c:Concept)<-[:HAS_CONCEPT]-(m2:Memory): each m2 once, most shared first."""
    own = graph_edges.alias("own")
    ours = and_(own.c.user_id == user_id, own.c.source == memory_id, own.c.type == "HAS_CONCEPT")
    query = _pairs(user_id, "HAS_CONCEPT", _memory, "Memory", _other, "Concept")
    query = query.join(own, and_(ours, own.c.target == _other.c.id, hidings.visible(own.c.id)))
    shared = func.count(_other.c.id.distinct())
    order = (shared.desc(), _memory.c.created_at.desc(), _memory.c.id)
    chosen = query.with_only_columns(_memory.c.id).where(_memory.c.id != memory_id)
    ids = connection.execute(chosen.group_by(*_ONE_MEMORY).order_by(*order).limit(limit)).scalars().all()
    return _read(connection, user_id, ids)


def _named(connection: Connection, user_id: int, concept: str) -> list[str]:
    node = graph_nodes.c
    same = node.name_key == name_key(concept)
    found = connection.execute(select(node.id, node.name).where(*_visible(graph_nodes, user_id, "Concept"), same)).all()
    return [row.id for row in found if row.name == concept] or [row.id for row in found]


def _pairs(
    user_id: int, type: str, source: FromClause, source_label: str, target: FromClause, target_label: str
) -> Select[Any]:
    """The (memory, other) at the ends of the visible edges of one relationship."""
    return (
        select(_memory.c.id.label("memory"), _other.c.id.label("other"))
        .select_from(_edge)
        .join(source, _edge.c.source == source.c.id)
        .join(target, _edge.c.target == target.c.id)
        .where(_edge.c.user_id == user_id, _edge.c.type == type, hidings.visible(_edge.c.id))
        .where(*_visible(source, user_id, source_label), *_visible(target, user_id, target_label))
    )


def _in_pairs(connection: Connection, user_id: int, query: Select[Any], limit: int) -> list[tuple[Node, Node]]:
    order = (_other.c.created_at, _other.c.id, _memory.c.created_at, _memory.c.id)
    grouped = query.group_by(_other.c.user_id, _other.c.id, *_ONE_MEMORY).order_by(*order).limit(limit)
    rows = connection.execute(grouped).all()
    nodes = store.nodes_by_ids(connection, user_id, {end for row in rows for end in (row.other, row.memory)})
    return [(nodes[row.other], nodes[row.memory]) for row in rows]


def _read(connection: Connection, user_id: int, ids: Sequence[str]) -> list[Node]:
    nodes = store.nodes_by_ids(connection, user_id, ids)
    return [nodes[id] for id in ids]


def _visible(node: FromClause, user_id: int, label: str) -> tuple[ColumnElement[bool], ...]:
    return (node.c.user_id == user_id, node.c.label == label, node.c.merged_into.is_(None), hidings.visible(node.c.id))


def listing(
    connection: Connection, user_id: int, label: str, statuses: Collection[str] = (), *, limit: int, offset: int = 0
) -> list[Node]:
    """Visible nodes of a label with these statuses (() = any, "" = none), by due date, then the newest.

    Memories that lost a contradiction are left out.
    """
    page = {"owner": user_id, "most": limit, "skipped": offset}
    return [node_of(row) for row in connection.execute(_page(label, tuple(statuses)), page)]


def count(connection: Connection, user_id: int, label: str, statuses: Collection[str] = ()) -> int:
    """The number of nodes that `listing` would find."""
    counted = _chosen(label, statuses).with_only_columns(func.count())
    return connection.execute(counted, {"owner": user_id}).scalar_one()


@lru_cache(maxsize=100)
def _page(label: str, statuses: tuple[str, ...]) -> Select[Any]:
    """The statement of a page, built once, because every question lists the owner's instructions."""
    node = graph_nodes.c
    due = [node.at.is_(None), node.at] if label == "Goal" else []
    said = func.coalesce(node.said_at, node.created_at)
    ordered = _chosen(label, statuses).order_by(*due, said.desc(), node.id.desc())
    return ordered.limit(bindparam("most")).offset(bindparam("skipped"))


def _chosen(label: str, statuses: Collection[str]) -> Select[Any]:
    edge, owner = graph_edges.c, bindparam("owner", type_=graph_nodes.c.user_id.type)
    lost = select(edge.target).where(edge.user_id == owner, edge.type == "SUPERSEDES", hidings.visible(edge.id))
    query = select(graph_nodes).where(graph_nodes.c.user_id == owner, graph_nodes.c.label == label, VISIBLE)
    if label == "Memory":
        query = query.where(graph_nodes.c.id.not_in(lost))
    states = [graph_nodes.c.status == status if status else graph_nodes.c.status.is_(None) for status in statuses]
    return query.where(or_(*states)) if states else query
