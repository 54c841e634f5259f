"""Removes observations that lost all lines, and the nodes and edges that nothing supports any more.

Nodes then follow from the remaining observations. Nodes and edges are also projected again after a merge, a split or
a removal in the knowledge graph.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.graph import store
from internal.graph.labels import NODES
from internal.graph.model import Node
from internal.graph.relationships import FACT
from internal.memory.model import MEMORY_LABELS, NAMING, Observation
from internal.memory.observations import repository as observation_repository, targets_repository
from internal.memory.observations.changes import MemoryChanges, Removal
from internal.memory.observations.projection import MemoryProjector, texts_of
from internal.storage.evidence import Lines

_SOURCE: Final = "system:forgetting"

_SENTENCES: Final = tuple(label for label in MEMORY_LABELS if NODES[label].sentence and label != "TemporalMarker")
"""Labels of nodes that are sentences; a bare name repeats nothing of what was said."""


def remove_episode(connection: Connection, user_id: int, episode_id: str, *, now: datetime) -> Removal:
    """Removes the observations of an episode. Call it before the evidence of the episode is deleted."""
    observations = observation_repository.of_episode(connection, user_id, episode_id)
    return ObservationRemover(connection, user_id, now=now).remove(observations)


def remove_messages(connection: Connection, user_id: int, message_ids: Collection[str], *, now: datetime) -> Removal:
    """Removes what only these messages support. Call it before their evidence is deleted.

    Observations with other lines stay, unless they hold a word that only the removed lines said.
    """
    lines = Lines(message_ids=set(message_ids))
    stored = observation_repository.stored
    observations = stored.supported_by(connection, user_id, lines)
    unsupported = stored.supported_alone_by(connection, user_id, lines, lambda one: texts_of(one.properties))
    stored.withdraw(connection, user_id, observations, lines)
    return ObservationRemover(connection, user_id, now=now).remove(unsupported)


def remove_message_observations(connection: Connection, user_id: int, message_id: str, *, now: datetime) -> Removal:
    """Removes the observations made when a message arrived, because its words have changed."""
    observations = observation_repository.supported_by(connection, user_id, Lines(message_ids={message_id}))
    return ObservationRemover(connection, user_id, now=now).remove([one for one in observations if one.run_id is None])


def remove_node(connection: Connection, user_id: int, node_id: str, *, now: datetime) -> Removal:
    """Removes a node with its edges and observations. Raises NotFound if it is no node of memory."""
    node = store.get_node(connection, user_id, node_id, hidden=True)
    if node is None or node.label not in NAMING or node.label == "Entity":
        raise NotFound(f"there is no memory {node_id}")
    return ObservationRemover(connection, user_id, now=now).delete_all([node])


def remove_mentioning(
    connection: Connection,
    user_id: int,
    entity_ids: Collection[str],
    holds: Callable[[str], bool] | None = None,
    *,
    now: datetime,
) -> Removal:
    """Removes the memories that mention one of these entities, and every node of memory for whose text `holds` is true.

    Such words are also removed from attributes of links, for example quotes.
    """
    found = mentioning(connection, user_id, entity_ids)
    remover = ObservationRemover(connection, user_id, now=now)
    if holds is not None:
        remover.clear_links(holds)
        found += _naming(connection, user_id, holds, {node.id for node in found})
    return remover.delete_all(found)


def remove_repeating(
    connection: Connection,
    user_id: int,
    lines: Collection[tuple[str, int]],
    entity_ids: Collection[str],
    tells: Callable[[str], bool],
    *,
    now: datetime,
) -> Removal:
    """Removes the memories that repeat forgotten words: supported by one of these lines (episode, segment) or
    mentioning one of these entities, with a text for which `tells` is true.
    """
    by_episode: dict[str, list[int]] = defaultdict(list)
    for episode_id, segment in lines:
        by_episode[episode_id].append(segment)
    node_ids = {
        observation.target
        for episode_id, segments in by_episode.items()
        for observation in observation_repository.supported_by(
            connection, user_id, Lines(episode_id=episode_id, segments=segments)
        )
        if observation.kind == "node"
    }
    nodes = [store.get_node(connection, user_id, node_id, hidden=True) for node_id in sorted(node_ids)]
    likely = {node.id: node for node in (*nodes, *mentioning(connection, user_id, entity_ids)) if node is not None}
    retelling = [
        node for node in likely.values() if node.label in _SENTENCES and any(map(tells, texts_of(node.properties)))
    ]
    return ObservationRemover(connection, user_id, now=now).delete_all(retelling)


def remove_node_observations(connection: Connection, user_id: int, node_id: str, *, now: datetime) -> Removal:
    """Removes the observations of a node and of its edges except facts, before the node itself is erased."""
    return ObservationRemover(connection, user_id, now=now).remove_node_observations(node_id)


def mentioning(connection: Connection, user_id: int, entity_ids: Collection[str]) -> list[Node]:
    """The memories that mention one of these entities, hidden ones too."""
    sources = {
        edge.source
        for entity_id in entity_ids
        for edge in targets_repository.edges_at(connection, user_id, entity_id, "target", "MENTIONS")
    }
    nodes = (store.get_node(connection, user_id, node_id, hidden=True) for node_id in sorted(sources))
    return [node for node in nodes if node is not None and node.label == "Memory"]


@dataclass
class ObservationRemover(MemoryProjector):
    """One removal."""

    forgetting: bool = True

    def remove(self, unsupported: Sequence[Observation]) -> Removal:
        """Removes observations and projects their nodes and edges from the others."""
        observation_repository.remove(self.connection, self.user_id, [observation.id for observation in unsupported])
        by_target: dict[str, list[Observation]] = defaultdict(list)
        for observation in unsupported:
            by_target[observation.target].append(observation)
        self.said += [text for observation in unsupported for text in texts_of(observation.properties)]
        for target, gone in by_target.items():
            if gone[0].kind == "edge":
                self.edge(target)
        for target, gone in by_target.items():
            if gone[0].kind == "node":
                self.node(target, gone)
        return self._removal()

    def delete_all(self, nodes: Iterable[Node]) -> Removal:
        """Removes nodes regardless of their observations."""
        for node in nodes:
            if store.get_node(self.connection, self.user_id, node.id, hidden=True) is not None:
                self.delete(node)
        return self._removal()

    def clear_links(self, holds: Callable[[str], bool]) -> None:
        """Removes attributes for which `holds` is true from the observations of edges."""
        for observation in observation_repository.of_edges(self.connection, self.user_id):
            attributes = observation.properties["attributes"]
            kept = {name: value for name, value in attributes.items() if not (isinstance(value, str) and holds(value))}
            if kept != attributes:
                properties = {**observation.properties, "attributes": kept}
                observation_repository.retell(self.connection, self.user_id, observation.id, properties)
                self.edge(observation.target)

    def remove_node_observations(self, node_id: str) -> Removal:
        """Removes the observations of a node and of its edges, and those edges; the caller deletes the node."""
        edges = targets_repository.edges_of(self.connection, self.user_id, node_id)
        edges = [edge for edge in edges if edge.type != FACT]
        gone = observation_repository.remove_of_targets(
            self.connection, self.user_id, [node_id, *(edge.id for edge in edges)]
        )
        self.said += [text for observation in gone for text in texts_of(observation.properties)]
        targets_repository.drop_suggestions(self.connection, self.user_id, node_id)
        for edge in edges:
            self.edge(edge.id)
        return self._removal()

    def _removal(self) -> Removal:
        self.record(_SOURCE)
        return Removal(self.removed, len(self.changes.unlinked), self.said, self.known_as)


def _naming(connection: Connection, user_id: int, holds: Callable[[str], bool], without: Collection[str]) -> list[Node]:
    labels = [label for label in MEMORY_LABELS if label not in ("Entity", "Topic", "Preference", "Source")]
    rows = targets_repository.observed_names(connection, user_id, labels)
    ids = [row.id for row in rows if row.id not in without and any(map(holds, texts_of(row.props)))]
    nodes = (store.get_node(connection, user_id, node_id, hidden=True) for node_id in ids)
    return [node for node in nodes if node is not None]


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
        for edge in targets_repository.edges_of(connection, user_id, node_id)
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
    source, target = (
        store.resolve_node(connection, user_id, properties[end], hidden=True) for end in ("source", "target")
    )
    if source is None or target is None or source.id == target.id:
        return None
    edge = targets_repository.edge_between(connection, user_id, properties["type"], source.id, target.id)
    if edge is None:
        edge = store.add_edge(
            connection,
            user_id,
            properties["type"],
            source.id,
            target.id,
            properties["attributes"],
            now=now,
            run_id=observation.run_id,
        )
    return edge.id
