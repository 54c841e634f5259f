"""Workers on one PostgreSQL and one local Telegram, in one process: each has a door to the store of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from support.interfaces.telegram_stage import BotStage, WholeBot, cancelled

from bot.simulator.launch import LocalTelegram
from bot.telegram.menu import ChatMenus
from bot.telegram.service import PollMonitor, TelegramService, WorkerShare
from internal.scheduling.leases import Leases
from internal.scheduling.shards import WorkerShards
from internal.storage.database import Database
from internal.testing import ScriptedModel

LENGTH = timedelta(seconds=2)
"""Of the leases in tests."""


class Worker:
    """One worker. `pause` stops it in the midst of whatever it does, as SIGSTOP does, until `go_on`."""

    def __init__(
        self, local: LocalTelegram, database: Database, model: ScriptedModel, name: str, window: timedelta
    ) -> None:
        self.database, self.leases = database, Leases(database, name)
        self.shards = WorkerShards(self.leases, length=LENGTH)
        self.stage = BotStage(local, database, self.shards)
        self.bot = WholeBot(self.stage, model, group_window=window)
        self._going = asyncio.Event()
        self._going.set()
        for way in ("write", "read", "write_separately"):
            setattr(database, way, self._gated(getattr(database, way)))
        monitor = PollMonitor(self.stage.observer, self.stage.clock)  # type: ignore[arg-type]
        self.side = TelegramService(
            self.stage.bot,
            self.bot.ingest,
            self.bot.lanes,
            self.stage.sender,
            self.bot.drafts,
            self.stage.delivery,
            self.bot.poller,
            monitor,
            ChatMenus(self.stage.bot),
            WorkerShare(database, self.leases, self.shards),
        )
        self._tasks: list[asyncio.Task[Any]] = []

    def pause(self) -> None:
        self._going.clear()

    @property
    def is_paused(self) -> bool:
        return not self._going.is_set()

    def go_on(self) -> None:
        self._going.set()

    async def start(self, *, poll: bool = False) -> None:
        if not poll:
            self.side.poller = None
        await self.side.resume()
        self._tasks = [asyncio.create_task(job) for job in self.side.work()]

    async def stop(self) -> None:
        """What SIGTERM leads to."""
        await cancelled(*self._tasks)
        await self.side.stop()

    async def close(self) -> None:
        self.go_on()
        await self.stop()
        await self.bot.chat.aclose()
        await self.stage.bot.session.close()
        await self.stage.__aexit__(None, None, None)

    def _gated(self, way: Any) -> Any:
        async def gated(*args: Any, **more: Any) -> Any:
            await self._going.wait()
            done = await way(*args, **more)
            await self._going.wait()
            return done

        return gated


@contextlib.asynccontextmanager
async def two_workers(
    local: LocalTelegram, address: str, model: ScriptedModel, window: timedelta = timedelta(0)
) -> AsyncIterator[tuple[Worker, Worker]]:
    """Two workers that have not started."""
    async with Database.open(address) as one, Database.open(address) as other:
        workers = Worker(local, one, model, "one", window), Worker(local, other, model, "other", window)
        stage = workers[0].stage
        await stage.request("DELETE", "/faults")
        await stage.request("PUT", "/flood", {"enabled": False})
        await stage.bot.delete_webhook(drop_pending_updates=True)
        await stage.request("DELETE", "/updates")
        try:
            yield workers
        finally:
            await asyncio.gather(*(worker.close() for worker in workers))
