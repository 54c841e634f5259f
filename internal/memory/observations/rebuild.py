"""Nodes and edges brought in step after something else changed them: a merge, a split, what knowledge lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.graph import store
from internal.memory.model import Observation
from internal.memory.observations import repository as observations
from internal.memory.observations import targets_repository as targets
from internal.memory.observations.changes import MemoryChanges
from internal.memory.observations.projection import Projector


def project_nodes(connection: Connection, user_id: int, node_ids: Iterable[str], *, now: datetime) -> MemoryChanges:
    """Brings these nodes in step with what is told of them; entities are passed over."""
    projector = Projector(connection, user_id, now=now)
    for node_id in sorted(set(node_ids)):
        projector.node(node_id)
    projector.record("system:memory")
    return projector.changes


def reproject(connection: Connection, user_id: int, node_ids: Collection[str], *, now: datetime) -> MemoryChanges:
    """Brings the edges at these nodes in step after a merge or a split of them.

    An edge tells as it was written, of two nodes by their ids: what a merge took for a double of another supports that
    one from now on, and after a split each supports its own again.
    """
    projector = Projector(connection, user_id, now=now)
    told = observations.without_edge(connection, user_id)
    edges = [
        edge.id
        for node_id in sorted(set(node_ids))
        for end in ("source", "target")
        for edge in targets.edges_at(connection, user_id, node_id, end)
    ]
    told += [one for listed in observations.of_targets(connection, user_id, edges).values() for one in listed]
    touched = {one.target for one in told}
    for one in told:
        home = _home(connection, user_id, one, now)
        if home is None:
            observations.remove(connection, user_id, [one.id])
        elif home != one.target:
            observations.move(connection, user_id, [one.id], home)
            touched.add(home)
    for edge_id in sorted(touched):
        projector.edge(edge_id)
    projector.record("system:memory")
    return projector.changes


def _home(connection: Connection, user_id: int, one: Observation, now: datetime) -> str | None:
    """The edge that an observation tells of now; None if an end of it is gone or both are one."""
    told: dict[str, Any] = dict(one.properties)
    ends = [_followed(connection, user_id, told[end]) for end in ("source", "target")]
    source, target = ends
    if source is None or target is None or source == target:
        return None
    edge = targets.edge_between(connection, user_id, told["type"], source, target)
    if edge is None:
        edge = store.add_edge(
            connection, user_id, told["type"], source, target, told["attributes"], now=now, run_id=one.run_id
        )
    return edge.id


def _followed(connection: Connection, user_id: int, node_id: str) -> str | None:
    """The node that an id means now, hidden or not."""
    seen: set[str] = set()
    while node_id not in seen:
        seen.add(node_id)
        node = store.get_node(connection, user_id, node_id, hidden=True)
        if node is None or node.merged_into is None:
            return None if node is None else node.id
        node_id = node.merged_into
    return None
