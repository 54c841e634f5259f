"""Every relationship of the graph: its name, from which label to which, and its typed attributes.

A relationship is identified by name and ends: `PART_OF` and `MENTIONS` have other ends in two specifications. Sources:
"Relationships" of the memory graph, "Edge" of the graph metadata, "Зв'язки" of the session chronicle.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from internal.graph.labels import MENTIONED, Clock, Expected, Names, Share, Text, Time, Truth, Values, Words

FACT: Final = "FACT"


class Attributes(BaseModel):
    """The attributes of a relationship without any, and the base of all others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RelatedAttributes(Attributes):
    strength: Share = 0.5
    relType: Text | None = None


class Relevance(Attributes):
    relevance: Share | None = None


class BelongingAttributes(Attributes):
    isPrimary: Truth | None = None


class MentionAttributes(Attributes):
    role: Text | None = None


class Excerpt(Attributes):
    excerpt: Text | None = None


class Completeness(Attributes):
    completeness: Share | None = None


class SupportAttributes(Attributes):
    strength: Share = 0.5


class RelationKind(Attributes):
    relType: Text | None = None


class FactAttributes(Attributes):
    """The attributes of a fact. `name` is free (WORKS_FOR), `episodes` are the ids of the supporting episodes."""

    name: Words
    fact: Words
    attributes: Values | None = None
    episodes: Names | None = None
    updated_at: Time | None = None
    original_fact: Text | None = None
    update_reason: Text | None = None


class Month(Attributes):
    number: Annotated[int, Field(ge=1, le=12), Expected("a whole number from 1 to 12")]


class HappenedAttributes(Attributes):
    time: Clock


class Involvement(Attributes):
    context: Text | None = None


class ChronicleMention(Attributes):
    relevance: Annotated[int, Field(ge=1, le=5), Expected("a whole number from 1 to 5")] | None = None


@dataclass(frozen=True, slots=True)
class Relationship:
    """One relationship. `derived` ones follow from other rows and are never written as edges."""

    name: str
    source: str
    target: str
    attributes: type[Attributes] = Attributes
    derived: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        return self.name, self.source, self.target


_MEMORY: Final = (
    Relationship("RELATES_TO", "Memory", "Memory", RelatedAttributes),
    Relationship("HAS_CONCEPT", "Memory", "Concept", Relevance),
    Relationship("HAS_KEYWORD", "Memory", "Keyword"),
    Relationship("BELONGS_TO", "Memory", "Topic", BelongingAttributes),
    Relationship("MENTIONS", "Memory", "Entity", MentionAttributes),
    Relationship("FROM_SOURCE", "Memory", "Source", Excerpt),
    Relationship("IN_CONTEXT", "Memory", "Context"),
    Relationship("OCCURRED_DURING", "Memory", "TemporalMarker"),
    Relationship("INFORMED", "Memory", "Decision"),
    Relationship("PARTIALLY_ANSWERS", "Memory", "Question", Completeness),
    Relationship("SUPPORTS", "Memory", "Goal", SupportAttributes),
    Relationship("REVEALS", "Memory", "Preference"),
    Relationship("CONCEPT_RELATED_TO", "Concept", "Concept", RelationKind),
    Relationship("LED_TO", "Decision", "Decision"),
    Relationship("DEPENDS_ON", "Goal", "Goal"),
    Relationship("PART_OF", "Context", "Context"),
    Relationship("CONFLICTS_WITH", "Contradiction", "Memory"),
    Relationship("SUPERSEDES", "Contradiction", "Memory"),
)

_KNOWN: Final = ("Entity", "Preference", "Topic")
_FACTS: Final = tuple(Relationship(FACT, *ends, FactAttributes) for ends in product(_KNOWN, _KNOWN))

_EVENTS: Final = ("Request", "Response", "Feedback", "Analysis")


def _derived(
    name: str, sources: Iterable[str], targets: Iterable[str], attributes: type[Attributes] = Attributes
) -> list[Relationship]:
    return [Relationship(name, *ends, attributes, derived=True) for ends in product(sources, targets)]


_CHRONICLE: Final = (
    *_derived("PART_OF", _EVENTS, ["Session"]),
    *_derived("RESPONDS_TO", ["Response"], ["Request", "Feedback"]),
    *_derived("FEEDBACK_ON", ["Feedback"], ["Response"]),
    *_derived("ANALYZES", ["Analysis"], ["Response"]),
    *_derived("SUMMARIZES", ["Analysis"], ["Session"]),
    *_derived("NEXT", _EVENTS, _EVENTS),
    *_derived("LAST_EVENT", ["Session"], _EVENTS),
    *_derived("MONTH", ["Year"], ["Day"], Month),
    *_derived("HAPPENED_AT", ["Session", *_EVENTS, "Entity"], ["Day"], HappenedAttributes),
    *_derived("INVOLVES", ["Session"], MENTIONED, Involvement),
    *_derived("MENTIONS", _EVENTS, MENTIONED, ChronicleMention),
)

RELATIONSHIPS: Final[Mapping[tuple[str, str, str], Relationship]] = {
    relationship.key: relationship for relationship in (*_MEMORY, *_FACTS, *_CHRONICLE)
}
"""Every relationship by (name, from-label, to-label)."""
