"""Converts stored nodes and edges to those of a Cypher database, without I/O."""

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol

from internal.graph import registry
from internal.graph.model import Edge, Node
from internal.graph.relationships import FACT, RELATIONSHIPS

PROJECTION: Final = 2
"""The version of the conversion: a mirror written by another version is rebuilt."""

STORED_TYPES: Final = tuple(dict.fromkeys(one.name for one in RELATIONSHIPS.values() if not one.derived))
"""Relationships that are stored as edges, each with an id."""

_TIMES: Final = ("valid_at", "invalid_at", "expired_at")


@dataclass(frozen=True, slots=True)
class MirrorNode:
    """A node; `properties` are texts, numbers, truth values and lists of them, `id` among them."""

    label: str
    properties: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.properties["id"])


@dataclass(frozen=True, slots=True)
class MirrorEdge:
    """An edge. A stored one has its `id` among its properties, a derived one is known by its type and ends."""

    type: str
    source: str
    target: str
    source_label: str
    target_label: str
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str | None:
        return self.properties.get("id")


@dataclass(slots=True)
class Batch:
    """Changes for a mirror, applied in this order; they are idempotent.

    `gone_sessions` are deleted with their events, `gone_nodes` with their edges; `gone_edges` are ids of stored edges.
    Nodes and edges are inserted or replaced; an edge with a missing end is left out.
    """

    gone_sessions: set[str] = field(default_factory=set)
    gone_nodes: set[str] = field(default_factory=set)
    gone_edges: set[str] = field(default_factory=set)
    nodes: list[MirrorNode] = field(default_factory=list)
    edges: list[MirrorEdge] = field(default_factory=list)

    @property
    def removes(self) -> bool:
        return bool(self.gone_sessions or self.gone_nodes or self.gone_edges)


@dataclass(frozen=True, slots=True)
class MirrorMark:
    """The last change and the version of a mirror; `graph`: the owner has a graph there."""

    version: str
    seq: int
    graph: bool = True


@dataclass(frozen=True, slots=True)
class Rows:
    """The result of a query with JSON values."""

    columns: Sequence[str]
    rows: Sequence[Mapping[str, Any]]


class GraphMirror(Protocol):
    """One Cypher database with a graph for each owner. Every call raises MirrorUnavailable."""

    @property
    def target(self) -> str:
        """The address without a password: the key of its cursors."""

    async def mark(self, user_id: int) -> MirrorMark | None:
        """The mark of this owner's mirror; None if it does not exist or does not match its mark."""

    async def known(self, user_id: int, ids: Mapping[str, Collection[str]]) -> set[str]:
        """The nodes among these, by label, that are mirrored."""

    async def apply(self, user_id: int, batch: Batch, mark: MirrorMark) -> None:
        """Applies a batch to the mirror and sets the mark."""

    async def rebuild(self, user_id: int, batches: AsyncIterator[Batch], mark: MirrorMark) -> None:
        """Replaces the owner's graph in one step once the new one is complete. Without `mark.graph` drops it."""

    async def query(self, user_id: int, cypher: str, params: Mapping[str, Any]) -> Rows:
        """Runs a reading statement. Raises Refused for one that writes, cannot be read, takes or gives too much."""


def node_of(node: Node, more: Mapping[str, Any] | None = None) -> MirrorNode:
    """The mirrored form of a stored node: the properties of its label, and `more`."""
    return MirrorNode(node.label, cypher_properties({**registry.specified_properties(node), **(more or {})}))


def edge_of(edge: Edge, source_label: str, target_label: str, more: Mapping[str, Any] | None = None) -> MirrorEdge:
    """The mirrored form of a stored edge: the attributes of its relationship, and the times in which it held.

    A fact has all properties of the graph metadata, `created_at` too; other edges have only their end times.
    """
    properties: dict[str, Any] = {**edge.properties, **(more or {}), "id": edge.id}
    properties |= {name: getattr(edge, name) for name in _TIMES}
    if edge.type == FACT:
        properties["created_at"] = edge.created_at
    return MirrorEdge(edge.type, edge.source, edge.target, source_label, target_label, cypher_properties(properties))


def cypher_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties for a Cypher database: times in ISO 8601 of UTC, objects as JSON, without None."""
    return {name: _value(value) for name, value in properties.items() if value is not None and value != {}}


def _value(value: Any) -> Any:
    if isinstance(value, str):
        # The engine ends a text at NUL; half a surrogate pair cannot be sent.
        return value.replace("\0", "").encode("utf-8", "replace").decode()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return _value(json.dumps(value, ensure_ascii=False))
    return [_value(item) for item in value] if isinstance(value, list | tuple) else value
