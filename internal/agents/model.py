"""The requests and replies of every agent. An agent returns a typed proposal and never writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol

from internal.access.model import CALLED, User
from internal.agents.known_task import KnownTask
from internal.dialogue.notifications.model import Notification
from internal.dialogue.snapshots.model import EMPTY, Snapshot
from internal.language.dates.precision import DatePrecision
from internal.language.text.spelling import unquoted, without_attachments
from internal.llm.model import ChatDelta, ChatMessage, Tool, ToolCall, Usage
from internal.memory.model import KnownMemory
from internal.people.model import Person

Language = Literal["ru", "uk", "en"]


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One numbered message of a transcript, or segment of a text, as evidence refers to it.

    `number` counts from 1; `at` is aware, in the owner's zone. `speaker` is empty if there is none.
    `forwarded_from` names the author of a forward. `own` is False if somebody else than the owner speaks.
    `telegram_ids` are the only ids that an operation may cite from this line. `quoted` are the words that the line
    answers, with their author: they explain the line and are no statement in it.
    """

    number: int
    role: Literal["user", "assistant"]
    speaker: str
    at: datetime
    text: str
    forwarded_from: str | None = None
    telegram_ids: tuple[int, ...] = ()
    own: bool = True
    quoted: str = ""

    @property
    def owners_word(self) -> bool:
        """Whether the line is evidence about the owner: his own words (no picture's), or a text without a speaker."""
        own = self.role == "user" and self.own and self.forwarded_from is None
        return own and ("[" not in self.text or bool(without_attachments(self.text).strip()))

    def unquoted(self) -> TranscriptLine:
        """The line with only its speaker's own words, without the quotation."""
        return replace(self, text=unquoted(self.text))


@dataclass(frozen=True, slots=True)
class SamePersonHint:
    """Two names that may mean one person: a suggestion to the archivist, never a merge by itself.

    `mention` is a form in the transcript (or another known person's name), `reason` is one of
    prefix, patronymic, declension, diminutive, transliteration, username.
    """

    mention: str
    person_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """A known thing of the graph, shown so that a reply uses its name. `type` is its entity type."""

    name: str
    type: str = ""
    aliases: tuple[str, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class OwnerProfile:
    """The owner for prompts: name, @username, language, IANA zone and known facts; `names` are earlier names."""

    user_id: int
    name: str
    username: str | None
    language: Language
    timezone: str
    facts: Sequence[str] = ()
    names: Sequence[str] = ()

    @classmethod
    def of(cls, user: User) -> OwnerProfile:
        before = (user.name, *user.settings.get(CALLED, ()))
        return cls(user.user_id, user.called, user.username, user.lang, user.tz, names=before)


@dataclass(frozen=True, slots=True)
class AgentReply:
    """A raw reply in the agent's format, stored before it is parsed (C9), with its prompt."""

    text: str
    model: str
    usage: Usage = field(default_factory=Usage)
    prompt: Sequence[ChatMessage] = ()


@dataclass(frozen=True, slots=True)
class ArchivistRequest:
    """A slice of a fragment (1..60 lines) with everything the archivist may refer to.

    `people` are the known people whom a reply may name by id (all, or the likely ones of many). `facts` are known facts
    in words with their dates, `entities` the known things that the slice may mean, `memories` the open goals and
    questions, decisions, preferences and memories that a reply may refer to by handle.
    """

    owner: OwnerProfile
    people: Sequence[Person]
    hints: Sequence[SamePersonHint]
    facts: Sequence[str]
    transcript: Sequence[TranscriptLine]
    entities: Sequence[KnownEntity] = ()
    memories: Sequence[KnownMemory] = ()


class Archivist(Protocol):
    async def ask(self, request: ArchivistRequest) -> AgentReply:
        """A reply that `archivist.output.parse` reads. Raises the errors of `ChatModel.complete`."""


@dataclass(frozen=True, slots=True)
class EnricherRequest:
    """A question. `leans`: it may depend on the lines before it (`recent`); otherwise no model need be asked."""

    owner: OwnerProfile
    question: str
    recent: Sequence[TranscriptLine]
    leans: bool = True


class Enricher(Protocol):
    async def standalone(self, request: EnricherRequest) -> str:
        """The question rewritten so that it can be understood and searched for without the earlier dialogue."""


@dataclass(frozen=True, slots=True)
class RerankerRequest:
    owner: OwnerProfile
    query: str
    candidates: Sequence[Person]
    max_people: int


@dataclass(frozen=True, slots=True)
class PersonPick:
    person_id: int
    reason: str


class Reranker(Protocol):
    async def pick(self, request: RerankerRequest) -> list[PersonPick]:
        """The relevant candidates, best first, at most `max_people`, only ids among the candidates, each once.

        An empty list means that nobody is relevant. Raises ModelReplyUnknownIds if all named ids are unknown.
        """


@dataclass(frozen=True, slots=True)
class DialogueLine:
    """A message for the responder; `metadata` is attached to the content, `at` is not. `pictures` are data URLs."""

    role: Literal["user", "assistant"]
    text: str
    metadata: dict[str, str] | None = None
    at: datetime | None = None
    pictures: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RecalledFact:
    """A fact for a prompt: `[F1]` cites the one whose `n` is 1.

    It held from `valid_at` (None: unknown) to `invalid_at` (None: it still holds) and was last said at `said_at`; times
    are aware, and the first two as exact as their `_precision` says. `source` and `target` are the names of its ends,
    `relation` its name (`WORKS_FOR`).
    """

    n: int
    fact_id: str
    text: str
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    said_at: datetime | None = None
    relation: str = ""
    source: str = ""
    target: str = ""
    about_owner: bool = False
    valid_precision: DatePrecision | None = None
    invalid_precision: DatePrecision | None = None


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A typed memory for a prompt: `[M1]` cites the one whose `n` is 1.

    `label` is its node label (Memory, Goal, Decision, Question, Preference ...), `status` its status if any, `at`
    when it was said, `due` the deadline of a goal. `associated`: recalled by a strong link from another one.
    """

    n: int
    node_id: str
    label: str
    text: str
    status: str | None = None
    at: datetime | None = None
    due: datetime | None = None
    associated: bool = False


@dataclass(frozen=True, slots=True)
class StandingInstruction:
    """An instruction of the owner for every answer: `[I1]` cites the one whose `n` is 1. `since` is aware."""

    n: int
    node_id: str
    text: str
    since: datetime


@dataclass(frozen=True, slots=True)
class PassageLine:
    """A line of a passage. `at` is aware; `speaker` is empty if there is none.

    `kind` is the author of the words: the owner, somebody else (a forward, an imported line), or the assistant.
    `found`: it matched the question; the other lines are its context. `outdated`: the time since which none of its
    statements holds any more; None if that is unknown.
    """

    at: datetime
    speaker: str
    text: str
    kind: Literal["own", "other", "assistant"] = "own"
    found: bool = True
    outdated: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecalledPassage:
    """Lines of an earlier conversation in their order: `[S1]` cites the passage whose `n` is 1.

    `ref_id` is the id of the message that fits best, the id of an episode for lines from an import or REST, or the
    address of a web page.
    """

    n: int
    kind: Literal["message", "episode", "page"]
    ref_id: str
    lines: Sequence[PassageLine]

    @property
    def text(self) -> str:
        """The words of all its lines."""
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class ResponderRequest:
    """The inputs of a reply. `dialogue` ends with the message(s) to answer and is already within budget.

    `system_lines` are other stored system messages. `relevant_people` are already picked, inner circle excluded.
    `facts`, `memories` and `passages` are each numbered from 1, most relevant first; `lessons` are the relevant ones
    from earlier sessions. `snapshot` is shown for every question, `tasks` are open and due soon, `instructions` apply
    to every answer, `relations` state the ties that were asked for. `toolbox` None: no tools. `kept_back` are the
    topics of an order for somebody else that are left out.
    """

    owner: OwnerProfile
    persona_name: str
    persona_tone: str
    inner_circle: Sequence[Person]
    relevant_people: Sequence[Person]
    dialogue: Sequence[DialogueLine]
    now: datetime
    query: str = ""
    system_lines: Sequence[str] = ()
    facts: Sequence[RecalledFact] = ()
    memories: Sequence[RecalledMemory] = ()
    lessons: Sequence[str] = ()
    passages: Sequence[RecalledPassage] = ()
    snapshot: Snapshot = EMPTY
    tasks: Sequence[KnownTask] = ()
    instructions: Sequence[StandingInstruction] = ()
    relations: Sequence[str] = ()
    toolbox: Toolbox | None = None
    kept_back: Sequence[str] = ()


class Toolbox(Protocol):
    """The tools that the responder may use while it answers one question."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    def extended(self, request: ResponderRequest) -> ResponderRequest:
        """The request with all sources that the tools found, for citations."""

    async def use(self, request: ResponderRequest, call: ToolCall) -> str:
        """The answer for the model, which may describe an error in its call."""


class Responder(Protocol):
    def messages(self, request: ResponderRequest) -> list[ChatMessage]:
        """The prompt as it is sent (for receipts and the token budget)."""

    def reply(self, request: ResponderRequest) -> AsyncIterator[ChatDelta]:
        """Yields the reply piece by piece, the last delta with `final`. Raises the errors of `ChatModel.stream`.

        Citations have the form `[F1]`, each whole in one piece, and only of given facts.
        """


@dataclass(frozen=True, slots=True)
class AnalystRequest:
    """A closed session (its lines numbered from 1) to be judged; `rules` are those that the responder had to follow.

    `topic` is the provisional one. Lines of the role `assistant` are the responses, each judged by its number:
    those in `judged`, most important first; None = all.
    """

    owner: OwnerProfile
    topic: str
    transcript: Sequence[TranscriptLine]
    rules: Sequence[str] = ()
    judged: Sequence[int] | None = None

    @property
    def to_judge(self) -> Sequence[int]:
        """The numbers of the responses to be judged."""
        if self.judged is not None:
            return self.judged
        return [line.number for line in self.transcript if line.role == "assistant"]


class Analyst(Protocol):
    async def ask(self, request: AnalystRequest) -> AgentReply:
        """A reply whose text follows the analyst's contract; `analyst.output.parse` reads it.

        Raises the errors of `ChatModel.complete`.
        """


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The present snapshot, and a slice of a fragment (lines numbered from 1) by which it is updated."""

    owner: OwnerProfile
    snapshot: Snapshot
    transcript: Sequence[TranscriptLine]


@dataclass(frozen=True, slots=True)
class WeighingRequest:
    """The notifications that may be sent to an owner at `now` (aware), oldest first, with snapshot and dialogue.

    `recent` are the latest lines of the dialogue, oldest first.
    """

    owner: OwnerProfile
    now: datetime
    notifications: Sequence[Notification]
    snapshot: Snapshot
    recent: Sequence[TranscriptLine] = ()


class ContextManager(Protocol):
    async def update(self, request: ContextRequest) -> AgentReply:
        """A reply whose text follows the contract; `context_manager.output.parse_snapshot` reads it.

        Raises the errors of `ChatModel.complete`.
        """

    async def weigh(self, request: WeighingRequest) -> AgentReply:
        """A reply whose text follows the contract; `context_manager.output.parse_decisions` reads it.

        Raises the errors of `ChatModel.complete`.
        """


@dataclass(frozen=True, slots=True)
class TaskManagerRequest:
    """A slice of a fragment (lines numbered from 1), and the open tasks, which the slice may end."""

    owner: OwnerProfile
    transcript: Sequence[TranscriptLine]
    tasks: Sequence[KnownTask] = ()


class TaskManager(Protocol):
    async def ask(self, request: TaskManagerRequest) -> AgentReply:
        """A reply whose text follows the task manager's contract; `task_manager.output.parse` reads it.

        Raises the errors of `ChatModel.complete`.
        """
