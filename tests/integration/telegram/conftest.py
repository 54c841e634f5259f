from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from handler_world import World

from internal.config import Config
from internal.storage.engine import Database
from internal.storage.migration import migrate


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A bot without Telegram; its first user (id 1, Olena, English) is the owner."""
    async with Database.open(tmp_path / "laplaced.db") as database:
        await database.exclusive(migrate)
        built = World(database, Config())
        await built.admit(1, "Olena")
        yield built
        await built.bot.session.close()
