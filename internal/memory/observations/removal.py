"""Removes observations that lost all lines, and the nodes and edges that nothing supports any more.

Their changes are undone, since nodes follow from the remaining observations. Nodes and edges are also projected again
after a merge, a split or a removal in the knowledge graph.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.graph import store
from internal.graph.derived_changes import loses_support
from internal.graph.labels import NODES
from internal.graph.model import Node
from internal.graph.relationships import FACT
from internal.memory.model import MEMORY_LABELS, NAMING, Observation
from internal.memory.observations import repository as observation_repository, targets_repository
from internal.memory.observations.changes import MemoryChanges, Removal
from internal.memory.observations.projection import MemoryProjector, texts_of
from internal.storage import evidence
from internal.storage.evidence import Lines

_SOURCE: Final = "system:forgetting"

_SENTENCES: Final = tuple(label for label in MEMORY_LABELS if NODES[label].sentence and label != "TemporalMarker")
"""Labels of nodes that are sentences; a name alone repeats nothing."""


def remove_episode(connection: Connection, user_id: int, episode_id: str, *, now: datetime) -> Removal:
    """Removes the observations of an episode. Call it before the evidence of the episode is deleted."""
    observations = observation_repository.of_episode(connection, user_id, episode_id)
    return ObservationRemover(connection, user_id, now).remove(observations)


def remove_messages(connection: Connection, user_id: int, message_ids: Collection[str], *, now: datetime) -> Removal:
    """Removes what only these messages support. Call it before their evidence is deleted.

    What other lines support too stays, unless it holds a word that only the removed lines said.
    """
    lines = Lines(message_ids=set(message_ids))
    observations = observation_repository.supported_by(connection, user_id, lines)
    support = evidence.rows(connection, user_id, "observation", [observation.id for observation in observations])
    unsupported = [one for one in observations if loses_support(texts_of(one.properties), support[one.id], lines)]
    evidence.remove_support(
        connection, user_id, [evidence.target("observation", observation.id) for observation in observations], lines
    )
    return ObservationRemover(connection, user_id, now).remove(unsupported)


def withdraw_message(connection: Connection, user_id: int, message_id: str, *, now: datetime) -> Removal:
    """Removes what was kept when a message came: its words have changed."""
    observations = observation_repository.supported_by(connection, user_id, Lines(message_ids={message_id}))
    return ObservationRemover(connection, user_id, now).remove([one for one in observations if one.run_id is None])


def remove_node(connection: Connection, user_id: int, node_id: str, *, now: datetime) -> Removal:
    """Removes a node with its edges and observations. Raises NotFound for what is no node of memory."""
    node = store.get_node(connection, user_id, node_id, hidden=True)
    if node is None or node.label not in NAMING or node.label == "Entity":
        raise NotFound(f"there is no memory {node_id}")
    return ObservationRemover(connection, user_id, now).delete([node])


def remove_mentioning(
    connection: Connection,
    user_id: int,
    entity_ids: Collection[str],
    holds: Callable[[str], bool] | None = None,
    *,
    now: datetime,
) -> Removal:
    """Removes the memories that mention one of these entities, and every node of memory whose words `holds` finds.

    Such words are also removed from attributes of links, for example quotes.
    """
    found = mentioning(connection, user_id, entity_ids)
    remover = ObservationRemover(connection, user_id, now)
    if holds is not None:
        remover.clear_links(holds)
        found += _naming(connection, user_id, holds, {node.id for node in found})
    return remover.delete(found)


def remove_repeating(
    connection: Connection,
    user_id: int,
    lines: Collection[tuple[str, int]],
    entity_ids: Collection[str],
    tells: Callable[[str], bool],
    *,
    now: datetime,
) -> Removal:
    """Removes the memories that repeat what is forgotten: supported by one of these lines (episode, segment) or
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
    return ObservationRemover(connection, user_id, now).delete(retelling)


def remove_node_observations(connection: Connection, user_id: int, node_id: str, *, now: datetime) -> Removal:
    """Removes the observations of a node and of its edges except facts, before the node itself is erased."""
    return ObservationRemover(connection, user_id, now).remove_node_observations(node_id)


def mentioning(connection: Connection, user_id: int, entity_ids: Collection[str]) -> list[Node]:
    """The memories that mention one of these entities, hidden ones too."""
    sources = {
        edge.source
        for entity_id in entity_ids
        for edge in targets_repository.edges_at(connection, user_id, entity_id, "target", "MENTIONS")
    }
    nodes = (store.get_node(connection, user_id, node_id, hidden=True) for node_id in sorted(sources))
    return [node for node in nodes if node is not None and node.label == "Memory"]


class ObservationRemover:
    """One removal."""

    def __init__(self, connection: Connection, user_id: int, now: datetime) -> None:
        self._connection, self._user_id = connection, user_id
        self._projector = MemoryProjector(connection, user_id, now=now, forgetting=True)

    def remove(self, unsupported: Sequence[Observation]) -> Removal:
        """Removes observations and projects their nodes and edges from the others."""
        observation_repository.remove(self._connection, self._user_id, [observation.id for observation in unsupported])
        by_target: dict[str, list[Observation]] = defaultdict(list)
        for observation in unsupported:
            by_target[observation.target].append(observation)
        self._projector.said += [text for observation in unsupported for text in texts_of(observation.properties)]
        for target, gone in by_target.items():
            if gone[0].kind == "edge":
                self._projector.edge(target)
        for target, gone in by_target.items():
            if gone[0].kind == "node":
                self._projector.node(target, gone)
        return self._removal()

    def delete(self, nodes: Iterable[Node]) -> Removal:
        """Removes nodes regardless of their observations."""
        for node in nodes:
            if store.get_node(self._connection, self._user_id, node.id, hidden=True) is not None:
                self._projector.delete(node)
        return self._removal()

    def clear_links(self, holds: Callable[[str], bool]) -> None:
        """Removes attributes for which `holds` is true from the observations of edges."""
        for observation in observation_repository.of_edges(self._connection, self._user_id):
            attributes = observation.properties["attributes"]
            kept = {name: value for name, value in attributes.items() if not (isinstance(value, str) and holds(value))}
            if kept != attributes:
                properties = {**observation.properties, "attributes": kept}
                observation_repository.retell(self._connection, self._user_id, observation.id, properties)
                self._projector.edge(observation.target)

    def remove_node_observations(self, node_id: str) -> Removal:
        """Removes the observations of a node and of its edges, and those edges; the caller deletes the node."""
        edges = [
            edge
            for end in ("source", "target")
            for edge in targets_repository.edges_at(self._connection, self._user_id, node_id, end)
            if edge.type != FACT
        ]
        gone = observation_repository.remove_of_targets(
            self._connection, self._user_id, [node_id, *(edge.id for edge in edges)]
        )
        self._projector.said += [text for observation in gone for text in texts_of(observation.properties)]
        targets_repository.drop_suggestions(self._connection, self._user_id, node_id)
        for edge in edges:
            self._projector.edge(edge.id)
        return self._removal()

    def _removal(self) -> Removal:
        self._projector.record(_SOURCE)
        changes: MemoryChanges = self._projector.changes
        projector = self._projector
        return Removal(dict(projector.removed), len(changes.unlinked), list(projector.said), list(projector.known_as))


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
