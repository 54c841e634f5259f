from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from support.interfaces.handler_stage import World
from support.interfaces.telegram_stage import BotStage, bot_stage
from support.product.program import local_telegram
from support.stores.ready_stores import ready

from bot.simulator.launch import LocalTelegram
from internal.config.settings import Config
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.testing import ScriptedModel


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A bot without Telegram; its first user (id 1, Olena, English) is the owner."""
    async with Database.open(ready(tmp_path)) as database:
        await database.exclusive(migrate)
        built = World(database, Config())
        await built.admit(1, "Olena")
        yield built
        await built.bot.session.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def telegram(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalTelegram]:
    """A real local Telegram, one for each test module."""
    async with local_telegram(tmp_path_factory.mktemp("telegram")) as local:
        yield local


@pytest_asyncio.fixture(loop_scope="module")
async def stage(telegram: LocalTelegram, tmp_path: Path) -> AsyncIterator[BotStage]:
    async with bot_stage(telegram, tmp_path) as built:
        yield built


@pytest_asyncio.fixture(loop_scope="module")
async def model() -> AsyncIterator[ScriptedModel]:
    """A model that answers everything with one word."""
    async with ScriptedModel() as scripted:
        yield scripted
