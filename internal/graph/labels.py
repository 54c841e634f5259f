"""Every node label of the graph with its properties, as the specifications name them.

Sources: "Node Types" of the memory graph, "Node" of the graph metadata, "Вузли" of the session chronicle; where they
overlap a label holds the superset. `id` is never written as a property: the store assigns it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    model_validator,
)


@dataclass(frozen=True, slots=True)
class Expected:
    """The accepted values of a property in the words of a refusal."""

    words: str


def _time(value: Any, info: ValidationInfo) -> Any:
    """Converts an ISO 8601 text or a datetime to UTC; one without a zone is in the zone given with the check."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return value  # refused by the type itself
    if not isinstance(value, datetime):
        return value
    zone = (info.context or {}).get("zone", UTC)
    try:
        return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        raise ValueError("the year is out of range") from None


def _json(value: dict[str, Any]) -> dict[str, Any]:
    json.dumps(value, allow_nan=False)  # JSON knows no NaN, and SQLite could not read it back
    return value


_LARGEST: Final = 2**53
"""The largest whole number that every reader of JSON keeps exactly."""

Text = Annotated[str, Expected("text")]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), Expected("text that is not empty")]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), Expected("a number from 0 to 1")]
Liking = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False), Expected("a number from -1 to 1")]
Count = Annotated[int, Field(ge=0, le=_LARGEST), Expected("a whole number, 0 or more")]
Rank = Annotated[int, Field(ge=1, le=_LARGEST), Expected("a whole number, 1 or more")]
Truth = Annotated[bool, Expected("true or false")]
Names = Annotated[list[Words], Expected("a list of texts that are not empty")]
Texts = Annotated[list[str], Expected("a list of texts")]
Values = Annotated[dict[str, JsonValue], AfterValidator(_json), Expected("an object of JSON values")]
Time = Annotated[
    datetime, BeforeValidator(_time), PlainSerializer(lambda moment: moment.isoformat()), Expected("a time in ISO 8601")
]
Clock = Annotated[
    str, StringConstraints(pattern=re.compile(r"^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$")), Expected("a time as HH:MM:SS")
]
Date = Annotated[str, StringConstraints(pattern=re.compile(r"^\d{4}-\d\d-\d\d$")), Expected("a date as YYYY-MM-DD")]

SUMMARY: Final = 120
"""Characters of the default summary of a memory, its beginning: one line of a list."""


def beginning(content: str) -> str:
    """The first SUMMARY characters of a content, cut between words where it can be."""
    first = content.strip()[:SUMMARY]
    if len(content.strip()) <= SUMMARY:
        return first
    return first.rsplit(maxsplit=1)[0] if " " in first else first


class Label(BaseModel):
    """The base of all labels: no unknown properties, no silent conversion. None means absent."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Memory(Label):
    content: Words
    summary: Text | None = None
    lastAccessed: Time | None = None
    accessCount: Count | None = None
    confidence: Share = 1.0

    @model_validator(mode="before")
    @classmethod
    def _summarised(cls, given: Any) -> Any:
        content = given.get("content") if isinstance(given, dict) else None
        if isinstance(content, str) and not given.get("summary"):
            return given | {"summary": beginning(content)}
        return given


class Concept(Label):
    name: Words
    description: Text | None = None


class Keyword(Label):
    term: Words


class Described(Label):
    """The base of labels shared with the knowledge graph, which calls the description `summary`."""

    description: Text | None = None
    aliases: Names = Field(default_factory=list)
    attributes: Values = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _one_description(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "summary" not in given:
            return given
        rest = {name: value for name, value in given.items() if name != "summary"}
        return {"description": given["summary"]} | rest


class Topic(Described):
    name: Words


class Entity(Described):
    name: Words
    type: Literal["person", "organization", "project", "tool", "technology", "place", "concept", "rule"] = "concept"
    labels: Names = Field(default_factory=list)


class Source(Label):
    type: Literal["conversation", "file", "url", "document", "observation"]
    reference: Words
    title: Text | None = None
    reliability: Share | None = None


class Decision(Label):
    description: Words
    rationale: Text | None = None
    date: Time | None = None
    outcome: Text | None = None
    reversible: Truth | None = None


class Goal(Label):
    description: Words
    status: Literal["active", "achieved", "abandoned"] = "active"
    priority: Rank | None = None
    targetDate: Time | None = None


class Question(Label):
    text: Words
    status: Literal["open", "partial", "answered"] = "open"
    answeredDate: Time | None = None


class Context(Label):
    name: Words
    type: Literal["project", "task", "conversation", "session", "domain"]
    description: Text | None = None
    status: Literal["active", "completed", "archived"] = "active"


class Preference(Described):
    """`status` is that of a standing instruction, the category "instruction"; other preferences have none."""

    category: Text | None = None
    preference: Words
    status: Literal["active", "ended"] | None = None
    strength: Liking | None = None
    observations: Count = 1


class TemporalMarker(Label):
    type: Literal["point", "period", "sequence"]
    description: Words
    startDate: Time | None = None
    endDate: Time | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.startDate and self.endDate and self.endDate < self.startDate:
            raise ValueError("endDate: a time not before startDate")
        return self


class Contradiction(Label):
    """`facts` are the ids of the edges that contradict one another, beside the memories of CONFLICTS_WITH."""

    description: Words
    resolution: Text | None = None
    status: Literal["unresolved", "resolved", "accepted"] = "unresolved"
    facts: Names = Field(default_factory=list)


class Session(Label):
    name: Words
    topic: Text
    status: Literal["active", "closed"]
    trigger: Literal["/db", "/sa", "/ss"]


class Request(Label):
    name: Words
    author: Literal["user"]
    text: Text
    type: Literal["text", "command"]


class Response(Label):
    name: Words
    author: Literal["Grynya"]
    summary: Text
    full_text: Text
    type: Literal["text"]


class Feedback(Label):
    name: Words
    author: Literal["user"]
    text: Text


class Analysis(Label):
    name: Words
    type: Literal["response_analysis", "session_summary"]
    verdict: Literal["correct", "partially_correct", "incorrect"]
    rules_used: Texts
    rules_ignored: Texts
    errors: Texts
    lessons: Texts


class Year(Label):
    name: Words
    value: Rank


class Day(Label):
    name: Words
    date: Date


@dataclass(frozen=True, slots=True)
class NodeSchema:
    """The storage of a label. `derived` labels follow from other rows and are never written as nodes.

    `columns` are the columns of `graph_nodes` that copy a property for filtering or sorting; `searched` are the
    properties that make the text by which the node is found; `by_name`: its name and aliases are keys to find it.
    `created`: the specification has the time of storing. `sentence` is the property that identifies a node without
    a name.
    """

    model: type[Label]
    columns: Mapping[str, str]
    searched: tuple[str, ...]
    by_name: bool = False
    created: bool = True
    derived: bool = False
    sentence: str = ""

    @property
    def label(self) -> str:
        return self.model.__name__


_NAMED: Final = {"name": "name"}
_TYPED: Final = {"type": "subtype"}
_STATE: Final = {"status": "status"}
_TOUCHED: Final = {"accessCount": "access_count", "lastAccessed": "last_accessed"}

_WRITTEN: Final = (
    NodeSchema(Memory, _TOUCHED, ("summary", "content"), sentence="content"),
    NodeSchema(Concept, _NAMED, ("name", "description")),
    NodeSchema(Keyword, {"term": "name"}, ("term",)),
    NodeSchema(Topic, _NAMED, ("name", "aliases", "description"), by_name=True),
    NodeSchema(Entity, _NAMED | _TYPED, ("name", "aliases", "description"), by_name=True),
    NodeSchema(Source, {"reference": "name"} | _TYPED, ("title", "reference")),
    NodeSchema(
        Decision, {"date": "at"}, ("description", "rationale", "outcome"), created=False, sentence="description"
    ),
    NodeSchema(Goal, _STATE | {"targetDate": "at"}, ("description",), sentence="description"),
    NodeSchema(Question, _STATE | {"answeredDate": "at"}, ("text",), sentence="text"),
    NodeSchema(Context, _NAMED | _TYPED | _STATE, ("name", "description")),
    NodeSchema(
        Preference, {"preference": "name"} | _STATE, ("category", "preference", "aliases", "description"), by_name=True
    ),
    NodeSchema(TemporalMarker, _TYPED | {"startDate": "at"}, ("description",), sentence="description"),
    NodeSchema(Contradiction, _STATE, ("description", "resolution"), sentence="description"),
)

_CHRONICLE: Final = (Session, Request, Response, Feedback, Analysis, Year, Day)

NODES: Final[Mapping[str, NodeSchema]] = {schema.label: schema for schema in _WRITTEN} | {
    model.__name__: NodeSchema(model, {}, (), created=False, derived=True) for model in _CHRONICLE
}
"""Every label by its name."""

MENTIONED: Final = ("Entity", "Concept", "Preference", "Topic")
"""The labels of nodes that events of the chronicle mention: its specification calls all of them Entity."""
