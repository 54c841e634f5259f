from collections.abc import Iterator

import pytest
from people_stage import Archive, memory
from sqlalchemy import Connection


@pytest.fixture
def connection() -> Iterator[Connection]:
    with memory() as opened:
        yield opened


@pytest.fixture
def archive(connection: Connection) -> Archive:
    return Archive(connection)
