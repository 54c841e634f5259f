"""Sessions and the line of their events: rows that point at messages, from which the graph is derived."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

SessionCommand = Literal["/db", "/sa", "/ss"]
Verdict = Literal["correct", "partially_correct", "incorrect"]
AnalysisType = Literal["response_analysis", "session_summary"]

AGENT = "Grynya"
"""The constant that the specification gives as the author of every response."""


class EventLabel(StrEnum):
    REQUEST = "Request"
    RESPONSE = "Response"
    FEEDBACK = "Feedback"
    ANALYSIS = "Analysis"


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation. `topic_by` is `words` (the beginning of its Request) until the analyst or the owner names it.

    `trigger` is the command that opened it, `/db` if no command did. `tz` is the owner's IANA zone
    when it opened: it decides the days and times of its events. `thread_id` is its topic, 0 outside of topics; at most
    one session of a topic is open.
    """

    user_id: int
    id: str
    topic: str
    trigger: SessionCommand
    tz: str
    opened_at: datetime
    closed_at: datetime | None = None
    topic_by: Literal["words", "analyst", "owner"] = "words"
    rev: int = 0
    thread_id: int = 0

    @property
    def status(self) -> Literal["active", "closed"]:
        return "active" if self.closed_at is None else "closed"


@dataclass(frozen=True, slots=True)
class ChronicleEvent:
    """One event of the line, numbered `n` for each owner: the order of NEXT is the order of `n`, not of times.

    `text` is the message's own text, word for word, read with the row (an Analysis has none). `answers_n` is the number
    of the event that a Response answers, an Analysis analyses or a Feedback is about. It is None for a summary of the
    session and for a Feedback that names no Response: unless it `replies` to something else, it is about the last one.
    `attrs` hold values that are in no message: the verdict, rules, errors and lessons of an Analysis, the summary of a
    Response if there is one, the `reaction` of a Feedback without a message.
    """

    user_id: int
    n: int
    id: str
    session_id: str
    label: EventLabel
    at: datetime
    text: str = ""
    message_id: str | None = None
    answers_n: int | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    replies: bool = False

    @property
    def is_reaction(self) -> bool:
        """Whether it is a tap on an answer, which is no message of the log."""
        return self.label is EventLabel.FEEDBACK and self.message_id is None


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity that an event names; `relevance` 1..5, None if it was not judged."""

    event_id: str
    entity_id: str
    relevance: int | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """The completeness of a chronicle: shares in [0, 1], and the number of unconnected nodes."""

    next_integrity: float
    full_text: float
    analysis_coverage: float
    entity_uniqueness: float
    orphans: int
