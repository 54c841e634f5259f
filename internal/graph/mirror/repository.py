"""Queries of mirrors: changes after a cursor, current nodes and edges, and the cursors."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from internal.graph.edge_repository import edge_of
from internal.graph.model import Edge, Node
from internal.graph.node_repository import VISIBLE, node_of
from internal.storage.chunks import chunks
from internal.storage.engine.commit_order import ReadPosition, read_on
from internal.storage.engine.upsert import upsert
from internal.storage.forgetting import hidings
from internal.storage.tables import changes, graph_edges, graph_nodes, mirrors, users

_SOURCE, _TARGET = graph_nodes.alias("source_node"), graph_nodes.alias("target_node")
_ENDS: Final = ("source", "target")


@dataclass(frozen=True, slots=True)
class GraphChange:
    seq: int
    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class LabelledEdge:
    """An edge with the labels of its ends."""

    edge: Edge
    source_label: str
    target_label: str


def changed_owners(connection: Connection, since: ReadPosition) -> tuple[set[int], ReadPosition]:
    """Owners with changes after this position of the log, and the last position read."""
    fresh, here = read_on(connection, changes, since)
    query = select(changes.c.user_id).where(fresh).distinct()
    return set(connection.execute(query).scalars()), here


def newest(connection: Connection, user_id: int) -> int:
    """An owner's last change; 0 if there is none."""
    query = select(func.max(changes.c.seq)).where(changes.c.user_id == user_id)
    return int(connection.execute(query).scalar_one() or 0)


def changes_after(connection: Connection, user_id: int, seq: int, limit: int) -> list[GraphChange]:
    """At most `limit` of an owner's changes after a position of the log, in their order."""
    ours = (changes.c.user_id == user_id) & (changes.c.seq > seq)
    query = select(changes.c.seq, changes.c.kind, changes.c.id).where(ours).order_by(changes.c.seq).limit(limit)
    return [GraphChange(*row) for row in connection.execute(query)]


def cursor(connection: Connection, user_id: int, target: str) -> int | None:
    """The cursor of an owner's mirror; None for one that was never built."""
    one = (mirrors.c.user_id == user_id) & (mirrors.c.target == target)
    return connection.execute(select(mirrors.c.seq).where(one)).scalar_one_or_none()


def move_cursor(connection: Connection, user_id: int, target: str, seq: int, now: datetime) -> None:
    row = upsert(mirrors).values(user_id=user_id, target=target, seq=seq, at=now)
    moved = {"seq": row.excluded.seq, "at": row.excluded.at}
    connection.execute(row.on_conflict_do_update(index_elements=["user_id", "target"], set_=moved))


def followed(connection: Connection, target: str) -> list[int]:
    """The owners whose mirror was built there."""
    return list(connection.execute(select(mirrors.c.user_id).where(mirrors.c.target == target)).scalars())


def lag(connection: Connection, target: str) -> int:
    """The number of changes of all owners that this mirror has not applied."""
    seen = select(func.coalesce(func.max(mirrors.c.seq), 0)).where(
        mirrors.c.user_id == users.c.user_id, mirrors.c.target == target
    )
    # Correlated explicitly: otherwise the inner query, two levels deep, would find any owner's position.
    unseen = changes.c.seq > seen.correlate(users).scalar_subquery()
    behind = select(func.count()).where(changes.c.user_id == users.c.user_id, unseen)
    total = select(func.coalesce(func.sum(behind.correlate(users).scalar_subquery()), 0)).select_from(users)
    return int(connection.execute(total).scalar_one())


def has_nodes(connection: Connection, user_id: int) -> bool:
    query = select(graph_nodes.c.id).where(graph_nodes.c.user_id == user_id, VISIBLE).limit(1)
    return connection.execute(query).first() is not None


def nodes_behind(connection: Connection, user_id: int, after: str, limit: int) -> list[Node]:
    """At most `limit` visible nodes with ids after this one, in the order of their ids."""
    query = select(graph_nodes).where(graph_nodes.c.user_id == user_id, graph_nodes.c.id > after, VISIBLE)
    return [node_of(row) for row in connection.execute(query.order_by(graph_nodes.c.id).limit(limit))]


def edges_behind(connection: Connection, user_id: int, after: str, limit: int) -> list[LabelledEdge]:
    """At most `limit` visible edges with ids after this one, in the order of their ids."""
    query = _edges(user_id).where(graph_edges.c.id > after).order_by(graph_edges.c.id).limit(limit)
    return _found(connection, query)


def edges_by_ids(connection: Connection, user_id: int, ids: Collection[str]) -> list[LabelledEdge]:
    """The visible edges among these."""
    return [
        edge
        for part in chunks(sorted(set(ids)))
        for edge in _found(connection, _edges(user_id).where(graph_edges.c.id.in_(part)))
    ]


def edges_at(connection: Connection, user_id: int, node_ids: Collection[str]) -> list[LabelledEdge]:
    """The visible edges at these nodes, each once."""
    found = {
        edge.edge.id: edge
        for part in chunks(sorted(set(node_ids)))
        for end in _ENDS  # one search for each end: with OR, SQLite would read all edges of the owner
        for edge in _found(connection, _edges(user_id).where(graph_edges.c[end].in_(part)))
    }
    return list(found.values())


def _edges(user_id: int) -> Select[Any]:
    labels = (_SOURCE.c.label.label("source_label"), _TARGET.c.label.label("target_label"))
    query = select(graph_edges, *labels).select_from(graph_edges)
    for node, end in ((_SOURCE, "source"), (_TARGET, "target")):
        same = (node.c.user_id == graph_edges.c.user_id) & (node.c.id == graph_edges.c[end])
        query = query.join(node, same & node.c.merged_into.is_(None) & hidings.visible(node.c.id))
    return query.where(graph_edges.c.user_id == user_id, hidings.visible(graph_edges.c.id))


def _found(connection: Connection, query: Select[Any]) -> list[LabelledEdge]:
    rows = connection.execute(query)
    return [LabelledEdge(edge_of(row), row.source_label, row.target_label) for row in rows]
