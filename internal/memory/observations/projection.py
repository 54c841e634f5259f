"""Nodes and edges are brought in step with their observations: what follows is compared with what is stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.errors import Refused
from internal.events import repository as events
from internal.graph import registry, store
from internal.graph.model import Edge, Node
from internal.language.text.spelling import words
from internal.memory.model import MERGE, NAMING, Observation
from internal.memory.observations import repository as observations
from internal.memory.observations import targets_repository as targets
from internal.memory.observations.changes import MemoryChanges
from internal.memory.observations.fold import PART, Answer, Beside, folded, folded_edge, managed
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


_THINGS: Final = ("Topic", "Preference")
"""Labels of the knowledge graph too: it may tell what no observation tells."""


class Projector:
    """Projects nodes and edges within one transaction and collects what changed.

    `forgetting`: observations were taken away, so nothing may keep their words, in its vectors neither.
    """

    def __init__(
        self,
        connection: Connection,
        user_id: int,
        *,
        now: datetime,
        run_id: str | None = None,
        forgetting: bool = False,
    ) -> None:
        self.changes = MemoryChanges()
        self._connection, self._user_id, self._now, self._run_id = connection, user_id, now, run_id
        self._forgetting = forgetting
        self.removed: dict[str, str] = {}
        self.said: list[str] = []
        self.known_as: list[tuple[str, str]] = []

    # --- Nodes

    def node(self, node_id: str, gone: Collection[Observation] = ()) -> None:
        """Brings a node in step; `gone` is what is not told of it any more. It goes if nobody tells its name."""
        node = store.get_node(self._connection, self._user_id, node_id, hidden=True)
        if node is None or node.label == "Entity" or node.label not in NAMING:
            return
        told = observations.of_target(self._connection, self._user_id, node_id)
        if not self._stands(node, told):
            self.delete(node)
            return
        if gone:
            self._drop_suggestions(node, told)
        changes = self._changes_of(node, told, gone)
        if changes:
            if self._forgetting:
                search_items.forget_words(self._connection, self._user_id, store.item_kind(node.label), node_id)
            store.update_node(
                self._connection,
                self._user_id,
                node_id,
                changes,
                now=self._now,
                run_id=self._run_id,
                hidden=True,
            )
            self.changes.note("changed", node_id)

    def delete(self, node: Node) -> None:
        """Deletes a node with its edges and all that was told of them, and brings in step what hung on it."""
        edges = [
            edge
            for end in ("source", "target")
            for edge in targets.edges_at(self._connection, self._user_id, node.id, end)
        ]
        gone = observations.remove_of_targets(self._connection, self._user_id, [node.id, *(one.id for one in edges)])
        self.said += [text for one in gone for text in texts_of(one.properties)]
        self.said += texts_of(node.properties)
        naming = NAMING[node.label]
        told = [one.properties for one in gone if one.target == node.id]
        words = dict.fromkeys(one[naming] for one in (node.properties, *told) if one.get(naming))
        self.known_as += [(node.label, one) for one in words]
        targets.drop_suggestions(self._connection, self._user_id, node.id)
        store.delete_node(self._connection, self._user_id, node.id)
        self.removed[node.id] = node.name
        self.changes.note("deleted", node.id)
        for edge in edges:
            self.changes.note("unlinked", edge.id)
            self._follow(edge)

    def _stands(self, node: Node, told: Sequence[Observation]) -> bool:
        """Whether anybody tells what it is: an observation, the owner, or the knowledge graph, of its things."""
        naming = NAMING[node.label]
        if node.owner_set(naming) or any(one.properties.get(naming) for one in told):
            return True
        if node.label not in _THINGS:
            return False
        cited = targets.citing_episodes(self._connection, self._user_id, node.id)
        return bool(cited) or targets.is_told_of(self._connection, self._user_id, node.id)

    def _changes_of(self, node: Node, told: Sequence[Observation], gone: Collection[Observation]) -> dict[str, Any]:
        """What is to be written so that the node says what follows, the owner's own words spared; None takes away."""
        wanted = folded(node.label, told, self._beside(node))
        if node.label in _THINGS:
            wanted |= _as_a_thing(node, wanted, told, gone)
        deciding = managed(node.label, (*told, *gone)) - {name for name in node.field_meta if node.owner_set(name)}
        if node.field_meta.get(NAMING[node.label], {}).get("by") == MERGE:
            deciding -= {NAMING[node.label]}
        if node.subtype == "session":
            deciding -= {"status"}  # it follows the session itself
        if node.label == "Question" and node.owner_set("status"):
            deciding -= {"answeredDate"}
        kept = {name: value for name, value in node.properties.items() if name not in deciding}
        # What is shared with the knowledge graph may have been told there: taken away is only what fell here.
        kept |= {
            name: value
            for name, value in node.properties.items()
            if name in deciding and name not in wanted and not _fell(node, name, value, gone)
        }
        after = kept | {name: value for name, value in wanted.items() if name in deciding and value is not None}
        try:
            checked = registry.check_node(node.label, after)
        except Refused:
            return {}  # beside what the owner set himself it would make no sense
        changes = {name: checked.get(name) for name in node.properties.keys() - checked.keys()}
        return changes | {name: value for name, value in checked.items() if node.properties.get(name) != value}

    def _beside(self, node: Node) -> Beside:
        if node.label == "Question":
            return Beside(answers=self._answers(node.id))
        if node.label == "Source":
            return Beside(superseded=self._superseded_share(node.id))
        if node.label == "Preference":
            cited = targets.citing_episodes(self._connection, self._user_id, node.id)
            return Beside(episodes=cited, words=node.name)
        return Beside()

    def _answers(self, question_id: str) -> list[Answer]:
        edges = targets.edges_at(self._connection, self._user_id, question_id, "target", "PARTIALLY_ANSWERS")
        told = observations.of_targets(self._connection, self._user_id, [edge.id for edge in edges])
        return [
            Answer(edge.properties.get("completeness", PART), min(one.said_at for one in told[edge.id]))
            for edge in edges
            if edge.id in told
        ]

    def _superseded_share(self, source_id: str) -> float:
        edges = targets.edges_at(self._connection, self._user_id, source_id, "target", "FROM_SOURCE")
        memories = {edge.source for edge in edges}
        return len(targets.superseded(self._connection, self._user_id, memories)) / max(len(memories), 1)

    def _drop_suggestions(self, node: Node, told: Sequence[Observation]) -> None:
        """What was suggested because of something that is not told any more is suggested no longer."""
        held = [(name, value) for one in told for name, value in one.properties.items()]
        for one in targets.suggestions_about(self._connection, self._user_id, node.id):
            if (one.field, one.value) not in held:
                targets.drop_suggestion(self._connection, self._user_id, one.id)

    # --- Edges

    def edge(self, edge_id: str) -> None:
        """Brings an edge in step; it goes if nobody tells it any more."""
        edge = store.get_edge(self._connection, self._user_id, edge_id, hidden=True)
        if edge is None:
            return
        told = observations.of_target(self._connection, self._user_id, edge_id)
        if not told:
            store.delete_edges(self._connection, self._user_id, [edge_id])
            self.changes.note("unlinked", edge_id)
        elif changes := _edge_changes(edge, told):
            store.update_edge(self._connection, self._user_id, edge_id, now=self._now, properties=changes)
        self._follow(edge)

    def _follow(self, edge: Edge) -> None:
        """What follows from this edge elsewhere."""
        match edge.type:
            case "PARTIALLY_ANSWERS":
                self.node(edge.target)
            case "CONFLICTS_WITH":
                self._settle(edge.source)
            case "SUPERSEDES":
                for one in targets.edges_at(self._connection, self._user_id, edge.target, "source", "FROM_SOURCE"):
                    self.node(one.target)

    def _settle(self, contradiction_id: str) -> None:
        """A contradiction of which a side is gone is none, unless it is one of facts."""
        if not self._forgetting:
            return
        node = store.get_node(self._connection, self._user_id, contradiction_id, hidden=True)
        if node is None or node.properties.get("facts"):
            return
        if len(targets.edges_at(self._connection, self._user_id, node.id, "source", "CONFLICTS_WITH")) < 2:
            self.delete(node)

    # --- Telling

    def record(self, source: str, links: Mapping[str, Any] | None = None) -> None:
        """Leaves one event for each kind of change, with ids only."""
        changed = {event_type: getattr(self.changes, name) for name, event_type in _EVENTS.items()}
        events.append_changes(
            self._connection, changed, source=source, now=self._now, user_id=self._user_id, links=links
        )


def texts_of(told: Mapping[str, Any]) -> list[str]:
    """What people may have said, among the properties of a node, edge or observation: no states, times or ids."""
    values = [*told.items(), *told.get("attributes", {}).items()]
    texts = [value for name, value in values if name in _WORDED and isinstance(value, str)]
    return texts + [str(one) for one in told.get("aliases", ())]


def _as_a_thing(
    node: Node, wanted: Mapping[str, Any], told: Sequence[Observation], gone: Collection[Observation]
) -> dict[str, Any]:
    """Its name and aliases where the knowledge graph may have told them too: its words stay beside those told here."""
    naming = NAMING[node.label]
    here = {one.properties.get(naming) for one in (*told, *gone)}
    name = wanted.get(naming) if node.properties[naming] in here else None
    fallen = {alias for one in gone for alias in one.properties.get("aliases", ())}
    others = [alias for alias in node.properties.get("aliases", ()) if alias not in fallen]
    return {
        naming: name or node.properties[naming],
        "aliases": list(dict.fromkeys((*wanted.get("aliases", ()), *others))),
    }


def _fell(node: Node, name: str, value: Any, gone: Collection[Observation]) -> bool:
    """Whether a property that nobody tells any more has to go: always, but where the knowledge graph may tell it."""
    if node.label not in _THINGS:
        return True
    return any(one.properties.get(name) == value for one in gone)


def _edge_changes(edge: Edge, told: Sequence[Observation]) -> dict[str, Any]:
    wanted = folded_edge(edge.type, told)
    changes = {name: None for name in edge.properties if name not in wanted and name != "strength"}
    return changes | {name: value for name, value in wanted.items() if edge.properties.get(name) != value}
