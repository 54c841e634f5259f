"""What goes into the service of memories and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from internal.memory.model import NodeRef


@dataclass(frozen=True, slots=True)
class ObservedLine:
    """A line that supports an observation: where it stands, when it was said, and its words as they were said.

    `reliability` in [0, 1] is how far its speaker may be believed, `own` whether the owner himself said it.
    """

    episode_id: str
    segment: int
    said_at: datetime
    quote: str
    message_id: str | None = None
    reliability: float = 1.0
    own: bool = True


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """The session in which something was said: its id, when it opened (in the owner's zone), whether it is closed."""

    session_id: str
    opened_at: datetime
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """What a reply's memories are written in: its lines by their numbers, and where they come from.

    `entities` are ids of nodes by the names that the memories use; `source` the Source of the episode; `session` the
    chronicle's session of its messages, None for what was not said in one.
    """

    episode_id: str
    lines: Mapping[int, ObservedLine]
    now: datetime
    run_id: str | None = None
    entities: Mapping[str, str] = field(default_factory=dict)
    source: NodeRef | None = None
    session: SessionPlace | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was not written, with a short stable word for why, and a sentence."""

    reason: str
    detail: str


@dataclass(slots=True)
class MemoryChanges:
    """What became of nodes and edges of the memory graph, by their ids, each once, in the order in which it happened.

    `told` are nodes that were only told again; `contradictions` new ones that the owner is to be asked about.
    """

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    suggested: list[str] = field(default_factory=list)

    def note(self, kind: str, id: str) -> None:
        listed: list[str] = getattr(self, kind)
        if id not in listed:
            listed.append(id)

    def counts(self) -> dict[str, int]:
        """How many of each, those that are none left out."""
        named = {name: len(getattr(self, name)) for name in self.__slots__}
        return {name: count for name, count in named.items() if count}


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a reply's memories; `nodes` are the ids of those it is about, in their order."""

    nodes: Sequence[str]
    refused: Sequence[Refusal]
    changes: MemoryChanges

    @property
    def asked(self) -> bool:
        """Whether there is something that only the owner can settle."""
        return bool(self.changes.contradictions or self.changes.suggested)


@dataclass(frozen=True, slots=True)
class Removal:
    """What fell: the nodes by id with what they were called, how many edges, and every text they held.

    `known_as` are the labels and words by which anybody told of these nodes: what has to be buried if they are not to
    come back.
    """

    nodes: Mapping[str, str] = field(default_factory=dict)
    edges: int = 0
    said: Sequence[str] = ()
    known_as: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class MemorySuggestion:
    """Something that was told of a property which the owner had set himself: only he may change it."""

    id: str
    node_id: str
    field: str
    value: Any
    current: Any
    created_at: datetime
