"""The services that handlers may call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from internal.access.model import User
from internal.chronicle.model import Session, Trigger
from internal.config import Config
from internal.flows.archival.archive_now import ArchivedCounts
from internal.flows.correcting.facts import CorrectedFact
from internal.flows.tasks.parse import TypedTask
from internal.flows.turn.as_of import PastAnswer
from internal.knowledge.model import Fact
from internal.language.dates.questions import DatedQuestion
from internal.recall.index.hits import FactHit, NodeHit
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.tasks.model import Schedule

T = TypeVar("T")


class Archival(Protocol):
    async def request(self, user_id: int) -> ArchivedCounts:
        """Publishes buffered messages and archives them now, including runs that failed or wait for another attempt."""


class Export(Protocol):
    async def document(self, user_id: int) -> str:
        """Everything stored about this user, as JSON text."""


class Names(Protocol):
    async def boosts(self, query: str, names: Mapping[int, Sequence[str]]) -> Mapping[int, float]:
        """How strongly the query names each person, in (0, 1], over case, short forms and alphabets.

        People it does not name are left out. Raises ModelUnavailable or LanguageCallFailed.
        """


class Knowledge(Protocol):
    """Search over facts, nodes and memories. Raises no model errors: without a model it searches by words and names."""

    @property
    def threshold(self) -> float:
        """The cosine from which a text belongs to a question."""

    async def facts(self, user_id: int, query: str, limit: int = 10) -> list[FactHit]:
        """The current facts that match best, best first."""

    async def nodes(self, user_id: int, query: str, limit: int = 10) -> list[NodeHit]:
        """The people and things that match best, best first."""

    async def memories(
        self, user_id: int, query: str, limit: int = 10, *, labels: Sequence[str] = ("Memory",)
    ) -> list[NodeHit]:
        """The memories with these labels that match best, best first."""


class Past(Protocol):
    async def answer(
        self,
        user_id: int,
        question: str,
        as_of: datetime,
        known_at: datetime | None = None,
        until: datetime | None = None,
    ) -> PastAnswer:
        """The answer from what was true at `as_of`, or at any time in [as_of, until)."""


class Corrections(Protocol):
    async def meant(
        self, user: User, cited: Sequence[Fact], known: Callable[[], Awaitable[Sequence[Fact]]], words: str
    ) -> list[Fact]:
        """The facts that a sentence may correct: of `cited` it is about, else of `known` it clearly names."""

    async def preview(self, user: User, fact_id: str, words: str) -> CorrectedFact:
        """The newest version as it stands, and what `restate` would do to it. Raises as `restate`."""

    async def restate(self, user: User, fact_id: str, words: str) -> CorrectedFact:
        """Replaces a fact's text by the owner's. Raises NotFound, Conflict, and Refused for no text or too much."""

    async def undo(self, user: User, fact_id: str) -> Fact:
        """Restores what a correction made this version of. Raises NotFound or Conflict."""


class Sessions(Protocol):
    async def close_session(self, user_id: int, command: Trigger | None) -> Session | None:
        """Closes the open session now. `command` is the trigger, None = a new one begins. None if there is none."""


class Dates(Protocol):
    async def question(self, text: str, user: User, now: datetime) -> DatedQuestion | None:
        """The date and the question of a text, by the user's own clock; None if no date can be read."""


class TaskWords(Protocol):
    async def task(self, text: str, user: User, now: datetime) -> TypedTask:
        """A task as typed. Raises Refused("no_title" | "too_long")."""

    async def schedule(self, text: str, user: User, now: datetime) -> Schedule | None:
        """A time as typed; None if none can be read."""


class Menu(Protocol):
    async def show(self, user: User) -> None:
        """Sets the user's own command list in his language as the chat's menu (cosmetic)."""


@dataclass(frozen=True, slots=True)
class Services:
    """Everything handlers call, built once in the composition root; handlers get it as `services`."""

    database: Database
    clock: Clock
    config: Config
    archival: Archival
    export: Export
    names: Names
    menu: Menu
    knowledge: Knowledge
    past: Past
    dates: Dates
    corrections: Corrections
    sessions: Sessions
    task_words: TaskWords
    refused: Mapping[str, str] = field(default_factory=dict)
    """What the provider says of each model for which it refuses us."""

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.database.read(work)
