"""One owner's dialogue over a real database: he writes, a responder under the test's control answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection, insert, select
from support.patience import PATIENCE_S

from bot.telegram.i18n import phrase
from bot.telegram.rendering import render
from internal.access import repository as users
from internal.access.model import User
from internal.agents.model import Responder, ResponderRequest
from internal.config.agents import ResponderConfig
from internal.config.settings import AccessConfig, DialogueConfig, PersonaConfig
from internal.dialogue import repository as dialogue
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import OutboxRow
from internal.dialogue.model import Incoming, Message, Turn
from internal.events import repository as events
from internal.events.model import Event
from internal.flows.archival.publication import Publication
from internal.flows.sessions.lifecycle import UNJUDGED, SessionLifecycle
from internal.flows.turn.answer import TurnFlow
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.reminder_requests import ReminderRequests
from internal.flows.turn.delivery import Delivery
from internal.flows.turn.discretion import Discretion
from internal.flows.turn.intake import Intake, StoredMessage
from internal.flows.turn.prompt import Prompts
from internal.flows.turn.tools.web_pages import Web
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.llm.model import ChatDelta, ChatMessage, ChatReply, Usage, Vectors
from internal.recall.prompt.context import RecallLimits, TurnRecall
from internal.recall.prompt.facts import FactRecall
from internal.recall.prompt.memories import MemoryRecall
from internal.recall.prompt.passages import PassageRecall
from internal.recall.search.people import PeopleSearch
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import migrate
from internal.storage.tables import outbox, turns, users as users_table
from internal.testing import FIRST_MOMENT, FrozenClock, TrigramEmbedder

T = TypeVar("T")
OWNER, OTHER, BOT = 1, 2, 7
WINDOW = timedelta(seconds=2)


def add_user(connection: Connection, user_id: int, lang: str = "en") -> None:
    row = {"user_id": user_id, "role": "member", "state": "active", "name": "Olena", "lang": lang, "tz": "UTC"}
    connection.execute(insert(users_table).values(**row, settings={}, created_at=FIRST_MOMENT))


Piece = str | Exception | Callable[[], Any]


class ScriptedResponder:
    """A Responder whose pieces the test decides: text is said, an error raised, anything else awaited or called."""

    def __init__(self) -> None:
        self.script: list[Sequence[Piece]] = []
        self.always: Sequence[Piece] = ("Answer.",)
        self.asked: list[ResponderRequest] = []
        self.cost_usd = 0.0

    def messages(self, request: ResponderRequest) -> list[ChatMessage]:
        raise NotImplementedError

    async def reply(self, request: ResponderRequest) -> AsyncIterator[ChatDelta]:
        self.asked.append(request)
        text = ""
        for piece in self.script.pop(0) if self.script else self.always:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, str):
                text += piece
                yield ChatDelta(piece)
                continue
            done = piece()
            if asyncio.iscoroutine(done):
                await done
        yield ChatDelta("", ChatReply(text, "scripted", Usage(10, 5, self.cost_usd)))

    @property
    def questions(self) -> list[str]:
        """What was to be answered: the last line of each request."""
        return [request.dialogue[-1].text for request in self.asked]


@dataclass
class WatchedDrafts:
    """Drafts that remember what they showed; `placeholder` is the key they hand over."""

    showing: set[str] = field(default_factory=set)
    shown: list[str] = field(default_factory=list)
    placeholder: str | None = None

    async def begin(self, turn: Turn) -> None:
        self.showing.add(turn.id)

    async def show(self, turn: Turn, text: str) -> None:
        self.shown.append(text)

    async def end(self, turn: Turn) -> str | None:
        self.showing.discard(turn.id)
        return self.placeholder


@dataclass
class Ended:
    outcomes: list[str] = field(default_factory=list)
    woken: int = 0

    def turn_ended(self, outcome: str, seconds: float) -> None:
        self.outcomes.append(outcome)

    def wake(self) -> None:
        self.woken += 1


class WatchedEmbedder(TrigramEmbedder):
    """Knows which questions were embedded, which each recall does once, and answers while `open` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[str] = []
        self.open = asyncio.Event()
        self.open.set()

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        self.questions += texts
        await self.open.wait()
        return await super().embed_queries(texts, user_id=user_id)


class Talk:
    """The write path from a parsed message to outbox rows, without Telegram."""

    def __init__(self, database: Database, **limits: Any) -> None:
        self.database, self.clock, self.buffers = database, FrozenClock(), DialogueBuffers()
        self.limits = {"messages_per_minute": 0, "daily_cost_usd": 0.0} | limits
        self.responder, self.drafts, self.ended = ScriptedResponder(), WatchedDrafts(), Ended()
        self.writer: Responder | None = None
        self.tg_id = 100
        self.embedder = WatchedEmbedder()
        self.history_tokens = 6000
        self.group_window = WINDOW
        self.facts: FactRecall | None = None
        self.memories: MemoryRecall | None = None
        self.passages: PassageRecall | None = None
        self.reminders: ReminderRequests | None = None
        self.commands: CommandFlow | None = None
        self.web: Web | None = None
        self.lifecycle = UNJUDGED
        self.discretion: Discretion | None = None

    @property
    def intake(self) -> Intake:
        config = AccessConfig(**self.limits)
        return Intake(self.database, self.clock, self.buffers, config, phrase, self.group_window)

    def flow(self) -> TurnFlow:
        embedder = self.embedder
        search = PeopleSearch(self.database, embedder)
        recall = TurnRecall(
            self.database,
            search,
            embedder,
            enricher=None,
            reranker=None,
            names=None,
            facts=self.facts,
            memories=self.memories,
            passages=self.passages,
            limits=RecallLimits(),
        )
        config = ResponderConfig(history_tokens=self.history_tokens)
        return TurnFlow(
            self.database,
            self.clock,
            self.buffers,
            Prompts(
                recall,
                self.clock,
                config,
                PersonaConfig(),
                PromptFilter(self.database, b"k" * 32),
                discretion=self.discretion,
            ),
            self.writer or self.responder,
            render=render,
            phrases=phrase,
            drafts=self.drafts,
            observer=self.ended,
            wake_outbox=self.ended.wake,
            retry_base=timedelta(milliseconds=5),
            lifecycle=self.lifecycle,
            reminders=self.reminders,
            commands=self.commands,
            web=self.web,
        )

    def publication(
        self, max_messages: int = 400, agents: Sequence[str] = ("archivist",), lifecycle: SessionLifecycle = UNJUDGED
    ) -> Publication:
        config = DialogueConfig(idle_timeout=timedelta(minutes=30), max_messages=max_messages)
        return Publication(self.database, self.clock, self.buffers, config, agents, lifecycle)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """As the house itself, also from within what is done for an owner."""
        with acting_for_everyone():
            return await self.database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        with acting_for_everyone():
            return await self.database.read(work)

    async def user(self, user_id: int = OWNER) -> User:
        return await self.read(lambda c: users.get(c, user_id))

    def incoming(self, text: str, *, user_id: int = OWNER, sent: datetime | None = None, **more: Any) -> Incoming:
        self.tg_id += 1
        fields = {"tg_id": self.tg_id, "chat_id": user_id} | more
        return Incoming(user_id=user_id, bot_id=BOT, text=text, timestamp=sent or self.clock.now(), **fields)

    async def update(self) -> int:
        """A fresh inbox row."""
        self.tg_id += 1
        rows = await self.write(lambda c: mailbox.receive(c, BOT, [(self.tg_id, "{}")], self.clock.now()))
        return rows[0].n

    async def say(self, text: str, *, user_id: int = OWNER, **more: Any) -> StoredMessage:
        incoming = self.incoming(text, user_id=user_id, **more)
        return await self.intake.take(await self.update(), await self.user(user_id), incoming)

    async def edit(self, message: Message, text: str) -> Message | None:
        assert message.tg_id is not None
        changed = self.incoming(text, user_id=message.user_id, sent=message.timestamp, tg_id=message.tg_id)
        return await self.intake.edit(await self.update(), changed)

    async def ask(self, text: str, **more: Any) -> Turn:
        """A message whose window has closed: the turn that is to be answered."""
        taken = await self.say(text, **more)
        assert taken.turn is not None
        self.clock.advance(10)
        return taken.turn

    async def exchange(self, text: str = "Hi", answer: str = "Answer.", **more: Any) -> None:
        """A question, its answer, and the answer's delivery."""
        turn = await self.ask(text, **more)
        self.responder.script.append([answer])
        await self.flow().answer(turn)
        for row in await self.outbox():
            if row.state == "pending":
                await self.delivered(row)

    async def delivered(self, row: OutboxRow) -> None:
        self.tg_id += 1
        await Delivery(self.database, self.clock, phrase).sent(row, self.tg_id)

    async def messages(self, user_id: int = OWNER) -> list[Message]:
        return await self.read(lambda c: dialogue.recent(c, user_id, limit=1000))

    async def outbox(self) -> list[OutboxRow]:
        """Every outgoing message, oldest first."""

        def work(connection: Connection) -> list[OutboxRow]:
            ids = connection.execute(select(outbox.c.id).order_by(outbox.c.n)).scalars().all()
            return [row for row in (mailbox.get(connection, row_id) for row_id in ids) if row is not None]

        return await self.read(work)

    async def owed(self) -> list[str]:
        """The texts that wait to be sent, oldest first."""
        return [row.outgoing.text for row in await self.outbox() if row.state == "pending"]

    async def turn_states(self) -> list[str]:
        return list(
            await self.read(lambda c: c.execute(select(turns.c.state).order_by(turns.c.first_seq)).scalars().all())
        )

    async def events(self, kind: str, user_id: int = OWNER) -> list[Event]:
        return await self.read(lambda c: events.listing(c, user_id, event_type=kind))


async def prepared(database: Database) -> Talk:
    await database.exclusive(migrate)
    for user_id in (OWNER, OTHER):
        await database.write(partial(add_user, user_id=user_id))
    return Talk(database)


async def until(happened: Callable[[], Any], within: float = PATIENCE_S) -> None:
    """Waits until something is true; TimeoutError after `within` seconds."""
    async with asyncio.timeout(within):
        while not happened():  # noqa: ASYNC110 - what is waited for happens in a database or another process
            await asyncio.sleep(0.005)
