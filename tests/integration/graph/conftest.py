from collections.abc import Iterator

import pytest
from support.knowledge.graph_stage import STRANGER, Graph, memory


@pytest.fixture
def graph() -> Iterator[Graph]:
    with memory() as connection:
        yield Graph(connection)


@pytest.fixture
def stranger(graph: Graph) -> Graph:
    """Another owner in the same database."""
    return Graph(graph.connection, STRANGER)
