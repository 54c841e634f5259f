"""Projects nodes and edges again after a merge, a split or a removal in the knowledge graph."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.graph import store
from internal.memory.model import Observation
from internal.memory.observations import repository as observation_repository
from internal.memory.observations import targets_repository
from internal.memory.observations.changes import MemoryChanges
from internal.memory.observations.projection import MemoryProjector


def project_nodes(connection: Connection, user_id: int, node_ids: Iterable[str], *, now: datetime) -> MemoryChanges:
    """Projects these nodes; entities are skipped."""
    projector = MemoryProjector(connection, user_id, now=now)
    for node_id in sorted(set(node_ids)):
        projector.node(node_id)
    projector.record("system:memory")
    return projector.changes


def reproject(connection: Connection, user_id: int, node_ids: Collection[str], *, now: datetime) -> MemoryChanges:
    """Projects the edges at these nodes after a merge or a split of them.

    Observations of an edge hold the ids of its nodes: after a merge those of a duplicate edge support the remaining
    one, and after a split each supports its own again.
    """
    projector = MemoryProjector(connection, user_id, now=now)
    observations = observation_repository.without_edge(connection, user_id)
    edges = [
        edge.id
        for node_id in sorted(set(node_ids))
        for end in ("source", "target")
        for edge in targets_repository.edges_at(connection, user_id, node_id, end)
    ]
    observations += [
        observation
        for listed in observation_repository.of_targets(connection, user_id, edges).values()
        for observation in listed
    ]
    touched = {observation.target for observation in observations}
    for observation in observations:
        edge_id = _current_edge(connection, user_id, observation, now)
        if edge_id is None:
            observation_repository.remove(connection, user_id, [observation.id])
        elif edge_id != observation.target:
            observation_repository.move(connection, user_id, [observation.id], edge_id)
            touched.add(edge_id)
    for edge_id in sorted(touched):
        projector.edge(edge_id)
    projector.record("system:memory")
    return projector.changes


def _current_edge(connection: Connection, user_id: int, observation: Observation, now: datetime) -> str | None:
    """The edge that an observation supports now; None if an end is gone or both are the same node."""
    properties: dict[str, Any] = dict(observation.properties)
    ends = [_resolve(connection, user_id, properties[end]) for end in ("source", "target")]
    source, target = ends
    if source is None or target is None or source == target:
        return None
    edge = targets_repository.edge_between(connection, user_id, properties["type"], source, target)
    if edge is None:
        edge = store.add_edge(
            connection,
            user_id,
            properties["type"],
            source,
            target,
            properties["attributes"],
            now=now,
            run_id=observation.run_id,
        )
    return edge.id


def _resolve(connection: Connection, user_id: int, node_id: str) -> str | None:
    """The node that an id means now, hidden or not."""
    seen: set[str] = set()
    while node_id not in seen:
        seen.add(node_id)
        node = store.get_node(connection, user_id, node_id, hidden=True)
        if node is None or node.merged_into is None:
            return None if node is None else node.id
        node_id = node.merged_into
    return None
