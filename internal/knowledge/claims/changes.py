"""Inputs and results of the service of facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from internal.errors import Refusal
from internal.graph.derivation import DerivedChanges
from internal.knowledge.model import DatePrecision, SetBy

BOTH = "both"
"""The owner's answer to a contradiction: all sides hold."""

NEITHER = "neither"
"""The owner's answer to a contradiction: no side holds."""

ALSO = "also"
"""Attribute of a claim stated as one among several ("also works for"): it closes no other fact."""


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A line that supports a claim: its number in the episode and its words, cut from the line itself."""

    segment: int
    quote: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class NewClaim:
    """An assertion to be recorded. `source` and `target` are ids of nodes, `relation` a name in any form.

    `valid_at` None means an unknown beginning; `valid_stated` is False where `valid_at` is only the time of the line.
    `invalid_at` is set only if the end was stated, and must be later than `valid_at`. `lines` is at least one line of
    `episode_id`; only the owner's own claims may have none.
    """

    source: str
    relation: str
    target: str
    fact: str
    said_at: datetime
    valid_at: datetime | None = None
    valid_stated: bool = False
    invalid_at: datetime | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    episode_id: str | None = None
    lines: Sequence[ClaimLine] = ()
    set_by: SetBy = "archivist"
    valid_precision: DatePrecision | None = None
    invalid_precision: DatePrecision | None = None


@dataclass(slots=True)
class Changes(DerivedChanges):
    """Ids of facts that changed, each once, in the order of the changes.

    `created`: new facts. `closed`: got an end (also at creation). `reopened`: lost their end. `updated`: new versions
    with other words. `moved`: another date changed. `merged`: expired because they became part of another fact.
    `rewritten`: same id, words of another claim. `deleted`: nothing supports them any more.
    `contradictions`: new nodes to ask the owner about. `settled`: contradictions that need no answer any more.
    """

    created: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """The result of recording: the ids of the recorded `claims`, and in the same order the fact that each supports now.

    `referenced` are facts that were only repeated.
    """

    claims: Sequence[str]
    facts: Sequence[str | None]
    referenced: Sequence[str]
    refused: Sequence[Refusal]
    changes: Changes


@dataclass(frozen=True, slots=True)
class Removal:
    """The result of a removal: the number of claims, the ids of deleted nodes, and the changes of facts.

    `episodes` are those that lost claims; the rest of what they say can be derived again.
    """

    claims: int
    nodes: Sequence[str]
    episodes: Sequence[str]
    changes: Changes


@dataclass(frozen=True, slots=True)
class OpenContradiction:
    """A Contradiction node that only the owner can settle, with the ids of the conflicting facts."""

    id: str
    facts: Sequence[str]
    suggestion_id: str | None
