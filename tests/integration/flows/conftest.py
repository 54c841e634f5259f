from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from flow_stage import Talk, prepared

from internal.storage.engine import Database


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    """A fresh store with two users, and everything between a parsed message and the outbox."""
    async with Database.open(tmp_path / "talk.db") as database:
        yield await prepared(database)
