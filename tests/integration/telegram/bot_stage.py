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

from sqlalchemy import Connection, insert, select

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram
from bot.telegram.budget import Budget
from bot.telegram.delivery import Sender
from bot.telegram.side import open_bot
from internal.config import TelegramConfig
from internal.dialogue import repository as dialogue
from internal.flows.delivery import Delivery
from internal.mailbox import repository as mailbox
from internal.mailbox.model import OutboxRow, Outgoing
from internal.scheduling.clock import SystemClock
from internal.storage.engine import Database
from internal.storage.migration import migrate
from internal.storage.tables import inbox, outbox, users

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

    def __init__(self, local: LocalTelegram, database: Database) -> None:
        super().__init__(local.url)
        self.local, self.database, self.clock = local, database, SystemClock()
        self.bot = open_bot(TelegramConfig(), local.url, local.token)
        self.observer = Counted()
        self.budget = Budget(global_per_second=1000, chat_per_second=1000)
        self.delivery = Delivery(database, self.clock, unknown_wait=timedelta(milliseconds=50))
        self.sender = Sender(self.bot, self.delivery, self.budget, self.observer, self.clock)

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
        fields = {"user_id": chat_id, "dedupe": f"{chat_id}:{text}:{next(_new_people)}"} | more
        outgoing = Outgoing(bot_id=self.bot.id, chat_id=chat_id, text=text, **fields)
        row_id = await self.write(lambda c: mailbox.put(c, outgoing, datetime.now(UTC)))
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

    async def settled(self, row_id: str, *states: str) -> OutboxRow:
        """The row once it is in one of these states (default: sent)."""
        wanted = states or ("sent",)

        async def there() -> bool:
            return await self.state(row_id) in wanted

        await eventually(there)
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
    async with Database.open(folder / "laplaced.db") as database:
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


async def eventually(happened: Callable[[], Awaitable[Any]], within: float = 10.0) -> Any:
    """The first true result; TimeoutError after `within` seconds."""
    async with asyncio.timeout(within):
        while not (found := await happened()):  # noqa: ASYNC110 - what is waited for happens in a database or another process
            await asyncio.sleep(0.02)
        return found

