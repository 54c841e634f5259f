from collections.abc import Iterator

import pytest
from support.knowledge.memory_stage import Memories, database


@pytest.fixture
def memories() -> Iterator[Memories]:
    with database() as connection:
        yield Memories(connection)
