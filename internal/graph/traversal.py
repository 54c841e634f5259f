"""Traverses one owner's graph: neighbours, nodes within some hops, shortest paths.

Breadth first, with one query for each hop and direction over batches of nodes. A node filter limits the results; paths
may lead over any visible node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.graph import store, traversal_repository
from internal.graph.model import ANY_NODE, CURRENT_EDGES, Direction, EdgeFilter, NodeFilter, Reached

MAX_NODES: Final = 10_000
"""Most nodes that one traversal visits: limits its time and memory."""

MAX_HOPS: Final = 6
"""The longest path."""

_MAX_STEPS: Final = 5 * MAX_NODES
_REVERSED: Final[Mapping[Direction, Direction]] = {"out": "in", "in": "out", "both": "both"}


def neighbours(
    connection: Connection,
    user_id: int,
    start: str,
    *,
    now: datetime,
    edges: EdgeFilter = CURRENT_EDGES,
    nodes: NodeFilter = ANY_NODE,
    limit: int = 100,
) -> list[Reached]:
    """The nodes one hop away, by id; otherwise as `within`."""
    return within(connection, user_id, start, hops=1, now=now, edges=edges, nodes=nodes, limit=limit)


def within(
    connection: Connection,
    user_id: int,
    start: str,
    *,
    hops: int,
    now: datetime,
    edges: EdgeFilter = CURRENT_EDGES,
    nodes: NodeFilter = ANY_NODE,
    limit: int = 1000,
) -> list[Reached]:
    """The nodes of this kind at most `hops` (up to MAX_HOPS) away, the start apart: nearest first, then by id.

    The traversal ends after MAX_NODES nodes. `now` decides which edges still hold. Raises NotFound for a start that
    this owner does not have.
    """
    walk = _walked(connection, user_id, start, hops, now, edges)
    found = [node_id for node_id in walk.seen if node_id != start]
    if nodes != ANY_NODE:
        wanted = traversal_repository.matching_ids(connection, user_id, found, nodes)
        found = [node_id for node_id in found if node_id in wanted]
    return _reached(connection, user_id, [(node_id, *walk.seen[node_id][::2]) for node_id in found[:limit]])


def distances(
    connection: Connection, user_id: int, start: str, *, hops: int, now: datetime, edges: EdgeFilter = CURRENT_EDGES
) -> dict[str, int]:
    """How many hops away every node within `hops` is, the start (0) included; as `within`, without reading nodes."""
    walk = _walked(connection, user_id, start, hops, now, edges)
    return {node_id: away for node_id, (away, _, _) in walk.seen.items()}


def shortest_path(
    connection: Connection,
    user_id: int,
    start: str,
    goal: str,
    *,
    now: datetime,
    edges: EdgeFilter = CURRENT_EDGES,
    max_hops: int = MAX_HOPS,
) -> list[Reached]:
    """A shortest path from the start (hops 0) to the goal, each node with the edge to it; empty if there is none.

    Searches from both ends, the narrower side first, up to MAX_NODES nodes each. Raises NotFound for an unknown end.
    """
    ahead = _Walk(connection, user_id, start, edges, now)
    back = _Walk(connection, user_id, goal, replace(edges, direction=_REVERSED[edges.direction]), now)
    meeting = _meeting(ahead, back, min(max_hops, MAX_HOPS))
    if meeting is None:
        return []
    way = ahead.way_to(meeting)
    # The way back was walked from the goal: there an edge stands beside the node before it.
    rest = back.way_to(meeting)
    way += [(node_id, rest[place + 1][1]) for place, (node_id, _) in enumerate(rest[:-1])][::-1]
    return _reached(connection, user_id, [(node_id, away, edge) for away, (node_id, edge) in enumerate(way)])


class _Walk:
    """What was visited from one end: node -> (hops, the node before it, the edge between them)."""

    def __init__(self, connection: Connection, user_id: int, start: str, edges: EdgeFilter, now: datetime) -> None:
        if store.get_node(connection, user_id, start) is None:
            raise NotFound(f"there is no node {start}")
        self._connection, self._user_id, self._edges, self._now = connection, user_id, edges, now
        self.seen: dict[str, tuple[int, str | None, str | None]] = {start: (0, None, None)}
        self.frontier = [start]
        self.hops = 0

    def step(self) -> None:
        """One hop farther. Of several edges to a node the one with the smallest id counts, so that walks agree."""
        self.hops += 1
        fresh: dict[str, tuple[str, str]] = {}
        steps = traversal_repository.steps(
            self._connection, self._user_id, self.frontier, self._edges, self._now, limit=_MAX_STEPS
        )
        for near, far, edge_id in steps:
            if far not in self.seen and (far not in fresh or (edge_id, near) < fresh[far]):
                fresh[far] = (edge_id, near)
        self.frontier = sorted(fresh)[: MAX_NODES - len(self.seen)]
        for far in self.frontier:
            edge_id, near = fresh[far]
            self.seen[far] = (self.hops, near, edge_id)

    def way_to(self, node_id: str) -> list[tuple[str, str | None]]:
        """(node, edge that led to it) from the walk's start to this node."""
        way: list[tuple[str, str | None]] = []
        current: str | None = node_id
        while current is not None:
            _, before, edge_id = self.seen[current]
            way.append((current, edge_id))
            current = before
        return way[::-1]


def _walked(connection: Connection, user_id: int, start: str, hops: int, now: datetime, edges: EdgeFilter) -> _Walk:
    walk = _Walk(connection, user_id, start, edges, now)
    while walk.frontier and walk.hops < min(hops, MAX_HOPS):
        walk.step()
    return walk


def _meeting(ahead: _Walk, back: _Walk, max_hops: int) -> str | None:
    """The node where both walks meet on a shortest way. The first hop on which they touch is a shortest one."""
    while True:
        shared = ahead.seen.keys() & back.seen.keys()
        if shared:
            return min(shared, key=lambda node_id: (ahead.seen[node_id][0] + back.seen[node_id][0], node_id))
        if not ahead.frontier or not back.frontier or ahead.hops + back.hops >= max_hops:
            return None
        (ahead if len(ahead.frontier) <= len(back.frontier) else back).step()


def _reached(connection: Connection, user_id: int, found: Iterable[tuple[str, int, str | None]]) -> list[Reached]:
    """Nodes and edges of a walk, (node, hops, edge), read in one go."""
    steps = list(found)
    nodes = store.nodes_by_ids(connection, user_id, [node_id for node_id, _, _ in steps])
    edges = store.edges_by_ids(connection, user_id, [edge_id for _, _, edge_id in steps if edge_id is not None])
    return [Reached(nodes[node_id], away, edges[edge_id] if edge_id else None) for node_id, away, edge_id in steps]
