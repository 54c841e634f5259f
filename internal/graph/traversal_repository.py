"""Traverses one owner's graph breadth first, with one query for each hop and direction over batches of nodes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, and_, select

from internal.errors import NotFound
from internal.graph import store
from internal.graph.edge_repository import holding
from internal.graph.model import CURRENT_EDGES, EdgeFilter
from internal.graph.node_repository import VISIBLE
from internal.storage.chunks import chunks
from internal.storage.forgetting import hidings
from internal.storage.tables import graph_edges, graph_nodes

BATCH: Final = 5_000
"""Most nodes of one query; SQLite takes 32,766 values."""

MAX_NODES: Final = 10_000
"""Most nodes that one traversal visits: limits its time and memory."""

_MAX_STEPS: Final = 5 * MAX_NODES


def distances(
    connection: Connection, user_id: int, start: str, *, hops: int, now: datetime, edges: EdgeFilter = CURRENT_EDGES
) -> dict[str, int]:
    """The distance in hops of every visible node within `hops` from the start, which is included with 0.

    `now` decides which edges still hold. Raises NotFound for a start that this owner does not have.
    """
    if store.get_node(connection, user_id, start) is None:
        raise NotFound(f"there is no node {start}")
    away, frontier = {start: 0}, [start]
    for hop in range(1, hops + 1):
        steps = _steps(connection, user_id, frontier, edges, now, limit=_MAX_STEPS)
        frontier = sorted(set(steps) - away.keys())[: MAX_NODES - len(away)]
        if not frontier:
            break
        away |= dict.fromkeys(frontier, hop)
    return away


def _steps(
    connection: Connection, user_id: int, frontier: Sequence[str], wanted: EdgeFilter, now: datetime, *, limit: int
) -> Iterator[str]:
    """The visible nodes one hop away from a batch of nodes; at most `limit` from each query."""
    edge = graph_edges.c
    for near, far in ((edge.source, edge.target), (edge.target, edge.source)):
        there = and_(graph_nodes.c.user_id == edge.user_id, graph_nodes.c.id == far, VISIBLE)
        query = select(far).join_from(graph_edges, graph_nodes, there)
        query = query.where(graph_edges.c.user_id == user_id, hidings.visible(graph_edges.c.id), *holding(wanted, now))
        for chunk in chunks(frontier, BATCH):
            # If there are more, always the same ones.
            batch = query.where(near.in_(chunk)).order_by(near, edge.id).limit(limit)
            yield from connection.execute(batch).scalars()
