from collections.abc import Iterator

import pytest
from sqlalchemy import Connection
from support.knowledge.people_stage import Archive, memory


@pytest.fixture
def connection() -> Iterator[Connection]:
    with memory() as opened:
        yield opened


@pytest.fixture
def archive(connection: Connection) -> Archive:
    return Archive(connection)
