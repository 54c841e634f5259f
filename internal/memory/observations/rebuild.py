"""Nodes and edges brought in step after something else changed them: a merge, a split, what knowledge lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.graph import store
from internal.memory.model import Observation
from internal.memory.observations import repository as observation_repository
from internal.memory.observations import targets_repository
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
        home = _home(connection, user_id, observation, now)
        if home is None:
            observation_repository.remove(connection, user_id, [observation.id])
        elif home != observation.target:
            observation_repository.move(connection, user_id, [observation.id], home)
            touched.add(home)
    for edge_id in sorted(touched):
        projector.edge(edge_id)
    projector.record("system:memory")
    return projector.changes


def _home(connection: Connection, user_id: int, observation: Observation, now: datetime) -> str | None:
    """The edge that an observation tells of now; None if an end of it is gone or both are one."""
    properties: dict[str, Any] = dict(observation.properties)
    ends = [_followed(connection, user_id, properties[end]) for end in ("source", "target")]
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
