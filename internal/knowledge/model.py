"""Episodes, claims and facts, and the entities and facts that an archivist proposes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

EpisodeSource = Literal["text", "json", "message"]
SetBy = Literal["archivist", "owner", "import"]
DatePrecision = Literal["year", "month", "day"]
CitationOperation = Literal["created", "updated", "referenced"]

OF_FILE: Final = "file"
"""The description of an episode whose segments are the text of a file; search finds each segment by itself."""

AUDIENCE: Final = "audience"
"""The attribute with the audience of a fact: `private`, `person:<id>`, `team` or `group:<id>`; absent: the rules
decide (`internal/language/discretion`)."""
TEAM: Final = "team"
"""The audience of everybody in the owner's teams."""
GROUP: Final = "group:"
"""The prefix of an audience of all who write in a group; the id of its chat follows."""

OWNER_NODE = "owner"
"""The owner in a proposal; the archivist writes `user`."""


@dataclass(frozen=True, slots=True)
class Episode:
    """`first_seq`..`last_seq` are the messages of a fragment; its content is theirs and is not stored twice.

    `reference_time` is when it happened, `created_at` when it was stored, `processed_at` when the last agent was done.
    `dedupe` is the key by which the same episode is stored once.
    """

    user_id: int
    id: str
    source: EpisodeSource
    name: str
    content: str
    source_description: str
    source_url: str | None
    reference_time: datetime
    created_at: datetime
    first_seq: int | None = None
    last_seq: int | None = None
    dedupe: str | None = None
    processed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One numbered piece of an episode; `text` is None where it is the message's own.

    After an import or from REST: `speaker` is who said it (None = nobody in particular), `own` whether it may
    testify about the owner (his own words, or a text without a speaker), `forwarded_from` the author of a quoted
    forward, `url` a link to this very place, `key` the identity of an imported message: none is imported twice.
    """

    n: int
    at: datetime
    text: str | None
    message_id: str | None
    speaker: str | None = None
    own: bool = True
    forwarded_from: str | None = None
    url: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A stored line that supports something: its place, its words as they were said, and where they can be looked up.

    `message_id` is ours, `telegram_link` a t.me link where the chat has one.
    """

    episode_id: str
    segment: int
    at: datetime
    quote: str
    message_id: str | None = None
    speaker: str | None = None
    role: Literal["user", "assistant"] = "user"
    forwarded_from: str | None = None
    url: str | None = None
    telegram_link: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One assertion of an episode or the owner about one relation; facts are derived from claims.

    `source` and `target` are node ids, `name` the relation (`WORKS_FOR`), `statement` the folded text by which two
    wordings count as the same. `valid_at` None = from an unknown moment; `valid_stated` is False where it is only the
    time of the message. `invalid_at` is set only if the end was stated. Both are as exact as their `_precision` says,
    None = unknown. `said_at` is the time of the message, `created_at`..`retracted_at` the period in which the claim
    counts.
    """

    user_id: int
    id: str
    source: str
    name: str
    target: str
    statement: str
    fact: str
    said_at: datetime
    created_at: datetime
    valid_at: datetime | None = None
    valid_stated: bool = False
    invalid_at: datetime | None = None
    retracted_at: datetime | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    edge_id: str | None = None
    episode_id: str | None = None
    run_id: str | None = None
    set_by: SetBy = "archivist"
    valid_precision: DatePrecision | None = None
    invalid_precision: DatePrecision | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of a fact, the specification's EntityEdge: an edge between two nodes with its words and times.

    `episodes` are the ids of the supporting episodes, in the order of their claims. `supersedes` is the id of the
    previous version, `original_fact` its text. `valid_stated`: `valid_at` was stated, not taken from `said_at`; both
    dates are as exact as their `_precision` says.
    """

    user_id: int
    id: str
    source: str
    target: str
    name: str
    fact: str
    created_at: datetime
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    expired_at: datetime | None = None
    episodes: Sequence[str] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    supersedes: str | None = None
    original_fact: str | None = None
    update_reason: str | None = None
    updated_at: datetime | None = None
    set_by: SetBy = "archivist"
    source_name: str = ""
    target_name: str = ""
    valid_stated: bool = False
    valid_precision: DatePrecision | None = None
    invalid_precision: DatePrecision | None = None

    def holds(self, at: datetime, until: datetime | None = None) -> bool:
        """Whether it held then: [valid_at, invalid_at), an unknown beginning counting as always.

        With `until`: whether it held at any time in [at, until).
        """
        begun = self.valid_at is None or (self.valid_at <= at if until is None else self.valid_at < until)
        return begun and (self.invalid_at is None or at < self.invalid_at)


@dataclass(frozen=True, slots=True)
class Citation:
    """An episode that supports a fact or node: the specification's CitationInfo and CitationChainEntry."""

    episode_uuid: str
    episode_name: str
    source: EpisodeSource
    source_description: str
    created_at: datetime | None
    source_url: str | None
    operation: CitationOperation = "referenced"


@dataclass(frozen=True, slots=True)
class ProposedEntity:
    """An entity as an archivist proposes it: checked in form, not yet found or made in the graph.

    `labels` are knowledge types (Organization, Preference, a custom one ...), first one first. `relevance` is 1..5.
    """

    name: str
    labels: tuple[str, ...] = ()
    summary: str = ""
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    relevance: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposedFact:
    """A fact as an archivist proposes it. Its ends are OWNER_NODE, `Person:42`, or names as they were written.

    `valid_at` and `invalid_at` are the words it wrote (ISO dates, "yesterday", "unknown"), None if it wrote nothing;
    they are resolved against the time of the cited lines. `entity_types` holds the types of names that are not among
    the reply's entities.
    """

    source: str
    relation: str
    target: str
    fact: str
    valid_at: str | None = None
    invalid_at: str | None = None
    entity_types: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FactFilter:
    """A filter of facts; fields that are not set do not filter.

    `node_id`: one of the ends. `relations`: names in any form. `entity_types`: labels or types of one of the ends.
    `as_of`: what held then; with `until`, at any time in [as_of, until). `known_at`: what we knew then.
    `include_invalid`: also what has ended, and old versions. `ended`: only what has ended, no old versions.
    """

    node_id: str | None = None
    relations: Collection[str] = ()
    entity_types: Collection[str] = ()
    as_of: datetime | None = None
    known_at: datetime | None = None
    include_invalid: bool = False
    until: datetime | None = None
    ended: bool = False
