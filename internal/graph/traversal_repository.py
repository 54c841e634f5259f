"""Queries of traversals: the nodes one hop on from a batch of nodes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, and_, select

from internal.graph.edge_repository import holding
from internal.graph.model import EdgeFilter
from internal.graph.node_repository import VISIBLE
from internal.storage.chunks import chunks
from internal.storage.erasure import hidings
from internal.storage.tables import graph_edges, graph_nodes

BATCH: Final = 5_000
"""Nodes of one query; SQLite takes 32,766 values."""


def steps(
    connection: Connection, user_id: int, frontier: Sequence[str], wanted: EdgeFilter, now: datetime, *, limit: int
) -> Iterator[str]:
    """The visible nodes one hop on from a batch of nodes; at most `limit` a query."""
    edge = graph_edges.c
    for near, far in ((edge.source, edge.target), (edge.target, edge.source)):
        there = and_(graph_nodes.c.user_id == edge.user_id, graph_nodes.c.id == far, VISIBLE)
        query = select(far).join_from(graph_edges, graph_nodes, there)
        query = query.where(graph_edges.c.user_id == user_id, hidings.visible(graph_edges.c.id), *holding(wanted, now))
        for chunk in chunks(frontier, BATCH):
            # Where there are more, the same ones each time.
            batch = query.where(near.in_(chunk)).order_by(near, edge.id).limit(limit)
            yield from connection.execute(batch).scalars()
