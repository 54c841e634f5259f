from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.stores.stores import where_postgresql

from internal.storage.database import Database


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[tuple[Database, Database]]:
    """One store on PostgreSQL as two processes have it open."""
    address = where_postgresql(tmp_path)
    async with Database.open(address) as first, Database.open(address) as second:
        yield first, second
