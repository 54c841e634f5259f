"""Nodes, edges and filters of the property graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

NODE_CHANGE = "node"
EDGE_CHANGE = "edge"
"""Kinds in the change log, which mirrors and caches follow."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `properties` are those its label declares in the registry, under the specifications' own names.

    `subtype` is the value of the label's `type` (an entity's person, organization, ...), None where it has none.
    `created_at` is when it was stored, `said_at` when a memory was first said, `run_id` the run that wrote it.
    `field_meta` marks what the owner set himself, as for people: {"description": {"by": "owner", "at": ...}}.
    """

    user_id: int
    id: str
    label: str
    properties: Mapping[str, Any]
    created_at: datetime
    subtype: str | None = None
    updated_at: datetime | None = None
    access_count: int = 0
    last_accessed: datetime | None = None
    field_meta: Mapping[str, Any] = field(default_factory=dict)
    merged_into: str | None = None
    rev: int = 0
    run_id: str | None = None
    said_at: datetime | None = None

    @property
    def dated(self) -> datetime:
        """The date that is shown: when it was said, which for an import is long before it was stored."""
        return self.said_at or self.created_at

    @property
    def name(self) -> str:
        """The display name: the first of name, term, text, summary and description."""
        for key in ("name", "term", "summary", "text", "preference", "description", "title", "content"):
            value = self.properties.get(key)
            if isinstance(value, str) and value:
                return value
        return ""

    @property
    def summary(self) -> str:
        """The summary in the knowledge graph's sense: the description, else a memory's own summary."""
        return str(self.properties.get("description") or self.properties.get("summary") or "")

    def owner_set(self, name: str) -> bool:
        """Whether the owner set this property himself; then a model may only suggest."""
        return bool(self.field_meta.get(name, {}).get("by") == "owner")


@dataclass(frozen=True, slots=True)
class Edge:
    """One directed edge. Intervals are [valid_at, invalid_at); None is open or unknown.

    `created_at` and `expired_at` limit when we knew it, `valid_at` and `invalid_at` when it held. `*_origin` are the
    ends as they were written: a merge moves `source` and `target`, a split moves them back.
    """

    user_id: int
    id: str
    type: str
    source: str
    target: str
    properties: Mapping[str, Any]
    created_at: datetime
    strength: float | None = None
    strength_at: datetime | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    expired_at: datetime | None = None
    source_origin: str = ""
    target_origin: str = ""
    rev: int = 0
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """The edges that a traversal follows: of these types (empty = all), holding at this moment.

    `at` None leaves out edges that have ended or expired by now; `include_invalid` follows all. `known_at` selects
    edges that had been stored by then and not yet expired.
    """

    types: Sequence[str] = ()
    at: datetime | None = None
    known_at: datetime | None = None
    include_invalid: bool = False


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """A filter of nodes by labels (empty = all) and status."""

    labels: Sequence[str] = ()
    status: str | None = None


ANY_NODE = NodeFilter()
CURRENT_EDGES = EdgeFilter()
"""The default filter."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """The deleted edges of a node and the nodes at their other ends, whose facts must be projected again."""

    edges: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeUndo:
    """The data for undoing a merge of two nodes besides the origins of edges and claims.

    `removed` are rows of duplicate edges and edges from a node to itself, as plain JSON values; `claims` are
    (claim id, edge id) of the current facts that may be projected differently now.
    """

    removed: tuple[Mapping[str, Any], ...] = ()
    claims: tuple[tuple[str, str], ...] = ()
