from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from stores import where

from internal.storage.engine import Database
from internal.storage.migration import migrate


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(where(tmp_path)) as opened:
        await opened.exclusive(migrate)
        yield opened
