"""The graph's requests and answers, under the names of the graph-metadata specification.

Missing fields are added, none is renamed: a fact's `attributes` and `evidence`, a node's `group_id`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bot.web.http.fields import (
    Attributes,
    Content,
    GroupId,
    Moment,
    Name,
    NodeId,
    Out,
    OwnId,
    Remark,
    RequestBody,
    Statement,
    Url,
    filled,
)
from internal.dialogue.search_item_repository import words_of
from internal.graph.model import Node
from internal.knowledge.model import AUDIENCE, Citation, CitationOperation, Episode, EpisodeSource, EvidenceLine, Fact
from internal.language.dates.precision import DatePrecision
from internal.recall.messages.search import MessageHit

_HIDDEN = ("embedding", "name_embedding", "labels", "name", "description", "summary")
"""Properties that are fields of a node or vectors."""


class EpisodeCreateRequest(RequestBody):
    name: Name
    content: Content
    group_id: GroupId | None = None
    source: EpisodeSource = "text"
    source_description: Remark | None = ""
    source_url: Url | None = None
    uuid: OwnId | None = Field(None, description="Its id; a new one if absent. The same one again changes nothing.")
    reference_time: Moment | None = Field(None, description="When it happened; now if absent.")


class EpisodeCreateResponse(BaseModel):
    status: str
    message: str
    episode_name: str
    group_id: str
    uuid: str


class EpisodeOut(BaseModel):
    """An episode; `source_description` contains the `source_url`."""

    uuid: str
    name: str
    content: str
    source: EpisodeSource
    source_description: str
    group_id: str
    created_at: datetime
    reference_time: datetime

    @classmethod
    def of(cls, episode: Episode, content: str, description: str, **more: Any) -> Any:
        return cls(
            uuid=episode.id,
            name=episode.name,
            content=content,
            source=episode.source,
            source_description=description,
            group_id=str(episode.user_id),
            created_at=episode.created_at,
            reference_time=episode.reference_time,
            **more,
        )


class ProcessedEpisode(EpisodeOut):
    processed_at: datetime | None = Field(description="When the last agent finished reading it; null until then.")


class EpisodesOut(BaseModel):
    """`count` is the number of all results."""

    episodes: list[EpisodeOut]
    count: int


class CitationInfo(Out):
    episode_uuid: str
    episode_name: str
    source: EpisodeSource
    source_description: str
    created_at: datetime | None
    source_url: str | None


class CitationChainEntry(CitationInfo):
    operation: CitationOperation


class CitationChain(BaseModel):
    citations: list[CitationChainEntry]
    count: int

    @classmethod
    def of(cls, chain: Sequence[Citation]) -> CitationChain:
        return cls(citations=[CitationChainEntry.of(one) for one in chain], count=len(chain))


class EvidenceOut(BaseModel):
    """A line that supports a fact, word for word, and where to find it."""

    episode_uuid: str
    segment: int
    at: datetime
    quote: str
    speaker: str | None
    message_id: str | None
    forwarded_from: str | None
    url: str | None
    telegram_link: str | None

    @classmethod
    def of(cls, line: EvidenceLine) -> EvidenceOut:
        return filled(cls, line, episode_uuid=line.episode_id)


class EntityEdge(BaseModel):
    uuid: str
    source_node_uuid: str
    target_node_uuid: str
    name: str
    fact: str
    created_at: datetime
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    expired_at: datetime | None = None
    episodes: list[str] = []
    citations: list[CitationInfo] = []
    updated_at: datetime | None = None
    original_fact: str | None = None
    update_reason: str | None = None
    attributes: dict[str, Any] = {}
    evidence: list[EvidenceOut] = []
    audience: str = Field("private", description="For whom it is: private, person:<id>, team or group:<id>.")
    audience_chosen: bool = Field(False, description="Whether the owner chose it. If not, the rules decide.")
    valid_at_precision: DatePrecision | None = Field(
        None, description="How exactly the date was stated; null if no date was stated."
    )
    invalid_at_precision: DatePrecision | None = None

    @classmethod
    def of(cls, fact: Fact, citations: Sequence[Citation], evidence: Sequence[EvidenceLine]) -> EntityEdge:
        return filled(
            cls,
            fact,
            uuid=fact.id,
            source_node_uuid=fact.source,
            target_node_uuid=fact.target,
            episodes=list(fact.episodes),
            citations=[CitationInfo.of(one) for one in citations],
            attributes={name: value for name, value in fact.attributes.items() if name != AUDIENCE},
            audience=str(fact.attributes.get(AUDIENCE) or "private"),
            audience_chosen=bool(fact.attributes.get(AUDIENCE)),
            evidence=[EvidenceOut.of(line) for line in evidence],
            valid_at_precision=fact.valid_precision or ("day" if fact.valid_stated else None),
            invalid_at_precision=fact.invalid_precision or (None if fact.invalid_at is None else "day"),
        )


class FactHistory(BaseModel):
    """Every version of a fact, oldest first."""

    history: list[EntityEdge]
    count: int


class EntityNode(BaseModel):
    uuid: str
    name: str
    summary: str | None = None
    created_at: datetime
    labels: list[str] = []
    attributes: dict[str, Any] = {}
    group_id: str

    @classmethod
    def of(cls, node: Node) -> EntityNode:
        own = dict(node.properties.get("attributes") or {})
        beside = {
            name: value for name, value in node.properties.items() if name not in {*_HIDDEN, "attributes"} and value
        }
        return cls(
            uuid=node.id,
            name=node.name,
            summary=node.summary or None,
            created_at=node.created_at,
            labels=_labels(node),
            attributes={name: value for name, value in {**beside, **own}.items() if name not in _HIDDEN[:2]},
            group_id=str(node.user_id),
        )


class GraphSearchRequest(RequestBody):
    query: Statement
    search_type: Literal["facts", "nodes", "episodes", "messages"] = "facts"
    max_results: int = Field(10, ge=1, le=100)
    group_ids: list[GroupId] | None = Field(None, max_length=50, description="Absent: the sole owner's.")
    entity_types: list[NodeId] | None = Field(None, max_length=50)
    center_node_uuid: NodeId | None = Field(None, description="What is nearer to this node comes first.")
    as_of: Moment | None = Field(None, description="What held then.")
    known_at: Moment | None = Field(None, description="What we knew then.")
    include_invalid: bool = Field(False, description="Also what has ended, and old versions.")
    since: Moment | None = Field(None, description="Messages said then or later.")
    until: Moment | None = Field(None, description="Messages said before.")


class MessageReasonsOut(BaseModel):
    """The reasons for which a message was found.

    `meaning` is the cosine, null without vectors; `words` its share of the question's words, `context` that with the
    line before it; `sender` is 1 if the question names the author, 0.5 if it names nobody or several; `dated`:
    said in the month or year that the question names.
    """

    meaning: float | None
    words: float
    context: float
    sender: float
    dated: bool


class FoundMessageOut(BaseModel):
    """A message that was found. `chance` is how likely it answers, from 0 to 1; `speaker` is the original author."""

    uuid: str
    content: str
    role: str
    speaker: str | None
    group_id: str
    created_at: datetime
    chance: float
    reasons: MessageReasonsOut

    @classmethod
    def of(cls, hit: MessageHit) -> FoundMessageOut:
        said = hit.message
        return cls(
            uuid=said.id,
            content=words_of(said),
            role=said.role,
            speaker=said.forward.name if said.forward is not None else None,
            group_id=str(said.user_id),
            created_at=said.timestamp,
            chance=round(hit.chance, 6),
            reasons=MessageReasonsOut(**asdict(hit.reasons)),
        )


class GraphSearchResponse(BaseModel):
    message: str
    search_type: str
    results: list[EntityEdge | EntityNode | EpisodeOut | FoundMessageOut]
    count: int


Audience = Annotated[str, Field(pattern=r"^(private|team|person:[0-9]{1,18}|group:-?[0-9]{1,18})$")]


class FactUpdateRequest(RequestBody):
    """New words, a new audience, or both. `audience` null: the rules decide again."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"anyOf": [{"required": ["fact"]}, {"required": ["audience"]}]}
    )

    fact: Annotated[Statement, Field(validate_default=False)] = None  # type: ignore[assignment]
    audience: Audience | None = None
    source_node_uuid: NodeId | None = None
    target_node_uuid: NodeId | None = None
    attributes: Attributes | None = Field(None, description="Merged into the existing ones; null removes one.")
    reason: Remark | None = Field(None, description="Why; kept with the new version.")

    @model_validator(mode="after")
    def _something(self) -> FactUpdateRequest:
        if self.fact is None and "audience" not in self.model_fields_set:
            raise ValueError("fact or audience is expected")
        return self

    @property
    def changed_attributes(self) -> dict[str, Any] | None:
        """The changed attributes, including the audience."""
        if "audience" not in self.model_fields_set:
            return self.attributes
        return {**(self.attributes or {}), AUDIENCE: self.audience}


class FactUpdateResponse(BaseModel):
    status: str
    old_uuid: str
    new_uuid: str
    message: str
    new_edge: EntityEdge | None = None


class GraphStatus(BaseModel):
    """The size of one owner's graph, and how many episodes the agents still have to read."""

    status: str
    message: str
    group_id: str
    episodes: int
    facts: int
    people: int
    waiting: int
    dead: int


def _labels(node: Node) -> list[str]:
    fields = list(node.properties.get("labels") or ())
    if fields:
        return fields
    return [node.label if node.label != "Entity" or not node.subtype else node.subtype.capitalize()]
