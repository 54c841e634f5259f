"""The five example queries of the memory-graph specification, as service calls."""

from typing import Final, NamedTuple

from sqlalchemy import Connection

from internal.errors import Refused, expect_found
from internal.graph import store
from internal.graph.model import Node
from internal.memory.queries import repository as query_repository

SPECIFIED: Final = 20
"""The limit of the specification's own statements."""

ALL: Final = 1_000
"""The limit of statements without one, as of any list of this product."""


class Answering(NamedTuple):
    """An open question, and a memory that answers it in part."""

    question: Node
    memory: Node


class Contradicting(NamedTuple):
    """An unresolved contradiction, and a memory that takes part in it."""

    contradiction: Node
    memory: Node


def by_concept(connection: Connection, user_id: int, concept: str, *, limit: int = SPECIFIED) -> list[Node]:
    """The memories that have a concept: those never accessed first, then the last accessed."""
    return query_repository.about_concept(connection, user_id, concept, limit)


def open_questions(connection: Connection, user_id: int, *, limit: int = ALL) -> list[Answering]:
    """The memories that might answer an open question, oldest question first."""
    return [Answering(*pair) for pair in query_repository.answering(connection, user_id, limit)]


def contradictions(connection: Connection, user_id: int, *, limit: int = ALL) -> list[Contradicting]:
    """The memories of every unresolved contradiction, oldest contradiction first."""
    return [Contradicting(*pair) for pair in query_repository.contradicting(connection, user_id, limit)]


def preferences(connection: Connection, user_id: int, category: str | None = None, *, limit: int = ALL) -> list[Node]:
    """The owner's preferences in a category (None: in all), strongest liking first."""
    return query_repository.preferences(connection, user_id, category, limit)


def shared_concepts(connection: Connection, user_id: int, memory_id: str, *, limit: int = SPECIFIED) -> list[Node]:
    """Other memories that share a concept with this one, those with most shared concepts first.

    Raises NotFound for an unknown node, Refused("wrong_label") for one that is no memory.
    """
    memory = expect_found(store.resolve_node(connection, user_id, memory_id), f"there is no node {memory_id}")
    if memory.label != "Memory":
        raise Refused("wrong_label", f"id: HAS_CONCEPT leads from a Memory, not from a {memory.label}")
    return query_repository.sharing_concepts(connection, user_id, memory.id, limit)
