"""What a test of the local Telegram plays on: people act through the control API, the bot through aiogram."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import Update
from support.patience import PATIENCE_S

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram

_new_ids = itertools.count(20_001)


def bot_for(local: LocalTelegram) -> Bot:
    """aiogram's own client, pointed at the local Telegram."""
    return Bot(local.token, session=AiohttpSession(api=TelegramAPIServer.from_base(local.url)))


async def eventually(happened: Callable[[], Awaitable[bool]], within: float = PATIENCE_S) -> None:
    """Wait until `happened` is true; TimeoutError after `within` seconds."""
    async with asyncio.timeout(within):
        while True:
            if await happened():
                return
            await asyncio.sleep(0.03)


class Stage(ControlClient):
    """The control API, aiogram's `bot`, and bare HTTP as `http`."""

    def __init__(self, local: LocalTelegram) -> None:
        super().__init__(local.url)
        self.http: httpx.AsyncClient = self._http
        self.local = local
        self.bot = bot_for(local)

    async def close(self) -> None:
        await self.bot.session.close()
        await self.http.aclose()

    async def person(self, name: str = "Марія", *, language: str = "uk", started: bool = True) -> int:
        """A new user of the local Telegram."""
        return await self.add_user(name, id=next(_new_ids), language_code=language, started=started)

    async def take_updates(self) -> list[Update]:
        """The waiting updates, confirmed; waits some seconds for the first."""
        updates = await self.bot.get_updates(timeout=5)
        if updates:
            await self.bot.get_updates(offset=updates[-1].update_id + 1, timeout=0)
        return updates

    async def call(self, method: str, **values: Any) -> httpx.Response:
        """A Bot API call with a JSON body, without aiogram between."""
        return await self.http.post(f"/bot{self.local.token}/{method}", json=values)
