"""Queries of traversals: edges from a batch of nodes, and nodes that pass a filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, and_, select

from internal.graph.edge_repository import holding
from internal.graph.model import Direction, EdgeFilter, NodeFilter
from internal.graph.node_repository import VISIBLE, matching
from internal.storage.chunks import chunks
from internal.storage.erasure import hidings
from internal.storage.tables import graph_edges, graph_nodes

BATCH: Final = 5_000
"""Nodes of one query; SQLite takes 32,766 values."""

_SIDES: Final[dict[Direction, tuple[tuple[str, str], ...]]] = {
    "out": (("source", "target"),),
    "in": (("target", "source"),),
    "both": (("source", "target"), ("target", "source")),
}


def steps(
    connection: Connection, user_id: int, frontier: Sequence[str], wanted: EdgeFilter, now: datetime, *, limit: int
) -> Iterator[tuple[str, str, str]]:
    """(node, visible node one hop on, edge between them) from a batch of nodes; at most `limit` a query."""
    for near, far in _SIDES[wanted.direction]:
        ends = graph_edges.c[near], graph_edges.c[far]
        there = and_(graph_nodes.c.user_id == graph_edges.c.user_id, graph_nodes.c.id == ends[1], VISIBLE)
        query = select(*ends, graph_edges.c.id).join_from(graph_edges, graph_nodes, there)
        query = query.where(graph_edges.c.user_id == user_id, hidings.visible(graph_edges.c.id), *holding(wanted, now))
        for chunk in chunks(frontier, BATCH):
            batch = query.where(ends[0].in_(chunk))
            # Where there are more, the same ones each time.
            batch = batch.order_by(ends[0], graph_edges.c.id).limit(limit)
            yield from (tuple(row) for row in connection.execute(batch))


def matching_ids(connection: Connection, user_id: int, ids: Sequence[str], wanted: NodeFilter) -> set[str]:
    """Those of these nodes that pass the filter."""
    found: set[str] = set()
    for chunk in chunks(ids, BATCH):
        one = graph_nodes.c.id.in_(chunk)
        query = select(graph_nodes.c.id).where(graph_nodes.c.user_id == user_id, one, *matching(wanted))
        found |= set(connection.execute(query).scalars())
    return found
