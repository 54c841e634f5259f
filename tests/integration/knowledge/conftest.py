from collections.abc import Iterator

import pytest
from support.knowledge.knowledge_stage import Knowledge, memory


@pytest.fixture
def knowledge() -> Iterator[Knowledge]:
    with memory() as connection:
        yield Knowledge(connection)
