"""The projection of observations to nodes and edges: compares the derived rows with the stored ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from internal.errors import Refused
from internal.graph import registry, store
from internal.graph.derivation import Projector
from internal.graph.model import Edge, Node
from internal.language.text.spelling import words
from internal.memory.model import MERGE, NAMING, Observation
from internal.memory.observations import repository as observation_repository, targets_repository
from internal.memory.observations.changes import MemoryChanges
from internal.memory.observations.fold import (
    PART,
    AnsweringMemory,
    FoldContext,
    folded,
    folded_edge,
    removable_properties,
)
from internal.storage import search_items

_EVENTS: Final = {
    "created": "memory_created",
    "changed": "memory_changed",
    "deleted": "memory_deleted",
    "contradictions": "memory_contradiction_found",
}


_WORDED: Final = words(
    "content summary name term text description preference category rationale outcome title resolution excerpt role"
    " relType"
)


_SHARED_LABELS: Final = ("Topic", "Preference")
"""Labels shared with the knowledge graph, which may set properties that no observation sets."""


@dataclass
class MemoryProjector(Projector):
    """Projects nodes and edges. With `forgetting` nothing keeps the words of deleted observations, not even vectors.

    `removed` are the names of deleted nodes by id, `said` all their texts, `known_as` their labels and words.
    """

    event_types = _EVENTS

    changes: MemoryChanges = field(init=False, default_factory=MemoryChanges)
    removed: dict[str, str] = field(init=False, default_factory=dict)
    said: list[str] = field(init=False, default_factory=list)
    known_as: list[tuple[str, str]] = field(init=False, default_factory=list)

    # --- Nodes

    def node(self, node_id: str, gone: Collection[Observation] = ()) -> None:
        """Projects a node; `gone` are its removed observations. A node whose name nothing supports is deleted."""
        node = store.get_node(self.connection, self.user_id, node_id, hidden=True)
        if node is None or node.label == "Entity" or node.label not in NAMING:
            return
        observations = observation_repository.of_target(self.connection, self.user_id, node_id)
        if not self._is_supported(node, observations):
            self.delete(node)
            return
        store.date_node(self.connection, node, min((one.said_at for one in observations), default=None))
        if gone:
            self._drop_suggestions(node, observations)
        changes = self._changes_of(node, observations, gone)
        if changes:
            if self.forgetting:
                search_items.forget_words(self.connection, self.user_id, store.item_kind(node.label), node_id)
            store.update_node(
                self.connection, self.user_id, node_id, changes, now=self.now, run_id=self.run_id, hidden=True
            )
            self.changes.note("changed", node_id)

    def delete(self, node: Node) -> None:
        """Deletes a node with its edges and observations, and projects the nodes that depended on them."""
        edges = targets_repository.edges_of(self.connection, self.user_id, node.id)
        gone = observation_repository.remove_of_targets(
            self.connection, self.user_id, [node.id, *(edge.id for edge in edges)]
        )
        self.said += [text for observation in gone for text in texts_of(observation.properties)]
        self.said += texts_of(node.properties)
        naming = NAMING[node.label]
        properties = [observation.properties for observation in gone if observation.target == node.id]
        words = dict.fromkeys(held[naming] for held in (node.properties, *properties) if held.get(naming))
        self.known_as += [(node.label, word) for word in words]
        targets_repository.drop_suggestions(self.connection, self.user_id, node.id)
        store.delete_node(self.connection, self.user_id, node.id)
        self.removed[node.id] = node.name
        self.changes.note("deleted", node.id)
        for edge in edges:
            self.changes.note("unlinked", edge.id)
            self._follow(edge)

    def _is_supported(self, node: Node, observations: Sequence[Observation]) -> bool:
        """Whether an observation, the owner or, for shared labels, the knowledge graph supports the name."""
        naming = NAMING[node.label]
        if node.owner_set(naming) or any(observation.properties.get(naming) for observation in observations):
            return True
        if node.label not in _SHARED_LABELS:
            return False
        cited = targets_repository.citing_episodes(self.connection, self.user_id, node.id)
        return bool(cited) or targets_repository.is_end_of_claim(self.connection, self.user_id, node.id)

    def _changes_of(
        self, node: Node, observations: Sequence[Observation], gone: Collection[Observation]
    ) -> dict[str, Any]:
        """The changes by which a node follows its observations, except properties that the owner set; None removes."""
        wanted = folded(node.label, observations, self._context_of(node))
        if node.label in _SHARED_LABELS:
            wanted |= _shared_names(node, wanted, observations, gone)
        deciding = removable_properties(node.label, (*observations, *gone)) - {
            name for name in node.field_meta if node.owner_set(name)
        }
        if node.field_meta.get(NAMING[node.label], {}).get("by") == MERGE:
            deciding -= {NAMING[node.label]}
        if node.subtype == "session":
            deciding -= {"status"}  # it follows the session itself
        if node.label == "Question" and node.owner_set("status"):
            deciding -= {"answeredDate"}
        kept = {name: value for name, value in node.properties.items() if name not in deciding}
        # The knowledge graph may have set a shared property, so only values of removed observations are removed.
        kept |= {
            name: value
            for name, value in node.properties.items()
            if name in deciding and name not in wanted and not _is_outdated(node, name, value, gone)
        }
        after = kept | {name: value for name, value in wanted.items() if name in deciding and value is not None}
        try:
            checked = registry.check_node(node.label, after)
        except Refused:
            return {}  # it would contradict what the owner set
        changes = {name: checked.get(name) for name in node.properties.keys() - checked.keys()}
        return changes | {name: value for name, value in checked.items() if node.properties.get(name) != value}

    def _context_of(self, node: Node) -> FoldContext:
        if node.label == "Question":
            return FoldContext(answers=self._answers(node.id))
        if node.label == "Source":
            return FoldContext(superseded=self._superseded_share(node.id))
        if node.label == "Preference":
            cited = targets_repository.citing_episodes(self.connection, self.user_id, node.id)
            return FoldContext(episodes=cited, words=node.name)
        return FoldContext()

    def _answers(self, question_id: str) -> list[AnsweringMemory]:
        edges = targets_repository.edges_at(self.connection, self.user_id, question_id, "target", "PARTIALLY_ANSWERS")
        observations = observation_repository.of_targets(self.connection, self.user_id, [edge.id for edge in edges])
        return [
            AnsweringMemory(
                edge.properties.get("completeness", PART),
                min(observation.said_at for observation in observations[edge.id]),
            )
            for edge in edges
            if edge.id in observations
        ]

    def _superseded_share(self, source_id: str) -> float:
        edges = targets_repository.edges_at(self.connection, self.user_id, source_id, "target", "FROM_SOURCE")
        memories = {edge.source for edge in edges}
        return len(targets_repository.superseded(self.connection, self.user_id, memories)) / max(len(memories), 1)

    def _drop_suggestions(self, node: Node, observations: Sequence[Observation]) -> None:
        """Deletes suggestions whose observation is gone."""
        held = [(name, value) for observation in observations for name, value in observation.properties.items()]
        for suggestion in targets_repository.suggestions_about(self.connection, self.user_id, node.id):
            if (suggestion.field, suggestion.value) not in held:
                targets_repository.drop_suggestion(self.connection, self.user_id, suggestion.id)

    # --- Edges

    def edge(self, edge_id: str) -> None:
        """Projects an edge; without observations it is deleted."""
        edge = store.get_edge(self.connection, self.user_id, edge_id, hidden=True)
        if edge is None:
            return
        observations = observation_repository.of_target(self.connection, self.user_id, edge_id)
        if not observations:
            store.delete_edges(self.connection, self.user_id, [edge_id])
            self.changes.note("unlinked", edge_id)
        elif changes := _edge_changes(edge, observations):
            store.update_edge(self.connection, self.user_id, edge_id, now=self.now, properties=changes)
        self._follow(edge)

    def _follow(self, edge: Edge) -> None:
        """Projects the nodes that depend on this edge."""
        match edge.type:
            case "PARTIALLY_ANSWERS":
                self.node(edge.target)
            case "CONFLICTS_WITH":
                self._drop_one_sided(edge.source)
            case "SUPERSEDES":
                for one in targets_repository.edges_at(
                    self.connection, self.user_id, edge.target, "source", "FROM_SOURCE"
                ):
                    self.node(one.target)

    def _drop_one_sided(self, contradiction_id: str) -> None:
        """When forgetting, deletes a contradiction that lost a side, unless it is between facts."""
        if not self.forgetting:
            return
        node = store.get_node(self.connection, self.user_id, contradiction_id, hidden=True)
        if node is None or node.properties.get("facts"):
            return
        if len(targets_repository.edges_at(self.connection, self.user_id, node.id, "source", "CONFLICTS_WITH")) < 2:
            self.delete(node)


def texts_of(properties: Mapping[str, Any]) -> list[str]:
    """The texts among the properties of a node, edge or observation, without states, times and ids."""
    values = [*properties.items(), *properties.get("attributes", {}).items()]
    texts = [value for name, value in values if name in _WORDED and isinstance(value, str)]
    return texts + [str(one) for one in properties.get("aliases", ())]


def _shared_names(
    node: Node, wanted: Mapping[str, Any], observations: Sequence[Observation], gone: Collection[Observation]
) -> dict[str, Any]:
    """The name and aliases of a node that the knowledge graph shares: aliases from there are kept."""
    naming = NAMING[node.label]
    here = {observation.properties.get(naming) for observation in (*observations, *gone)}
    name = wanted.get(naming) if node.properties[naming] in here else None
    erased_too = {alias for observation in gone for alias in observation.properties.get("aliases", ())}
    others = [alias for alias in node.properties.get("aliases", ()) if alias not in erased_too]
    return {
        naming: name or node.properties[naming],
        "aliases": list(dict.fromkeys((*wanted.get("aliases", ()), *others))),
    }


def _is_outdated(node: Node, name: str, value: Any, gone: Collection[Observation]) -> bool:
    """Whether a property without observations is removed: always, unless the knowledge graph may have set it."""
    if node.label not in _SHARED_LABELS:
        return True
    return any(observation.properties.get(name) == value for observation in gone)


def _edge_changes(edge: Edge, observations: Sequence[Observation]) -> dict[str, Any]:
    wanted = folded_edge(edge.type, observations)
    changes = {name: None for name in edge.properties if name not in wanted and name != "strength"}
    return changes | {name: value for name, value in wanted.items() if edge.properties.get(name) != value}
