"""Writes a reply's memories as observations of nodes and edges, then projects these nodes and edges."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from sqlalchemy import Connection

from internal.errors import NotFound, Refusal, Refused
from internal.graph import registry, store
from internal.graph.model import Edge, Node
from internal.memory.model import NAMING, MemoryLookup, NodeRef, Observation, ProposedLink, ProposedMemory, TargetKind
from internal.memory.observations import repository as observation_repository, targets_repository
from internal.memory.observations.changes import ObservedLine, ReplyContext, WriteOutcome
from internal.memory.observations.fold import SHARED, UNSEARCHED, folded, folded_edge
from internal.memory.observations.projection import MemoryProjector, texts_of
from internal.memory.observations.resolve import Resolver, stated_properties
from internal.memory.observations.targets_repository import session_context
from internal.storage import evidence
from internal.storage.evidence import Support

EXCERPT: Final = 300
"""Most characters of a quote, enough to recognise the place."""

Operation = Literal["created", "updated", "referenced"]


def write(
    connection: Connection, user_id: int, lookup: MemoryLookup, reply: ReplyContext, *, source: str = "agent:Archivist"
) -> WriteOutcome:
    """Records the memories of a reply, finds or makes their nodes and projects them.

    An item or link that breaks a rule is refused, the others are written. Reasons: those of the graph's registry,
    unknown_entity, unknown_node, no_name, being_forgotten, no_support, one_sided. `source` is that of the events.
    """
    writer = Writer(connection, user_id, lookup, reply)
    # Contradictions come last, because they refer to the other memories.
    ordered = sorted(lookup.memories, key=lambda memory: memory.node.label == "Contradiction")
    kept = [(memory, node) for memory in ordered if (node := writer.item(memory)) is not None]
    for memory, node in kept:
        writer.links(memory, node)
    writer.finish(kept)
    writer.projector.record(source)
    return WriteOutcome([node.id for _, node in kept], writer.refused, writer.projector.changes)


class Writer:
    """Writes one reply's memories."""

    def __init__(self, connection: Connection, user_id: int, lookup: MemoryLookup, reply: ReplyContext) -> None:
        self._connection, self._user_id, self._lookup, self._reply = connection, user_id, lookup, reply
        self._resolver = Resolver(connection, user_id, lookup, reply.entities)
        self.projector = MemoryProjector(connection, user_id, now=reply.now, run_id=reply.run_id)
        self.refused: list[Refusal] = []
        self._touched: dict[str, TargetKind] = {}
        self._fresh: set[str] = set()
        self._conflicts: set[str] = set()

    def item(self, memory: ProposedMemory) -> Node | None:
        """The node of an item; None if it is refused."""
        try:
            if memory.node.label == "Contradiction":
                return self._contradiction(memory)
            return self._node(memory.node, self._lines(memory))
        except (Refused, NotFound) as error:
            self._refuse(error)
            return None

    def links(self, memory: ProposedMemory, node: Node) -> None:
        """The links of an item that was written, one by one."""
        if node.label == "Contradiction" and node.id in self._conflicts:
            return  # written with it
        primary = _primary(memory.links)
        for index, link in enumerate(memory.links):
            try:
                self._link(memory, node, link, primary=index == primary)
            except (Refused, NotFound) as error:
                self._refuse(error)

    def finish(self, kept: Sequence[tuple[ProposedMemory, Node]]) -> None:
        """Links memories to their sources and related memories, then projects everything touched."""
        memories = [(memory, node) for memory, node in kept if node.label == "Memory"]
        for memory, node in memories:
            try:
                self._connect_to_session(memory, node)
            except (Refused, NotFound) as error:
                self._refuse(error)
        for memory, node in memories:
            self._relate(memory, node)
        for target, kind in self._touched.items():
            if kind == "edge":
                self.projector.edge(target)
        for target, kind in self._touched.items():
            if kind == "node" and target not in self._fresh:
                self.projector.node(target)
        changed = {*self.projector.changes.created, *self.projector.changes.changed}
        for target, kind in self._touched.items():
            if kind == "node" and target not in changed:
                self.projector.changes.note("referenced", target)

    # --- Nodes

    def _node(self, ref: NodeRef, lines: Sequence[ObservedLine]) -> Node:
        """Finds or makes a node and records an observation of it. Entities are recorded by the knowledge graph."""
        known = self._resolver.find(ref)
        if ref.label == "Entity" and known is not None:
            return known
        ref = self._resolver.canonical(ref)
        properties = _as_stored(ref.label, stated_properties(ref), known)
        node = known or self._make(ref, properties, lines)
        self._resolver.remember(ref, node)
        changing = properties.keys() - {NAMING[ref.label]}
        operation: Operation = "created" if known is None else "updated" if changing else "referenced"
        self._observe(node.id, "node", [ref.label, _identity(ref)], properties, lines, operation)
        if known is not None:
            self._fresh.discard(node.id)
            self._suggest(node, properties)
        return node

    def _make(
        self, ref: NodeRef, stated: Mapping[str, Any], lines: Sequence[ObservedLine], node_id: str | None = None
    ) -> Node:
        first = Observation(
            self._user_id, "", "", "node", stated, min(line.said_at for line in lines), self._reply.now,
            self._reply.episode_id,
        )  # fmt: skip
        properties = {name: value for name, value in folded(ref.label, [first]).items() if value is not None}
        node = store.add_node(
            self._connection,
            self._user_id,
            ref.label,
            properties,
            now=self._reply.now,
            node_id=node_id,
            run_id=self._reply.run_id,
            findable=ref.label not in UNSEARCHED and node_id is None,
        )
        self._fresh.add(node.id)
        self.projector.changes.note("created", node.id)
        return node

    def _suggest(self, node: Node, stated: Mapping[str, Any]) -> None:
        """Suggests other values for properties that the owner set; another form of a name is ignored."""
        for name, value in stated.items():
            if name != NAMING[node.label] and node.owner_set(name) and node.properties.get(name) != value:
                current = node.properties.get(name)
                suggested = targets_repository.suggest(
                    self._connection,
                    self._user_id,
                    node.id,
                    name,
                    value,
                    current,
                    now=self._reply.now,
                    run_id=self._reply.run_id,
                )
                if suggested is not None:
                    self.projector.changes.note("suggested", suggested)

    # --- Edges

    def _link(self, memory: ProposedMemory, node: Node, link: ProposedLink, *, primary: bool) -> None:
        lines = self._lines(memory)
        other = self._node(link.other, lines)
        source, target = (node, other) if link.outgoing else (other, node)
        attributes = {name: value for name, value in link.properties.items() if value is not None}
        if link.type == "BELONGS_TO" and "isPrimary" not in attributes:
            attributes["isPrimary"] = primary
        self._edge(link.type, source, target, attributes, lines)

    def _edge(
        self, type: str, source: Node, target: Node, attributes: Mapping[str, Any], lines: Sequence[ObservedLine]
    ) -> Edge:
        """Finds or makes an edge and records an observation of it. Raises Refused like the graph's store."""
        properties = {"type": type, "source": source.id, "target": target.id, "attributes": dict(attributes)}
        known = targets_repository.edge_between(self._connection, self._user_id, type, source.id, target.id)
        checked = registry.check_edge(type, source.label, target.label, attributes)
        if known is None:
            stated = {name: checked[name] for name in checked if name in attributes}
            first = Observation(self._user_id, "", "", "edge", properties | {"attributes": stated},
                                self._reply.now, self._reply.now)  # fmt: skip
            known = store.add_edge(
                self._connection,
                self._user_id,
                type,
                source.id,
                target.id,
                {**checked, **folded_edge(type, [first])},
                now=self._reply.now,
                run_id=self._reply.run_id,
            )
            self.projector.changes.note("linked", known.id)
        self._observe(known.id, "edge", [type, source.id, target.id], properties, lines, "referenced")
        return known

    # --- Sources, sessions and related memories

    def _connect_to_session(self, memory: ProposedMemory, node: Node) -> None:
        """Adds FROM_SOURCE with a quote of each line, and IN_CONTEXT of the session in which it was said."""
        lines = self._lines(memory)
        if self._reply.source is not None:
            trust = max(line.reliability for line in lines)
            ref = replace(self._reply.source, properties={**self._reply.source.properties, "reliability": trust})
            source = self._node(ref, lines)
            for line in lines:
                self._edge("FROM_SOURCE", node, source, {"excerpt": line.quote[:EXCERPT]}, [line])
        if self._reply.session is not None:
            self._in_session(memory, node, lines)

    def _in_session(self, memory: ProposedMemory, node: Node, lines: Sequence[ObservedLine]) -> None:
        ref_to_session = self._reply.session
        assert ref_to_session is not None  # asked before
        ref, context_id = session_context(self._user_id, ref_to_session)
        properties = stated_properties(ref)
        session = store.get_node(self._connection, self._user_id, context_id, hidden=True)
        if session is None:
            session = self._make(ref, properties, lines, context_id)
        self._observe(session.id, "node", ["Context", context_id], properties, lines, "referenced")
        self._edge("IN_CONTEXT", node, session, {}, lines)
        for link in memory.links:
            if link.type == "IN_CONTEXT" and (project := self._project(link)) is not None:
                self._edge("PART_OF", session, project, {}, lines)

    def _project(self, link: ProposedLink) -> Node | None:
        try:
            context = self._resolver.find(link.other)
        except Refused:
            return None
        return context if context is not None and context.subtype == "project" else None

    def _relate(self, memory: ProposedMemory, node: Node) -> None:
        """Adds RELATES_TO to the nearest memories, else to those that share most concepts and entities with it."""
        lines = self._lines(memory)
        near = [(likely.node_id, 0.5 if likely.cosine is None else likely.cosine) for likely in self._related(memory)]
        if not near and node.id in self.projector.changes.created:
            without = [store.owner_node_id(self._user_id)]
            shared = targets_repository.sharing(self._connection, self._user_id, node.id, _SHARED_BY, without, RELATED)
            near = [(memory_id, min(_FIRST_SHARED + _EACH_SHARED * count, 1.0)) for memory_id, count in shared]
        for memory_id, likeness in near[:RELATED]:
            other = store.resolve_node(self._connection, self._user_id, memory_id)
            if other is None or other.id == node.id or other.label != "Memory":
                continue
            if targets_repository.is_linked(self._connection, self._user_id, "RELATES_TO", node.id, other.id):
                continue
            strength = round(min(max(likeness, 0.0), 1.0), 4)
            self._edge("RELATES_TO", node, other, {"strength": strength, "relType": "similar"}, lines)

    def _related(self, memory: ProposedMemory) -> Sequence[Any]:
        return () if memory.node.node_id else self._lookup.related.get(memory.node.key, ())

    # --- Contradictions

    def _contradiction(self, memory: ProposedMemory) -> Node:
        """Finds or makes a contradiction. It is identified by its memories, whatever words describe it."""
        lines = self._lines(memory)
        if memory.node.node_id is not None:
            return self._node(memory.node, lines)
        sides = self._sides(memory, lines)
        if len(sides) < 2:
            raise Refused("one_sided", "Contradiction: at least two memories that conflict are expected")
        known = self._between(sides)
        properties = _as_stored("Contradiction", stated_properties(memory.node), known)
        node = known or self._make(memory.node, properties, lines)
        self._resolver.remember(memory.node, node)
        operation: Operation = "referenced" if known else "created"
        self._observe(
            node.id, "node", ["Contradiction", *sorted(side.id for side in sides)], properties, lines, operation
        )
        for side in sides:
            self._edge("CONFLICTS_WITH", node, side, {}, lines)
        for link in memory.links:
            if link.type != "CONFLICTS_WITH":
                self._link(memory, node, link, primary=False)
        self._conflicts.add(node.id)
        if known is None:
            self.projector.changes.note("contradictions", node.id)
        return node

    def _sides(self, memory: ProposedMemory, lines: Sequence[ObservedLine]) -> list[Node]:
        found: dict[str, Node] = {}
        for link in memory.links:
            if link.type == "CONFLICTS_WITH" and link.other.label == "Memory":
                side = self._node(link.other, lines)
                found[side.id] = side
        return list(found.values())

    def _between(self, sides: Collection[Node]) -> Node | None:
        """The contradiction between all of these memories, open or settled."""
        candidates: set[str] | None = None
        for side in sides:
            edges = targets_repository.edges_at(self._connection, self._user_id, side.id, "target", "CONFLICTS_WITH")
            here = {edge.source for edge in edges}
            candidates = here if candidates is None else candidates & here
        found = store.nodes_by_ids(self._connection, self._user_id, candidates or ())
        return min(found.values(), key=lambda node: (node.created_at, node.id), default=None)

    # --- Observations

    def _lines(self, memory: ProposedMemory) -> list[ObservedLine]:
        lines = [self._reply.lines[number] for number in memory.evidence if number in self._reply.lines]
        if not lines:
            raise Refused("no_support", "evidence: at least one line is expected")
        return lines

    def _observe(
        self,
        target: str,
        kind: TargetKind,
        identity: Sequence[str],
        properties: Mapping[str, Any],
        lines: Sequence[ObservedLine],
        operation: Operation,
    ) -> None:
        reply = self._reply
        segments = [line.segment for line in lines]
        observation = Observation(
            user_id=self._user_id,
            id=observation_repository.observation_id(
                self._user_id, reply.episode_id, segments, [kind, *identity], properties
            ),
            target=target,
            kind=kind,
            properties=dict(properties),
            said_at=min(line.said_at for line in lines),
            created_at=reply.now,
            episode_id=reply.episode_id,
            run_id=reply.run_id,
        )
        if not observation_repository.add(self._connection, observation):
            observation_repository.move(self._connection, self._user_id, [observation.id], target)
        quoted = kind == "node" or bool(texts_of(properties))
        support = [
            Support(line.episode_id, line.segment, line.message_id, line.quote if quoted else None) for line in lines
        ]
        evidence.add(
            self._connection,
            self._user_id,
            "observation",
            {observation.id: support},
            operation=operation,
            run_id=reply.run_id,
        )
        self._touched[target] = kind

    def _refuse(self, error: Refused | NotFound) -> None:
        self.refused.append(Refusal.of(error))


RELATED: Final = 3
"""Most memories to which a new one is linked automatically: more would link everything to everything."""

_SHARED_BY: Final = ("HAS_CONCEPT", "MENTIONS")
_FIRST_SHARED: Final = 0.2
_EACH_SHARED: Final = 0.1
"""The strength that each shared thing adds to `_FIRST_SHARED`: 0.3 for one thing, 0.4 for two."""


def _primary(links: Sequence[ProposedLink]) -> int | None:
    """The index of the main topic if none is stated to be the main one: the first topic."""
    topics = [(index, link) for index, link in enumerate(links) if link.type == "BELONGS_TO"]
    if any(link.properties.get("isPrimary") for _, link in topics):
        return None
    return next((index for index, link in topics if link.properties.get("isPrimary") is None), None)


def _identity(ref: NodeRef) -> str:
    return ref.node_id or registry.key_of(ref.label, ref.key.words)


def _as_stored(label: str, stated: Mapping[str, Any], known: Node | None) -> dict[str, Any]:
    """Stated properties in stored form, checked together with the known ones. Raises Refused."""
    before = {} if known is None else known.properties
    renamed = {"description": "summary"} if label in SHARED else {}
    checked = registry.check_node(label, {**before, **stated})
    return {name: value for name, value in checked.items() if name in stated or renamed.get(name) in stated}
