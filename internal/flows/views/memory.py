"""One memory with its evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge.facts import citations
from internal.knowledge.model import Citation, EvidenceLine
from internal.memory import service as memory
from internal.memory.model import NAMING
from internal.storage import evidence


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A node of the memory graph with the lines and episodes that support it.

    `held` is False for a memory that the owner decided against in a contradiction.
    """

    node: Node
    lines: Sequence[EvidenceLine]
    citations: Sequence[Citation]
    held: bool = True


def memory_lines(connection: Connection, user_id: int, node_ids: Iterable[str]) -> dict[str, list[EvidenceLine]]:
    """The lines that support each of these memories, by id."""
    stored = {node_id: memory.observations_of(connection, user_id, node_id) for node_id in node_ids}
    support = evidence.rows(connection, user_id, "observation", [one.id for part in stored.values() for one in part])
    rows = {node_id: [row for one in part for row in support.get(one.id, ())] for node_id, part in stored.items()}
    return citations.lines_of(connection, user_id, rows)


def memory_view(connection: Connection, user_id: int, node_id: str) -> MemoryView:
    """The memory with its evidence. Raises NotFound if it is gone or being forgotten."""
    node = store.resolve_node(connection, user_id, node_id)
    if node is None or node.label not in NAMING:
        raise NotFound(f"there is no memory {node_id}")
    stored = memory.observations_of(connection, user_id, node.id)
    support = evidence.rows(connection, user_id, "observation", [one.id for one in stored])
    rows = [row for one in stored for row in support.get(one.id, ())]
    return MemoryView(
        node=node,
        lines=citations.evidence_lines(connection, user_id, rows),
        citations=citations.citations_of_episodes(connection, user_id, list({row.episode_id: 0 for row in rows})),
        held=not memory.superseded(connection, user_id, [node.id]),
    )


def naming_text(node: Node) -> str:
    """The words that identify a memory: a goal's description, a question's text, a memory's content."""
    return str(node.properties.get(NAMING[node.label], ""))
