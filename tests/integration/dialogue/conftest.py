from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.stores.ready_stores import ready

from internal.storage.database import Database
from internal.storage.migration import migrate


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(ready(tmp_path)) as opened:
        await opened.exclusive(migrate)
        yield opened
