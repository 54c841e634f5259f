"""Pages of memories of one kind."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, or_, select

from internal.graph.model import Node
from internal.graph.node_repository import VISIBLE, node_of
from internal.storage.erasure import hidings
from internal.storage.tables import graph_edges, graph_nodes


def listing(
    connection: Connection,
    user_id: int,
    label: str,
    statuses: Collection[str] = (),
    *,
    limit: int,
    offset: int = 0,
) -> list[Node]:
    """Visible nodes of a label with these statuses (() = any, "" = none), by due date, then the newest.

    Memories that lost a contradiction are left out.
    """
    page = {"owner": user_id, "most": limit, "skipped": offset}
    return [node_of(row) for row in connection.execute(_page(label, tuple(statuses)), page)]


def count(connection: Connection, user_id: int, label: str, statuses: Collection[str] = ()) -> int:
    """How many there are."""
    counted = _chosen(label, statuses).with_only_columns(func.count())
    return connection.execute(counted, {"owner": user_id}).scalar_one()


@lru_cache(maxsize=100)
def _page(label: str, statuses: tuple[str, ...]) -> Select[Any]:
    """Built once, for every question lists the owner's instructions."""
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
