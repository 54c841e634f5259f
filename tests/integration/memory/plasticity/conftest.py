from collections.abc import Iterator

import pytest
from support.knowledge.plasticity_stage import STRANGER, Memories, in_memory


@pytest.fixture
def memories() -> Iterator[Memories]:
    with in_memory() as connection:
        yield Memories(connection)


@pytest.fixture
def stranger(memories: Memories) -> Memories:
    """Another owner in the same database."""
    return Memories(memories.connection, STRANGER)
