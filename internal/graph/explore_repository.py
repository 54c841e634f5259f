"""Queries of the graph explorer: the newest edges at a node, edges between nodes, nodes to begin with."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, union_all

from internal.graph.edge_repository import edge_of, holding, visible
from internal.graph.model import Edge, EdgeFilter
from internal.graph.node_repository import VISIBLE
from internal.graph.relationships import FACT
from internal.storage.forgetting import hidings
from internal.storage.tables import graph_edges, graph_nodes

_ENDS: Final = (("source", "target"), ("target", "source"))
_WHEN: Final = func.coalesce(graph_edges.c.valid_at, graph_edges.c.created_at)


def latest_edges(
    connection: Connection, user_id: int, node_id: str, wanted: EdgeFilter, *, now: datetime, limit: int
) -> tuple[list[Edge], int]:
    """The visible edges at a node in either direction, newest first, and their total number."""
    sides = [
        select(graph_edges.c.id, _WHEN.label("at"))
        .select_from(graph_edges)
        .join(graph_nodes, and_(graph_nodes.c.user_id == user_id, graph_nodes.c.id == graph_edges.c[far], VISIBLE))
        .where(
            graph_edges.c.user_id == user_id,
            graph_edges.c[near] == node_id,
            hidings.visible(graph_edges.c.id),
            _edge_time(wanted),
            *holding(wanted, now),
        )
        for near, far in _ENDS
    ]
    both = union_all(*sides).subquery()
    count = connection.execute(select(func.count()).select_from(both)).scalar_one()
    newest = select(both.c.id).order_by(both.c.at.desc(), both.c.id).limit(limit)
    ids = list(connection.execute(newest).scalars())
    rows = connection.execute(select(graph_edges).where(graph_edges.c.user_id == user_id, graph_edges.c.id.in_(ids)))
    found = {row.id: edge_of(row) for row in rows}
    return [found[edge_id] for edge_id in ids], count


def edges_between(
    connection: Connection,
    user_id: int,
    one: Collection[str],
    other: Collection[str],
    wanted: EdgeFilter,
    *,
    now: datetime,
    limit: int,
) -> list[Edge]:
    """The visible edges in both directions between two sets of at most some thousand nodes.

    If a direction has more than `limit`, always the same ones are chosen.
    """
    found: dict[str, Edge] = {}
    for near, far in _ENDS:
        ends = graph_edges.c[near].in_(list(one)), graph_edges.c[far].in_(list(other))
        query = select(graph_edges).where(graph_edges.c.user_id == user_id, *ends, _edge_time(wanted), *visible())
        query = query.where(*holding(wanted, now)).order_by(graph_edges.c[near], graph_edges.c.id)
        rows = connection.execute(query.limit(limit))
        found |= {row.id: edge_of(row) for row in rows}
    return list(found.values())


def busiest(connection: Connection, user_id: int, *, limit: int) -> Sequence[str]:
    """The ids of the visible nodes with the most edges, most first."""
    ends = union_all(
        *(
            select(graph_edges.c[end].label("id")).where(
                graph_edges.c.user_id == user_id, hidings.visible(graph_edges.c.id)
            )
            for end, _ in _ENDS
        )
    ).subquery()
    query = (
        select(ends.c.id)
        .join(graph_nodes, and_(graph_nodes.c.user_id == user_id, graph_nodes.c.id == ends.c.id, VISIBLE))
        .group_by(ends.c.id)
        .order_by(func.count().desc(), ends.c.id)
        .limit(limit)
    )
    return connection.execute(query).scalars().all()


def _edge_time(wanted: EdgeFilter) -> ColumnElement[bool]:
    """The time of an edge: the beginning of a fact, else the time of storing."""
    if wanted.at is None:
        return graph_edges.c.id.is_not(None)
    return or_(graph_edges.c.type == FACT, graph_edges.c.created_at <= wanted.at)
