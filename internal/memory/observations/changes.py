"""Inputs and results of the service of memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from internal.errors import Refusal
from internal.graph.derivation import DerivedChanges
from internal.memory.model import NodeRef


@dataclass(frozen=True, slots=True)
class ObservedLine:
    """A line that supports an observation: its place, its time and its verbatim words.

    `reliability` of its speaker is in [0, 1], `own` is whether the owner said it.
    """

    episode_id: str
    segment: int
    said_at: datetime
    quote: str
    message_id: str | None = None
    reliability: float = 1.0
    own: bool = True


@dataclass(frozen=True, slots=True)
class SessionRef:
    """A session: its id, when it opened (in the owner's zone), and whether it is closed."""

    session_id: str
    opened_at: datetime
    closed: bool = False


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """The context in which a reply's memories are written: its lines by number and their episode.

    `entities` are node ids by the names that the memories use, `source` the Source of the episode, `session` the
    session of its messages, if any.
    """

    episode_id: str
    lines: Mapping[int, ObservedLine]
    now: datetime
    run_id: str | None = None
    entities: Mapping[str, str] = field(default_factory=dict)
    source: NodeRef | None = None
    session: SessionRef | None = None


@dataclass(slots=True)
class MemoryChanges(DerivedChanges):
    """Ids of nodes and edges of the memory graph that changed, each once, in the order of the changes.

    `referenced`: nodes that were only observed again. `contradictions`: new ones that the owner is asked about.
    """

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    referenced: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    suggested: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """The result of writing a reply's memories; `nodes` are the ids of their nodes, in their order."""

    nodes: Sequence[str]
    refused: Sequence[Refusal]
    changes: MemoryChanges

    @property
    def asked(self) -> bool:
        """Whether there is a question that only the owner can settle."""
        return bool(self.changes.contradictions or self.changes.suggested)


@dataclass(frozen=True, slots=True)
class Removal:
    """The result of a removal: names of deleted nodes by id, the number of edges, and every text they held.

    `known_as` are the labels and words by which the nodes were known, for the tombstones that keep them away.
    """

    nodes: Mapping[str, str] = field(default_factory=dict)
    edges: int = 0
    said: Sequence[str] = ()
    known_as: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class MemorySuggestion:
    """Another value for a property that the owner had set; only the owner may change it."""

    id: str
    node_id: str
    field: str
    value: Any
    current: Any
    created_at: datetime
