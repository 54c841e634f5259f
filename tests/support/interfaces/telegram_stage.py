"""The bot's Telegram side over a real database, against a real local Telegram."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from aiogram.types import Update
from sqlalchemy import Connection, insert, select
from support.interfaces.handler_stage import DatesHere, LanguageHere, NamesHere, TermsHere
from support.patience import PATIENCE_S
from support.stores.stores import where

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram
from bot.telegram.delivery.drafts import TelegramDrafts
from bot.telegram.delivery.flood_limits import Budget
from bot.telegram.delivery.sender import Sender
from bot.telegram.dispatcher import DispatcherHandlers
from bot.telegram.handlers import build_router
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from bot.telegram.intake.admission import AccessPolicy
from bot.telegram.intake.lanes import Lanes
from bot.telegram.intake.polling import Poller
from bot.telegram.intake.update_handler import Handled, Ingest
from bot.telegram.menu import ChatMenus
from bot.telegram.rendering import render
from bot.telegram.service import open_bot
from internal.access.model import User
from internal.agents.responder.agent import ModelResponder
from internal.config.agents import AgentsConfig, ResponderConfig
from internal.config.settings import (
    AccessConfig,
    Config,
    DialogueConfig,
    PersonaConfig,
    TelegramConfig,
)
from internal.dialogue import repository as dialogue
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxRow, OutboxRow, Outgoing
from internal.flows.archival.archive_now import ArchivedCounts
from internal.flows.archival.publication import Publication
from internal.flows.contacts.imports import ContactBook
from internal.flows.correcting.facts import FactCorrections
from internal.flows.reflections.service import Reflections
from internal.flows.tasks.parse import TaskParser
from internal.flows.turn.answer import TurnFlow
from internal.flows.turn.as_of import AsOfQuestions
from internal.flows.turn.delivery import Delivery
from internal.flows.turn.intake import Intake
from internal.flows.turn.prompt import Prompts
from internal.flows.views.people_map import PeopleMaps
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.llm.openai import OpenAIChat
from internal.memory.plasticity.decay import PRESETS
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.context import RecallLimits, TurnRecall
from internal.recall.prompt.facts import FactRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.people import PeopleSearch
from internal.scheduling.clock import SystemClock
from internal.scheduling.shards import ALL_SHARDS, Shards
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import inbox, outbox, users
from internal.testing import ScriptedModel, TrigramEmbedder

T = TypeVar("T")
_new_people = itertools.count(30_001)


class Counted:
    """An observer that counts what it is told."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def telegram_request(self, method: str) -> None:
        self.counts[f"request {method}"] += 1

    def telegram_error(self, method: str, kind: str) -> None:
        self.counts[f"error {kind}"] += 1

    def send_unknown(self) -> None:
        self.counts["unknown"] += 1

    def update_quarantined(self) -> None:
        self.counts["quarantined"] += 1

    def turn_ended(self, outcome: str, seconds: float) -> None:
        self.counts[outcome] += 1

    def polled(self) -> None:
        self.counts["polled"] += 1


class BotStage(ControlClient):
    """People act through the control API; `database`, `delivery` and a running `sender` are the bot's."""

    def __init__(self, local: LocalTelegram, database: Database, shards: Shards = ALL_SHARDS) -> None:
        super().__init__(local.url)
        self.local, self.database, self.clock = local, database, SystemClock()
        self.bot = open_bot(TelegramConfig(), local.url, local.token)
        self.observer = Counted()
        self.budget = Budget(global_per_second=1000, chat_per_second=1000, group_per_second=1000)
        soon = timedelta(milliseconds=50)
        self.delivery = Delivery(database, self.clock, phrase, unknown_wait=soon, retry_base=soon)
        self.shards = shards
        self.sender = Sender(self.bot, self.delivery, self.budget, self.observer, self.clock, shards)

    async def person(self, *, known: bool = True, started: bool = True, language: str = "en") -> int:
        """A person of the local Telegram; `known` to the bot as a user."""
        person = await self.add_user("Olena", id=next(_new_people), language_code=language, started=started)
        if known:
            await self.write(lambda c: _add_user(c, person))
        return person

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.database.read(work)

    async def owe(self, chat_id: int, text: str, **more: Any) -> str:
        """One message in the outbox; its row id."""
        fields: dict[str, Any] = {"user_id": chat_id, "dedupe": f"{chat_id}:{text}:{next(_new_people)}"} | more
        outgoing = Outgoing(bot_id=self.bot.id, chat_id=chat_id, text=text, **fields)
        row_id = await self.write(lambda c: mailbox.enqueue(c, outgoing, datetime.now(UTC)))
        self.sender.wake()
        assert row_id is not None
        return row_id

    async def answer(self, user_id: int, *parts: str) -> tuple[str, list[str]]:
        """An assistant's message with its parts in the outbox: its id and the row ids."""
        now = datetime.now(UTC)
        message = await self.write(lambda c: dialogue.add(c, user_id, "assistant", "…", now=now, delivery="pending"))
        rows = [await self.owe(user_id, text, message_id=message.id, part=n) for n, text in enumerate(parts)]
        return message.id, rows

    async def row(self, row_id: str) -> OutboxRow:
        row = await self.read(lambda c: mailbox.get(c, row_id))
        assert row is not None
        return row

    async def state(self, row_id: str) -> str:
        return (await self.row(row_id)).state.value

    async def settled(self, row_id: str, *states: str, within: float = PATIENCE_S) -> OutboxRow:
        """The row once it is in one of these states (default: sent)."""
        wanted = states or ("sent",)

        async def there() -> bool:
            return await self.state(row_id) in wanted

        await eventually(there, within)
        return await self.row(row_id)

    async def column(self, row_id: str, name: str) -> Any:
        return await self.read(lambda c: c.execute(select(outbox.c[name]).where(outbox.c.id == row_id)).scalar_one())

    async def texts(self, chat_id: int) -> list[str]:
        """What the bot's messages in a chat say."""
        return [message["text"] for message in await self.bot_messages(chat_id)]

    async def inbox(self) -> list[tuple[str, str]]:
        """State and raw text of every update, in order of arrival."""
        query = select(inbox.c.state, inbox.c.raw).order_by(inbox.c.n)
        return [(state, raw) for state, raw in await self.read(lambda c: c.execute(query).all())]


def _add_user(connection: Connection, user_id: int) -> None:
    row = {"user_id": user_id, "role": "member", "state": "active", "name": "Olena", "lang": "en", "tz": "UTC"}
    connection.execute(insert(users).values(**row, settings={}, created_at=datetime.now(UTC)))


@asynccontextmanager
async def bot_stage(local: LocalTelegram, folder: Path) -> AsyncIterator[BotStage]:
    """A stage on which no faults are ordered, no updates wait and the sender runs."""
    async with Database.open(where(folder)) as database:
        await database.exclusive(migrate)
        stage = BotStage(local, database)
        await stage.request("DELETE", "/faults")
        await stage.request("PUT", "/flood", {"enabled": False})
        await stage.bot.delete_webhook(drop_pending_updates=True)
        await stage.request("DELETE", "/updates")
        sending = asyncio.create_task(stage.sender.run())
        try:
            yield stage
        finally:
            await cancelled(sending)
            await stage.request("DELETE", "/faults")
            await stage.sender.drain(1)
            await stage.bot.session.close()
            await stage.__aexit__(None, None, None)


async def cancelled(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def eventually(happened: Callable[[], Awaitable[Any]], within: float = PATIENCE_S) -> Any:
    """The first true result; TimeoutError after `within` seconds."""
    async with asyncio.timeout(within):
        while not (found := await happened()):  # noqa: ASYNC110 - what is waited for happens in a database or another process
            await asyncio.sleep(0.02)
        return found


MODEL = "test/responder"


class SilentArchival:
    """Archival and export, which no test of the intake asks for anything."""

    async def archive_soon(self, user_id: int) -> ArchivedCounts:
        return ArchivedCounts()

    async def read_now(self, user_id: int) -> bool:
        return False

    async def export_document(self, user_id: int) -> str:
        return "{}"


class FailingHandlers:
    """The real handlers behind a script of failures: `before` is called, or raised, before an update is handled."""

    def __init__(self, real: DispatcherHandlers) -> None:
        self._real = real
        self.before: list[Exception | Callable[[], Awaitable[object]]] = []
        self.handled: list[int] = []

    async def handle(self, update: Update, row: InboxRow, user: User) -> Handled:
        if self.before:
            first = self.before.pop(0)
            if isinstance(first, Exception):
                raise first
            await first()
        self.handled.append(update.update_id)
        return await self._real.handle(update, row, user)


class WholeBot:
    """Everything between Telegram and the model: poller, ingest, lanes, turns, drafts; the stage's sender sends."""

    def __init__(self, stage: BotStage, model: ScriptedModel, **more: Any) -> None:
        database, clock, bot = stage.database, stage.clock, stage.bot
        options: dict[str, Any] = {"group_window": timedelta(milliseconds=50), "admit_all": True} | more
        embedder, agents = TrigramEmbedder(), AgentsConfig(responder=ResponderConfig(model=MODEL))
        self.chat = OpenAIChat(model.url, "key")
        self.drafts = TelegramDrafts(bot, stage.budget, database, clock, stage.sender.wake)
        self.buffers = DialogueBuffers()
        recall = TurnRecall(
            database,
            PeopleSearch(database, embedder),
            embedder,
            enricher=None,
            reranker=None,
            names=None,
            limits=RecallLimits(),
        )
        self.turns = TurnFlow(
            database,
            clock,
            self.buffers,
            Prompts(recall, clock, agents.responder, PersonaConfig(), PromptFilter(database, b"k" * 32)),
            ModelResponder(self.chat, agents.responder),
            render=render,
            phrases=phrase,
            drafts=self.drafts,
            observer=stage.observer,
            wake_outbox=stage.sender.wake,
            retry_base=timedelta(milliseconds=20),
        )
        self.lanes = Lanes(database, clock, self.turns, stage.shards)
        self.publication = Publication(database, clock, self.buffers, DialogueConfig(), [])
        menus, silent = ChatMenus(bot), SilentArchival()
        knowledge = KnowledgeSearch(database, clock, embedder=None, terms=TermsHere(), names=NamesHere())
        past = AsOfQuestions(
            database, FactRecall(database, knowledge), ModelResponder(self.chat, agents.responder), PersonaConfig()
        )
        services = Services(
            database,
            clock,
            Config(),
            silent,
            silent,
            NamesHere(),
            menus,
            knowledge,
            MessageSearch(database, clock, embedder=None, terms=TermsHere(), names=NamesHere()),
            past,
            DatesHere(),
            FactCorrections(database, clock, LanguageHere(), b"k" * 32),
            self.publication,
            TaskParser(LanguageHere()),
            PeopleMaps(database, clock, LanguageHere()),
            ContactBook(database, clock, LanguageHere(), b"k" * 32),
            Reflections(database, clock, LanguageHere(), PRESETS["default"]),
        )
        self.handlers = FailingHandlers(DispatcherHandlers(bot, database, clock, build_router(services)))
        limits = AccessConfig(messages_per_minute=options.get("messages_per_minute", 0))
        self.ingest = Ingest(
            bot,
            database,
            clock,
            intake=Intake(database, clock, self.buffers, limits, phrase, options["group_window"]),
            lanes=self.lanes,
            turns=self.turns,
            drafts=self.drafts,
            handlers=self.handlers,
            policy=AccessPolicy(frozenset(options.get("allowed", ())), options["admit_all"]),
            phrases=phrase,
            menu=menus,
            wake_outbox=stage.sender.wake,
            observer=stage.observer,
            retry=timedelta(milliseconds=20),
            session_ended=self.publication.session_ended,
            waiting=options.get("waiting", 2000),
            shards=stage.shards,
            groups=options.get("groups"),
            business=options.get("business", False),
        )
        self.poller = Poller(f"{stage.local.url}/bot{stage.local.token}", self.ingest.accept, stage.observer)

    async def stop(self, seconds: float = 1.0) -> None:
        await self.ingest.drain(seconds)
        await self.lanes.drain(seconds)
        await self.drafts.close()
        await self.chat.aclose()


@asynccontextmanager
async def whole_bot(
    stage: BotStage, model: ScriptedModel, *, poll: bool = True, **more: Any
) -> AsyncIterator[WholeBot]:
    """A bot that polls, and takes up what an earlier one left."""
    bot = WholeBot(stage, model, **more)
    await bot.lanes.resume(stage.bot.id)
    await bot.ingest.resume()
    polling = [asyncio.create_task(bot.poller.run())] if poll else []
    try:
        yield bot
    finally:
        await cancelled(*polling)
        await bot.stop()
