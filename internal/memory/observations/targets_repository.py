"""Queries for nodes, edges and suggestions of the memory graph, and the one node of each session."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, insert, select, update

from internal.graph import registry, store
from internal.graph.edge_repository import edge_of, visible
from internal.graph.model import Edge, Node
from internal.graph.node_repository import nodes_by_ids
from internal.memory.model import NodeRef
from internal.memory.observations.changes import MemorySuggestion, SessionRef
from internal.storage import evidence
from internal.storage.chunks import rows_of
from internal.storage.forgetting import hidings
from internal.storage.tables import claims, graph_edges, graph_nodes, suggestions
from internal.storage.types import new_id

SUGGESTION: Final = "memory"
"""The kind of suggestion about properties that the owner set."""

COMMON: Final = 30
"""Most memories that may share a concept or entity for it to count as something in common."""


def being_forgotten(connection: Connection, user_id: int, label: str, words: str) -> bool:
    """Whether a node of these words is hidden."""
    asked = {"owner": user_id, "label": label, "key": registry.key_of(label, words)}
    return connection.execute(_HIDDEN, asked).first() is not None


def edge_between(connection: Connection, user_id: int, type: str, source: str, target: str) -> Edge | None:
    """The edge of this type from one node to another, hidden or not."""
    asked = {"owner": user_id, "type": type, "begin": source, "end": target}
    row = connection.execute(_BETWEEN, asked).first()
    return None if row is None else edge_of(row)


def edges_at(connection: Connection, user_id: int, node_id: str, end: str, type: str | None = None) -> list[Edge]:
    """Edges that begin (`end` source) or end (target) at a node, hidden ones too, in the order of storing."""
    one = graph_edges.c[end] == node_id
    query = select(graph_edges).where(graph_edges.c.user_id == user_id, one, graph_edges.c.expired_at.is_(None))
    if type is not None:
        query = query.where(graph_edges.c.type == type)
    return [edge_of(row) for row in connection.execute(query.order_by(graph_edges.c.created_at, graph_edges.c.id))]


def edges_of(connection: Connection, user_id: int, node_id: str) -> list[Edge]:
    """The edges that begin at a node, then those that end at it, hidden ones too."""
    return [edge for end in ("source", "target") for edge in edges_at(connection, user_id, node_id, end)]


def is_linked(connection: Connection, user_id: int, type: str, one: str, other: str) -> bool:
    """Whether there is an edge of this type between two nodes in either direction."""
    return any(edge_between(connection, user_id, type, *ends) for ends in ((one, other), (other, one)))


def sharing(
    connection: Connection, user_id: int, memory_id: str, types: Collection[str], without: Collection[str], limit: int
) -> list[tuple[str, int]]:
    """Visible memories that share most neighbours by these edge types with this one, each with the number of them.

    A neighbour of more than COMMON memories is ignored.
    """
    shared: Counter[str] = Counter()
    for edge in edges_at(connection, user_id, memory_id, "source"):
        if edge.type in types and edge.target not in without:
            asked = {"owner": user_id, "type": edge.type, "end": edge.target}
            others = set(connection.execute(_SOURCES, asked).scalars()) - {memory_id}
            shared.update(others if len(others) <= COMMON else ())
    there = nodes_by_ids(connection, user_id, shared)
    ranked = sorted(there.values(), key=lambda node: (-shared[node.id], -node.created_at.timestamp(), node.id))
    return [(node.id, shared[node.id]) for node in ranked[:limit]]


def superseded(connection: Connection, user_id: int, node_ids: Collection[str]) -> set[str]:
    """The memories among these that lost a contradiction."""
    return {row[0] for row in rows_of(connection, _SUPERSEDED, node_ids, owner=user_id)}


def citing_episodes(connection: Connection, user_id: int, node_id: str) -> set[str]:
    """The episodes that cite a node as a thing of the knowledge graph."""
    return {episode_id for episode_id, _ in evidence.supporting_lines(connection, user_id, "entity", [node_id])}


def is_end_of_claim(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether a claim of the knowledge graph has this node at an end."""
    return any(
        connection.execute(
            select(claims.c.id).where(claims.c.user_id == user_id, claims.c[end] == node_id).limit(1)
        ).first()
        for end in ("source", "target")
    )


def observed_names(connection: Connection, user_id: int, labels: Collection[str]) -> list[Row[Any]]:
    """(id, label, properties) of every node of these labels, hidden ones too."""
    query = select(graph_nodes.c.id, graph_nodes.c.label, graph_nodes.c.props).where(
        graph_nodes.c.user_id == user_id, graph_nodes.c.label.in_(sorted(labels))
    )
    return list(connection.execute(query.order_by(graph_nodes.c.created_at, graph_nodes.c.id)))


def suggest(
    connection: Connection,
    user_id: int,
    node_id: str,
    field: str,
    value: Any,
    current: Any,
    *,
    now: datetime,
    run_id: str | None,
) -> str | None:
    """Stores a suggestion and returns its id; None if the same one is open or was declined before."""
    payload = {"node_id": node_id, "field": field, "value": value, "current": current}
    asked = select(suggestions.c.payload).where(
        *_about(user_id, node_id), suggestions.c.state.in_(("pending", "declined"))
    )
    if any((one["field"], one["value"]) == (field, value) for one in connection.execute(asked).scalars()):
        return None
    suggestion_id = new_id()
    row = {"user_id": user_id, "id": suggestion_id, "kind": SUGGESTION, "payload": payload, "state": "pending"}
    connection.execute(insert(suggestions).values(**row, run_id=run_id, created_at=now))
    return suggestion_id


def pending_suggestions(connection: Connection, user_id: int, *, limit: int = 100) -> list[MemorySuggestion]:
    """Pending suggestions about properties that the owner had set, oldest first."""
    one = (suggestions.c.kind == SUGGESTION) & (suggestions.c.state == "pending")
    query = select(suggestions).where(suggestions.c.user_id == user_id, one)
    rows = connection.execute(query.order_by(suggestions.c.created_at, suggestions.c.id).limit(limit))
    return [_suggestion(row) for row in rows]


def suggestion(connection: Connection, user_id: int, suggestion_id: str) -> tuple[MemorySuggestion, str] | None:
    """A suggestion with its state; None for an id of another kind."""
    one = (suggestions.c.id == suggestion_id) & (suggestions.c.kind == SUGGESTION)
    row = connection.execute(select(suggestions).where(suggestions.c.user_id == user_id, one)).one_or_none()
    return None if row is None else (_suggestion(row), row.state)


def decide(connection: Connection, user_id: int, suggestion_id: str, state: str, now: datetime) -> None:
    one = (suggestions.c.user_id == user_id) & (suggestions.c.id == suggestion_id)
    connection.execute(update(suggestions).where(one).values(state=state, decided_at=now))


def suggestions_about(connection: Connection, user_id: int, node_id: str) -> list[MemorySuggestion]:
    """All suggestions about a node."""
    return [_suggestion(row) for row in connection.execute(select(suggestions).where(*_about(user_id, node_id)))]


def drop_suggestion(connection: Connection, user_id: int, suggestion_id: str) -> None:
    one = (suggestions.c.user_id == user_id) & (suggestions.c.id == suggestion_id)
    connection.execute(delete(suggestions).where(one))


def drop_suggestions(connection: Connection, user_id: int, node_id: str) -> None:
    """Deletes all suggestions about a node, decided or not, because they hold words about it."""
    connection.execute(delete(suggestions).where(*_about(user_id, node_id)))


# Asked several times for each memory: built once, for building a statement takes longer than running it.
_HIDDEN: Final = (
    select(graph_nodes.c.id)
    .where(
        graph_nodes.c.user_id == bindparam("owner"),
        graph_nodes.c.label == bindparam("label"),
        graph_nodes.c.name_key == bindparam("key"),
        hidings.hidden(graph_nodes.c.id),
    )
    .limit(1)
)
_SOURCES: Final = (
    select(graph_edges.c.source)
    .where(
        graph_edges.c.user_id == bindparam("owner"),
        graph_edges.c.type == bindparam("type"),
        graph_edges.c.target == bindparam("end"),
    )
    .limit(COMMON + 2)
)
_SUPERSEDED: Final = select(graph_edges.c.target).where(
    graph_edges.c.user_id == bindparam("owner"),
    graph_edges.c.type == "SUPERSEDES",
    graph_edges.c.target.in_(bindparam("ids", expanding=True)),
    *visible(),
)
_BETWEEN: Final = (
    select(graph_edges)
    .where(
        graph_edges.c.user_id == bindparam("owner"),
        graph_edges.c.type == bindparam("type"),
        graph_edges.c.source == bindparam("begin"),
        graph_edges.c.target == bindparam("end"),
        graph_edges.c.expired_at.is_(None),
    )
    .order_by(graph_edges.c.created_at, graph_edges.c.id)
    .limit(1)
)


def _about(user_id: int, node_id: str) -> tuple[ColumnElement[bool], ...]:
    about = suggestions.c.payload["node_id"].as_string() == node_id
    return (suggestions.c.user_id == user_id, suggestions.c.kind == SUGGESTION, about)


def _suggestion(row: Row[Any]) -> MemorySuggestion:
    payload = row.payload
    return MemorySuggestion(
        row.id, payload["node_id"], payload["field"], payload["value"], payload["current"], row.created_at
    )


_SESSIONS: Final = UUID("6c61706c-6163-5564-b0b5-736573736f6e")
"""The namespace of session contexts; if it changed, every session would get a second one."""


def session_context_id(user_id: int, session_id: str) -> str:
    """The id of a session's Context, stored or not."""
    return str(uuid5(_SESSIONS, f"{user_id}:{session_id}"))


def session_context(user_id: int, session: SessionRef) -> tuple[NodeRef, str]:
    """The Context of a session as a reference, and its id. Its name holds no words of messages."""
    properties = {"name": f"session {session.opened_at:%Y-%m-%d %H:%M}", "type": "session"}
    return NodeRef("Context", properties), session_context_id(user_id, session.session_id)


def complete_session(connection: Connection, user_id: int, session_id: str, *, now: datetime) -> Node | None:
    """Marks the Context of a closed session as completed; None if nothing was remembered of the session."""
    node = store.get_node(connection, user_id, session_context_id(user_id, session_id), hidden=True)
    if node is None or node.owner_set("status"):
        return node
    return store.update_node(connection, user_id, node.id, {"status": "completed"}, now=now, by="session", hidden=True)
