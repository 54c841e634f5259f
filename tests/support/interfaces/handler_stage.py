"""A bot without Telegram: the real dispatcher and handlers over a real database, and a chat that writes down."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, ParamSpec, TypeVar, cast
from zoneinfo import ZoneInfo

from aiogram import Bot, Dispatcher
from aiogram.dispatcher.event.bases import UNHANDLED
from aiogram.types import Update
from sqlalchemy import Connection
from support.interfaces.caused_changes import every_change_is_caused

from bot.telegram.delivery.chat import Chat, Keyboard
from bot.telegram.handlers import build_router
from bot.telegram.handlers.services import Services
from bot.telegram.intake.triggers import trigger_of
from bot.telegram.rendering import LIMIT, render, utf16_len
from internal.access import repository as users, service as access
from internal.access.model import Author, User
from internal.agents.model import ResponderRequest
from internal.config.settings import Config, DialogueConfig, PersonaConfig
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox.model import InboxRow, InboxState
from internal.errors import ModelError
from internal.events.trigger_events import triggered_by
from internal.flows.archival.archive_now import ArchivedCounts
from internal.flows.archival.publication import Publication
from internal.flows.contacts.imports import ContactBook
from internal.flows.correcting.facts import FactCorrections
from internal.flows.reflections.service import Reflections
from internal.flows.tasks.parse import TaskParser
from internal.flows.turn.as_of import AsOfQuestions
from internal.flows.views.people_map import PeopleMaps
from internal.language.dates.questions import DatedQuestion, dated_question
from internal.language.names.person_names import NAME_WEIGHT, mentions, name_boosts
from internal.language.search import terms
from internal.language.search.terms import Word
from internal.llm.model import ChatDelta, ChatMessage, ChatReply
from internal.memory.plasticity.decay import PRESETS
from internal.people import repository as people, service
from internal.people.model import Circle, Person
from internal.people.service import TelegramAccount
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.facts import FactRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.testing.clock import FrozenClock

P = ParamSpec("P")
T = TypeVar("T")
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
CODES = {"ru": "ru", "uk": "uk", "en": "en-GB"}


@dataclass
class Said:
    """One thing the bot did: `how` is say, edit, toast or document."""

    how: str
    text: str
    buttons: dict[str, str] = field(default_factory=dict)
    force_reply: bool = False
    content: str = ""
    caption: str = ""


class WritingChat:
    """A `Chat` that checks everything against Telegram's limits and keeps it."""

    def __init__(self, user: User, log: list[Said]) -> None:
        self._user, self._log = user, log
        self.answered = False

    @property
    def user(self) -> User:
        return self._user

    @property
    def bot_id(self) -> int:
        return 7

    @property
    def chat_id(self) -> int:
        return self._user.user_id

    @property
    def thread_id(self) -> None:
        return None

    async def say(self, text: str, keyboard: Keyboard | None = None, *, force_reply: bool = False) -> None:
        self._log.append(Said("say", shown(text), pressable(keyboard), force_reply))

    async def edit(self, text: str, keyboard: Keyboard | None = None) -> None:
        self._log.append(Said("edit", shown(text), pressable(keyboard)))

    async def toast(self, text: str = "") -> None:
        """Only the first answer counts, and an empty one, which only stops the button's spinner, says nothing."""
        assert utf16_len(text) <= 200
        if text and not self.answered:
            self._log.append(Said("toast", text))
        self.answered = True

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        yield

    async def beside(self, work: Callable[[], Awaitable[None]]) -> None:
        await work()

    async def document(self, filename: str, content: str, caption: str) -> None:
        self._log.append(Said("document", filename, content=content, caption=caption))

    async def photo(self, filename: str, content: bytes, caption: str) -> None:
        assert content.startswith(b"\x89PNG")
        self._log.append(Said("photo", filename, caption=caption))


def shown(markdown: str) -> str:
    parts = render(markdown)
    assert parts
    assert all(utf16_len(part.text) <= LIMIT for part in parts)
    return "".join(part.text for part in parts)


def pressable(keyboard: Keyboard | None) -> dict[str, str]:
    """Callback data by label. A label that stands twice is told apart by its place."""
    found: dict[str, str] = {}
    for row in keyboard or ():
        assert row
        for label, data in row:
            assert label.strip()
            assert 1 <= len(data.encode()) <= 64
            found[label if label not in found else f"{label}#{len(found)}"] = data
    return found


class CountingArchival:
    """Stands where publication stands: says what there was to do."""

    def __init__(self) -> None:
        self.found, self.asked = ArchivedCounts(), list[int]()

    async def archive_soon(self, user_id: int) -> ArchivedCounts:
        self.asked.append(user_id)
        return self.found

    async def read_now(self, user_id: int) -> bool:
        self.asked.append(user_id)
        return False


class SmallExport:
    async def export_document(self, user_id: int) -> str:
        return json.dumps({"user_id": user_id, "people": []})


class NamesHere:
    """The language tools in this process: quick enough for the few people of a test."""

    async def boosts(self, query: str, names: Mapping[int, Sequence[str]]) -> Mapping[int, float]:
        return name_boosts(query, names)

    @property
    def weight(self) -> float:
        return NAME_WEIGHT

    async def mentions(self, text: str, names: Mapping[int, Sequence[str]]) -> Mapping[int, str]:
        return mentions(text, names)


class TermsHere:
    """The words of texts, read in this process."""

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        return terms.document_terms(texts)

    async def query_terms(self, text: str) -> list[Word]:
        return terms.query_terms(text)

    async def in_cyrillic(self, text: str) -> str:
        return text


class DatesHere:
    """Dates, read in this process."""

    async def question(self, text: str, user: User, now: datetime) -> DatedQuestion | None:
        return dated_question(text, now.astimezone(ZoneInfo(user.tz)), user.lang)


class LanguageHere:
    """The language process, in this process."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)


class ScriptedResponder:
    """Answers what the script says next, or raises it; notes what it was asked."""

    def __init__(self) -> None:
        self.script: list[str | ModelError] = []
        self.asked: list[ResponderRequest] = []

    def messages(self, request: ResponderRequest) -> list[ChatMessage]:
        return []

    async def reply(self, request: ResponderRequest) -> AsyncIterator[ChatDelta]:
        self.asked.append(request)
        said = self.script.pop(0)
        if isinstance(said, ModelError):
            raise said
        yield ChatDelta("", ChatReply(said, "scripted"))


class ShownMenus:
    """Whose menu was set, and in which language."""

    def __init__(self) -> None:
        self.shown: list[tuple[int, str]] = []

    async def show(self, user: User) -> None:
        self.shown.append((user.user_id, user.lang))


class ServicesInUse:
    """Leads to the services of the world whose update is being worked off; without one, any use fails."""

    def __init__(self) -> None:
        self.to: Services | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.to, name)


_IN_USE = ServicesInUse()


@cache
def _dispatcher() -> Dispatcher:
    """As the composition root builds it, but once for all worlds: it keeps nothing, and takes 25 ms."""
    built = Dispatcher(disable_fsm=True)
    built.include_router(build_router(cast("Services", _IN_USE)))
    return built


async def fed(services: Services, bot: Bot, update: Update, chat: Chat) -> Any:
    """What the handlers make of an update, over these services."""
    _IN_USE.to = services
    try:
        return await _dispatcher().feed_update(bot, update, chat=chat)
    finally:
        _IN_USE.to = None


class World:
    """Users who write to the bot and press its buttons."""

    def __init__(self, database: Database, config: Config) -> None:
        self.database, self.clock = database, FrozenClock(NOW)
        self.archival = CountingArchival()
        self.menus = ShownMenus()
        self.knowledge = KnowledgeSearch(database, self.clock, embedder=None, terms=TermsHere(), names=NamesHere())
        self.responder = ScriptedResponder()
        past = AsOfQuestions(database, FactRecall(database, self.knowledge), self.responder, PersonaConfig())
        self.services = Services(
            database,
            self.clock,
            config,
            self.archival,
            SmallExport(),
            NamesHere(),
            self.menus,
            self.knowledge,
            MessageSearch(database, self.clock, embedder=None, terms=TermsHere(), names=NamesHere()),
            past,
            DatesHere(),
            FactCorrections(database, self.clock, LanguageHere(), b"k" * 32),
            Publication(database, self.clock, DialogueBuffers(), DialogueConfig(), []),
            TaskParser(LanguageHere()),
            PeopleMaps(database, self.clock, LanguageHere()),
            ContactBook(database, self.clock, LanguageHere(), b"k" * 32),
            Reflections(database, self.clock, LanguageHere(), PRESETS["default"]),
        )
        self.bot = Bot("7:secret")
        self.said: list[Said] = []
        self.updates = 0
        self.newest = Update(update_id=0)

    def use(self, **other: Any) -> None:
        """`other` services take the place of those in use."""
        self.services = replace(self.services, **other)

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.database.read(work)

    async def user(self, user_id: int = 1) -> User:
        return await self.read(lambda c: users.get(c, user_id))

    async def admit(self, user_id: int, name: str, lang: str = "en", *, admit_all: bool = True) -> User:
        author = Author(user_id, name, None, CODES.get(lang, lang))
        now = self.clock.now()
        user = await self.write(lambda c: access.admit(c, author, allowed=(), admit_all=admit_all, now=now))
        assert user is not None
        return user

    async def person(
        self, name: str, telegram_id: int | None = None, *, owner: int = 1, circle: str = "Other"
    ) -> Person:
        """Somebody the owner knows, as a contact card would add him (ids are made up where they do not matter)."""
        sender = TelegramAccount(telegram_id or 10_000 + self.updates, name)
        self.updates += 1
        now = self.clock.now()

        def work(connection: Connection) -> Person:
            added = service.from_metadata(connection, owner, sender, seen_at=now, now=now)
            return service.edit(connection, owner, added.id, {"circle": Circle.parse(circle)}, now=now)

        return await self.write(work)

    async def known(self, person_id: int, owner: int = 1) -> Person | None:
        return await self.read(lambda c: people.get(c, owner, person_id))

    async def send(self, text: str, user_id: int = 1, **more: Any) -> list[Said]:
        """What the bot answers to a text message; `more` are other fields of the Telegram message."""
        command = {"type": "bot_command", "offset": 0, "length": len(text.split(maxsplit=1)[0])}
        entities = [command] if text.startswith("/") else []
        return await self.message({"text": text, "entities": entities, **more}, user_id)

    async def message(self, content: dict[str, Any], user_id: int = 1) -> list[Said]:
        message = await self._message(user_id, content)
        return await self.feed({"message": message}, user_id)

    async def press(self, data: str, user_id: int = 1) -> list[Said]:
        message = await self._message(7, {"text": "…"}, chat_id=user_id)
        query = {"id": "1", "chat_instance": "1", "from": await self._from(user_id), "data": data, "message": message}
        return await self.feed({"callback_query": query}, user_id)

    async def feed(self, content: dict[str, Any], user_id: int = 1) -> list[Said]:
        """Everything said in answer; ["unhandled"] in place of it where the words are for the companion."""
        self.newest = Update.model_validate({"update_id": self.updates, **content}, context={"bot": self.bot})
        return await self.again(user_id)

    async def again(self, user_id: int = 1) -> list[Said]:
        """Works the newest update off once more, as after a crash."""
        update = self.newest
        self.said.clear()
        user = await self.user(user_id)
        chat = WritingChat(user, self.said)
        row = InboxRow(update.update_id, 7, update.update_id, "", InboxState.RECEIVED, 0, self.clock.now())
        trigger = trigger_of(update, row, user, self.clock.now())
        async with every_change_is_caused(self.database):
            with acting_for(user_id), triggered_by(trigger):  # as whoever works off the updates does
                result = await fed(self.services, self.bot, update, chat)
        assert chat.answered or update.callback_query is None, "every press is answered"
        return [Said("unhandled", "")] if result is UNHANDLED else list(self.said)

    async def _message(self, user_id: int, content: dict[str, Any], chat_id: int | None = None) -> dict[str, Any]:
        self.updates += 1
        return {
            "message_id": self.updates,
            "date": int(self.clock.now().timestamp()),
            "chat": {"id": chat_id or user_id, "type": "private"},
            "from": {"id": 7, "is_bot": True, "first_name": "Bot"} if user_id == 7 else await self._from(user_id),
            **content,
        }

    async def _from(self, user_id: int) -> dict[str, Any]:
        user = await self.user(user_id)
        return {"id": user_id, "is_bot": False, "first_name": user.name, "language_code": user.lang}


def only(said: list[Said]) -> Said:
    """The one message among what was said."""
    (one,) = said
    return one
