"""What goes into the service of facts and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from internal.knowledge.model import SetBy

BOTH = "both"
"""The owner's answer to a contradiction: every side holds beside the others."""

NEITHER = "neither"
"""The owner's answer to a contradiction: no side holds."""

ALSO = "also"
"""Attribute of a claim that was told as one among several ("also works for"): it closes no other fact."""


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A line that supports a claim: its number in the episode and its words, cut from the line itself."""

    segment: int
    quote: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class NewClaim:
    """An assertion to be recorded. `source` and `target` are ids of nodes, `relation` a name in any form.

    `said_at` is when it was said. `valid_at` None = from an unknown moment; `valid_stated` tells a date that was said
    from one taken from the time of the line; `invalid_at` is set only if the end was said, and must be later than
    `valid_at`. `lines` are at least one line of `episode_id`; only the owner's own claims may have none.
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


@dataclass(frozen=True, slots=True)
class Refusal:
    """A claim that was not recorded: its place among those given, and a short stable reason."""

    place: int
    reason: str
    detail: str


@dataclass(slots=True)
class Changes:
    """What became of facts: ids of edges. Every list is in the order in which it happened, each id once.

    `created` are new facts; `closed` got an end (at birth too), `reopened` lost theirs; `updated` are new versions of
    facts that were told in other words; `moved` changed another date; `merged` (expired) became part of another;
    `rewritten` keep their id with the words of another claim; `deleted` are supported by nothing any more.
    `contradictions` are new nodes to ask about, `settled` those that need no answer any more.
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

    def counts(self) -> dict[str, int]:
        """How many of each, those that are none left out."""
        named = {name: len(getattr(self, name)) for name in self.__slots__}
        return {name: count for name, count in named.items() if count}


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """What recording did. `claims` are the ids of those recorded, `facts` the fact each supports now, in their order.

    `referenced` are facts that were only told again.
    """

    claims: Sequence[str]
    facts: Sequence[str | None]
    referenced: Sequence[str]
    refused: Sequence[Refusal]
    changes: Changes


@dataclass(frozen=True, slots=True)
class Removal:
    """What fell with a removal: how many claims, ids of nodes supported by nothing, and what became of facts.

    `episodes` are those whose claims fell: what else they say can be derived anew.
    """

    claims: int
    nodes: Sequence[str]
    episodes: Sequence[str]
    changes: Changes


@dataclass(frozen=True, slots=True)
class OpenContradiction:
    """A question that only the owner can settle: a Contradiction node, and the ids of the facts that clash."""

    id: str
    facts: Sequence[str]
    suggestion_id: str | None
