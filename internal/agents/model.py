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

    `number` counts from 1; `at` is aware, in the owner's zone. `speaker` is empty where nobody in particular says it.
    `forwarded_from` names the author of a forward. `own` is False where somebody else than the owner speaks.
    `telegram_ids` are the only ids an operation may cite from this line. `quoted` is what the line answers, with its
    author: it explains the line, and nobody says it there.
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
        """Whether the line may testify about the owner: his own words (no picture's), or a text without a speaker."""
        own = self.role == "user" and self.own and self.forwarded_from is None
        return own and ("[" not in self.text or bool(without_attachments(self.text).strip()))

    def unquoted(self) -> TranscriptLine:
        """The line as its speaker's own words: without what it quotes."""
        return replace(self, text=unquoted(self.text))


@dataclass(frozen=True, slots=True)
class SamePersonHint:
    """Two names that may mean one person: a suggestion to the archivist, never a merge by itself.

    `mention` is a form found in the transcript (or another known person's name), `reason` one of
    prefix, patronymic, declension, diminutive, transliteration, username.
    """

    mention: str
    person_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """A known thing of the graph, shown so that its name is used again. `type` is its entity type."""

    name: str
    type: str = ""
    aliases: tuple[str, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class OwnerProfile:
    """The owner for prompts: name, @username, language, IANA zone and known facts; `names` are those of before."""

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
    """A raw reply in the agent's contract format, stored before it is parsed (C9), with what was asked."""

    text: str
    model: str
    usage: Usage = field(default_factory=Usage)
    prompt: Sequence[ChatMessage] = ()


@dataclass(frozen=True, slots=True)
class ArchivistRequest:
    """A slice of a fragment (1..60 lines) with everything the archivist may refer to.

    `people` are the known people it may name by id (all, or the likely ones when there are many). `facts` are known
    facts in words with their dates, `entities` the known things the slice may mean, `memories` the open goals and
    questions, decisions, preferences and memories that it may refer to by their handles.
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
    """`leans`: the question may depend on the lines before it (`recent`); otherwise no model need be asked."""

    owner: OwnerProfile
    question: str
    recent: Sequence[TranscriptLine]
    leans: bool = True


class Enricher(Protocol):
    async def standalone(self, request: EnricherRequest) -> str:
        """The question rewritten so that it can be understood, and searched for, without the dialogue before it."""


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

        An empty list means that nobody is relevant. ModelReplyUnknownIds if every id named is unknown.
        """


@dataclass(frozen=True, slots=True)
class DialogueLine:
    """A message as the responder sees it; `metadata` is attached to the content, `at` is not. `pictures`: data URLs."""

    role: Literal["user", "assistant"]
    text: str
    metadata: dict[str, str] | None = None
    at: datetime | None = None
    pictures: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RecalledFact:
    """A fact as a prompt shows it: `[F1]` cites the one whose `n` is 1.

    It held from `valid_at` (None: nobody said since when) to `invalid_at` (None: still does) and was last said at
    `said_at`; times are aware, and the first two as exact as their `_precision` says. `source` and `target` are the
    names of its ends, `relation` its name (`WORKS_FOR`).
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
    """A typed memory as a prompt shows it: `[M1]` cites the one whose `n` is 1.

    `label` is its node label (Memory, Goal, Decision, Question, Preference ...), `status` where that has one, `at` when
    it was said, `due` by when a goal is to be reached. `associated`: recalled over a strong link from another one.
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
    """What the owner wants kept to in every answer: `[I1]` cites the one whose `n` is 1. `since` is aware."""

    n: int
    node_id: str
    text: str
    since: datetime


@dataclass(frozen=True, slots=True)
class PassageLine:
    """A line as a passage shows it. `at` is aware; `speaker` is empty where nobody in particular speaks.

    `kind` says whose words they are: the owner's own, somebody else's (a forward, an imported line), or the
    assistant's. `found`: it matched the question; the other lines only stand beside it. `outdated`: since when
    nothing that it states holds any more; None where that is not known.
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

    `ref_id` is the id of the message that fits best; of an episode where the lines came by import or REST;
    of a web page its address.
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
    """Everything a reply is written from. `dialogue` ends with the message(s) to answer and is already within budget.

    `system_lines` are other stored system messages. `relevant_people` are already picked, inner circle excluded.
    `facts`, `memories` and `passages` are each numbered from 1, most relevant first; `lessons` are the few, learnt from
    earlier sessions, that matter here. `snapshot` is kept in mind whatever he asks, `tasks` are open and due soon,
    `instructions` are to be kept to in every answer, `relations` say who is asked for. `toolbox` None: no tools.
    `kept_back` are the topics of what an order for somebody else is about and yet stays out.
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
    """What the responder may use while it answers one question."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    def extended(self, request: ResponderRequest) -> ResponderRequest:
        """The request with everything that was found since, to cite from."""

    async def use(self, request: ResponderRequest, call: ToolCall) -> str:
        """The answer for the model, which may be what is wrong with its call."""


class Responder(Protocol):
    def messages(self, request: ResponderRequest) -> list[ChatMessage]:
        """The prompt exactly as it is sent (for receipts and the token budget)."""

    def reply(self, request: ResponderRequest) -> AsyncIterator[ChatDelta]:
        """Yields the reply piece by piece, the last delta with `final`. Raises the errors of `ChatModel.stream`.

        Citations stand in it as `[F1]`, each whole in one piece, and only of facts that were given.
        """


@dataclass(frozen=True, slots=True)
class AnalystRequest:
    """A closed session (its lines numbered from 1) to be judged; `rules` are those the responder had to follow.

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
    """The present snapshot, and a slice of a fragment (lines numbered from 1) with which it is brought up to date."""

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
    """A slice of a fragment (lines numbered from 1) and the open tasks, which it may end."""

    owner: OwnerProfile
    transcript: Sequence[TranscriptLine]
    tasks: Sequence[KnownTask] = ()


class TaskManager(Protocol):
    async def ask(self, request: TaskManagerRequest) -> AgentReply:
        """A reply whose text follows the task manager's contract; `task_manager.output.parse` reads it.

        Raises the errors of `ChatModel.complete`.
        """
