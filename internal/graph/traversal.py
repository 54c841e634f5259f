"""Traverses one owner's graph breadth first, with one query for each hop and direction over batches of nodes."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.graph import store, traversal_repository
from internal.graph.model import CURRENT_EDGES, EdgeFilter

MAX_NODES: Final = 10_000
"""Most nodes that one traversal visits: limits its time and memory."""

_MAX_STEPS: Final = 5 * MAX_NODES


def distances(
    connection: Connection, user_id: int, start: str, *, hops: int, now: datetime, edges: EdgeFilter = CURRENT_EDGES
) -> dict[str, int]:
    """How many hops away every visible node within `hops` is, the start (0) included.

    `now` decides which edges still hold. Raises NotFound for a start that this owner does not have.
    """
    if store.get_node(connection, user_id, start) is None:
        raise NotFound(f"there is no node {start}")
    away, frontier = {start: 0}, [start]
    for hop in range(1, hops + 1):
        steps = traversal_repository.steps(connection, user_id, frontier, edges, now, limit=_MAX_STEPS)
        frontier = sorted(set(steps) - away.keys())[: MAX_NODES - len(away)]
        if not frontier:
            break
        away |= dict.fromkeys(frontier, hop)
    return away
