"""Typed memories: proposals of the archivist, stored observations, and the known nodes that a proposal may name.

A node or edge of the memory graph is a projection of its observations: each holds what one episode (or the owner) said
of it. When an observation is removed, the node follows from the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from internal.graph.labels import NODES

SetBy = Literal["archivist", "owner"]
TargetKind = Literal["node", "edge"]

NAMING: Mapping[str, str] = {
    "Memory": "content",
    "Concept": "name",
    "Keyword": "term",
    "Topic": "name",
    "Entity": "name",
    "Source": "reference",
    "Decision": "description",
    "Goal": "description",
    "Question": "text",
    "Context": "name",
    "Preference": "preference",
    "TemporalMarker": "description",
    "Contradiction": "description",
}
"""The property that identifies a node of each label; the keys are the labels that a proposal may name."""

MEMORY_LABELS = tuple(label for label in NODES if label in NAMING)


INSTRUCTION: Final = "instruction"
"""The category of a preference that is a standing instruction; it is active until it is ended."""

MERGE: Final = "merge"
"""The setter of a merged node's name, which observations do not change."""


class RefKey(NamedTuple):
    """A proposed node by its label and the words of its naming property, as they were written."""

    label: str
    words: str


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node that a proposal means: a known one (`node_id`), or one described by its label and properties.

    Properties are as the model wrote them but already checked by the registry; times may still be words.
    """

    label: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    node_id: str | None = None

    @property
    def key(self) -> RefKey:
        return RefKey(self.label, str(self.properties.get(NAMING[self.label], "")))


@dataclass(frozen=True, slots=True)
class ProposedLink:
    """A relationship between the proposed node and another; `outgoing` = from the proposed node to the other."""

    type: str
    other: NodeRef
    properties: Mapping[str, Any] = field(default_factory=dict)
    outgoing: bool = True


@dataclass(frozen=True, slots=True)
class ProposedMemory:
    """One item of `memories`: a node of any of the 13 labels, its links, and the numbers of its supporting lines."""

    node: NodeRef
    links: tuple[ProposedLink, ...] = ()
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A known node that a prompt shows under a `handle` ("Q1", "G2"), so that a reply can mean it without a raw id."""

    handle: str
    node_id: str
    label: str
    text: str
    status: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """The properties that one episode gives a node or edge (`target`), at the time of its earliest line.

    `episode_id` is None if the owner set them himself. The supporting lines are `evidence` rows whose target is
    `observation:<id>`.
    """

    user_id: int
    id: str
    target: str
    kind: TargetKind
    properties: Mapping[str, Any]
    said_at: datetime
    created_at: datetime
    episode_id: str | None = None
    run_id: str | None = None
    set_by: SetBy = "archivist"


@dataclass(frozen=True, slots=True)
class Likeness:
    """A stored node similar to a proposed one; `cosine` None = similar in form (case, number, alphabet, word order)."""

    node_id: str
    reason: str
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryLookup:
    """The results of looking up a reply's memories before its transaction: plain values, no database.

    `memories` are the proposals with their times resolved to ISO 8601 against the cited lines. `same` are stored nodes
    that mean the same thing, by the proposed node's key, likeliest first; `forms` other keys of this very reply that
    mean the same. `related` are stored memories near a proposed one, nearest first, for RELATES_TO.
    """

    memories: Sequence[ProposedMemory] = ()
    same: Mapping[RefKey, Sequence[Likeness]] = field(default_factory=dict)
    forms: Mapping[RefKey, RefKey] = field(default_factory=dict)
    related: Mapping[RefKey, Sequence[Likeness]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Association:
    """A memory linked by RELATES_TO, `strength` in [0, 1]."""

    node_id: str
    strength: float
