"""A database in memory with two owners, and episodes whose lines tell memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, insert, select
from support.stores.stores import memory_store

from internal.graph import store
from internal.graph.model import Edge, EdgeFilter, Node, NodeFilter
from internal.graph.relationships import FACT, RELATIONSHIPS
from internal.memory import service
from internal.memory.model import NAMING, MemoryLookup, NodeRef, Observation, ProposedLink, ProposedMemory
from internal.memory.observations.changes import ObservedLine, ReplyContext, SessionRef, WriteOutcome
from internal.storage.tables import users

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
CONVERSATION = NodeRef("Source", {"type": "conversation", "reference": "episode:1", "title": "dialogue"})


@contextmanager
def database() -> Iterator[Connection]:
    with memory_store() as connection:
        for user_id in (OWNER, STRANGER):
            row = {"user_id": user_id, "role": "member", "state": "active", "name": "Оля", "lang": "uk", "tz": "UTC"}
            connection.execute(insert(users).values(**row, settings={}, created_at=NOON))
        yield connection


def ref(label: str, words: str | None = None, node_id: str | None = None, **properties: Any) -> NodeRef:
    named = {} if words is None else {NAMING[label]: words}
    return NodeRef(label, named | properties, node_id)


def link(type: str, other: NodeRef, *, outgoing: bool = True, **properties: Any) -> ProposedLink:
    return ProposedLink(type, other, properties, outgoing)


def told(node: NodeRef, *links: ProposedLink, lines: Sequence[int] = (1,)) -> ProposedMemory:
    return ProposedMemory(node, links, tuple(lines))


@dataclass(slots=True)
class Memories:
    """One owner's memory graph. Each episode is told an hour after the one before, unless it is said when."""

    connection: Connection
    user_id: int = OWNER
    now: datetime = NOON
    number: int = 0
    entities: dict[str, str] = field(default_factory=dict)

    def entity(self, name: str, **properties: Any) -> str:
        node = store.add_node(self.connection, self.user_id, "Entity", {"name": name} | properties, now=self.now)
        self.entities[name] = node.id
        return node.id

    def tell(
        self,
        *memories: ProposedMemory,
        said: Sequence[str] = ("this was said",),
        episode: str | None = None,
        at: datetime | None = None,
        source: NodeRef | None = None,
        session: SessionRef | None = None,
        reliability: float = 0.9,
        run: str | None = None,
        **digested: Any,
    ) -> WriteOutcome:
        """Writes what one reply tells of an episode of these lines, which are messages `<episode>/<line>`."""
        self.number += 1
        self.now += timedelta(hours=1)
        name = episode or f"e{self.number}"
        lines = {
            n: ObservedLine(name, n, at or self.now, words, f"{name}/{n}", reliability)
            for n, words in enumerate(said, start=1)
        }
        setting = ReplyContext(name, lines, self.now, run or f"run-{name}", self.entities, source, session)
        return service.write(self.connection, self.user_id, MemoryLookup(memories, **digested), setting)

    def forget(self, *episodes: str) -> None:
        for episode in episodes:
            service.remove_episode(self.connection, self.user_id, episode, now=self.now)

    def nodes(self, label: str) -> list[Node]:
        return store.nodes(self.connection, self.user_id, NodeFilter(labels=[label]), limit=1_000)

    def node(self, label: str) -> Node:
        """The only node of this label."""
        (found,) = self.nodes(label)
        return found

    def edges(self, type: str) -> list[Edge]:
        found = {
            edge.id: edge
            for label in NAMING
            for node in self.nodes(label)
            for edge in store.edges_of(self.connection, self.user_id, node.id, EdgeFilter(types=[type]), now=self.now)
        }
        return list(found.values())

    def edge(self, type: str) -> Edge:
        """The only edge of this type."""
        (found,) = self.edges(type)
        return found

    def observations(self, target_id: str) -> list[Observation]:
        return service.observations_of(self.connection, self.user_id, target_id)

    def count(self, table: Table) -> int:
        return len(self.connection.execute(select(table).where(table.c.user_id == self.user_id)).all())

    def graph(self) -> dict[str, Any]:
        """Everything that the memory graph says, without ids and without when it was written."""
        nodes = {node.id: node for label in NAMING for node in self.nodes(label)}
        edges = [edge for type in _TYPES for edge in self.edges(type)]
        return {
            "nodes": sorted(_said(node) for node in nodes.values()),
            "edges": sorted(
                str((edge.type, _name(nodes[edge.source]), _name(nodes[edge.target]), _plain(edge.properties)))
                for edge in edges
            ),
        }


_TYPES = sorted({one.name for one in RELATIONSHIPS.values() if not one.derived and one.name != FACT})


def _said(node: Node) -> str:
    return str((node.label, _plain(node.properties)))


def _name(node: Node) -> tuple[str, str]:
    return node.label, str(node.properties[NAMING[node.label]])


def _plain(properties: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(properties.items(), key=lambda one: one[0])
