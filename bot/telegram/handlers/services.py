"""The services that handlers may use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from internal.access.model import User
from internal.chronicle.model import Session, SessionCommand
from internal.config.settings import Config
from internal.flows.archival.archive_now import ArchivedCounts
from internal.flows.artifacts.exports import FileImports
from internal.flows.contacts.imports import ContactBook
from internal.flows.correcting.facts import FactCorrections
from internal.flows.reflections.service import Reflections
from internal.flows.tasks.parse import TaskParser
from internal.flows.turn.as_of import AsOfQuestions
from internal.flows.views.people_map import PeopleMaps
from internal.language.dates.questions import DatedQuestion
from internal.recall.messages.search import MessageSearch
from internal.recall.search.knowledge import KnowledgeSearch
from internal.scheduling.clock import Clock
from internal.storage.database import Database

T = TypeVar("T")


class Archival(Protocol):
    async def archive_soon(self, user_id: int) -> ArchivedCounts:
        """Publishes buffered messages and archives them now, including runs that failed or wait for another attempt."""

    async def read_now(self, user_id: int) -> bool:
        """Archives what was said and waits for it a while. Returns whether there was anything to read."""


class Exporter(Protocol):
    async def export_document(self, user_id: int) -> str:
        """Everything stored about this user, as JSON text."""


class Names(Protocol):
    async def boosts(self, query: str, names: Mapping[int, Sequence[str]]) -> Mapping[int, float]:
        """How strongly the query names each person, in (0, 1], over case, short forms and alphabets.

        People it does not name are left out. Raises ModelUnavailable or LanguageCallFailed.
        """


class Sessions(Protocol):
    async def close_session(self, user_id: int, command: SessionCommand | None, thread_id: int) -> Session | None:
        """Closes a topic's session; `command` is the trigger, None for a new session. Returns None if none is open."""


class Dates(Protocol):
    async def question(self, text: str, user: User, now: datetime) -> DatedQuestion | None:
        """The date and the question of a text, by the user's own clock; None if no date can be read."""


class Menu(Protocol):
    async def show(self, user: User) -> None:
        """Sets the user's command list in his language as the chat's menu (cosmetic)."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services of all handlers, built once in the composition root; handlers get it as `services`."""

    database: Database
    clock: Clock
    config: Config
    archival: Archival
    export: Exporter
    names: Names
    menu: Menu
    knowledge: KnowledgeSearch
    messages: MessageSearch
    past: AsOfQuestions
    dates: Dates
    corrections: FactCorrections
    sessions: Sessions
    task_words: TaskParser
    maps: PeopleMaps
    contacts: ContactBook
    reflections: Reflections
    file_imports: FileImports | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    """For each model that the provider refuses, the provider's reason."""

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.database.read(work)
