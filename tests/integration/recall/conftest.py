from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.flows.recall_stage import DIMENSIONS, Memory, Watched, add_users
from support.stores.ready_stores import ready

from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.testing.vectors import TrigramEmbedder


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(ready(tmp_path)) as opened:
        await opened.exclusive(migrate)
        await opened.write(add_users)
        yield opened


@pytest.fixture
def memory(database: Database) -> Memory:
    return Memory(database, TrigramEmbedder(DIMENSIONS))


@pytest.fixture
def watched() -> Watched:
    return Watched()
