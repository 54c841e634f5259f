"""The typed memories of a prompt: those relevant to the question, and what is strongly associated with them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.agents.model import RecalledMemory
from internal.graph import store
from internal.graph.model import Node
from internal.llm.tokens import count_tokens
from internal.memory import service as memory
from internal.memory.model import NAMING
from internal.memory.plasticity.repository import associated, conflicts_of
from internal.recall.index import stored_items
from internal.recall.index.hits import MemoryHit, NodeHit
from internal.recall.index.ranking import IndexCandidate
from internal.recall.prompt.budget import within_budget
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.query import Query
from internal.storage.database import Database
from internal.storage.vectors import Vector

RECALLED_LABELS: Final = ("Memory", "Goal", "Decision", "Question", "Preference", "Context")
"""The labels with content of their own; nodes of other labels only classify them."""

MAX_MEMORIES: Final = 12
MAX_TOKENS: Final = 1_000
"""Most memories of one prompt, and tokens of their texts."""

MIN_STRENGTH: Final = 0.3
"""The least strength of a link over which memories are associated: a new one of 0.5 that is not used falls below it
after two months (66 days at the default half-life of 90)."""

LINE_TOKENS: Final = 18
"""Tokens of a line besides the text: its number, label, status and date."""

_EXTRA: Final = 10
_CANDIDATES_PER_SLOT: Final = 2
"""Candidates per place: conversations and superseded memories are left out later."""


class MemoryRecall:
    """Recalls typed memories. Never raises a model's error.

    `associations` is the most that are added over strong links, 0 = none.
    """

    def __init__(self, database: Database, search: KnowledgeSearch, associations: int = 3) -> None:
        self._database, self._search, self._associations = database, search, associations

    async def for_question(self, user_id: int, question: str, embedding: Vector | None) -> list[RecalledMemory]:
        """The memories relevant to a question, numbered from 1, best first, then what is associated with them."""
        query = await self._search.query_with_embedding(question, embedding)
        return numbered(
            within_budget(
                await self.recall(user_id, query, MAX_MEMORIES),
                MAX_TOKENS,
                lambda hit: count_tokens(memory_text(hit.node)) + LINE_TOKENS,
            )
        )

    @property
    def search(self) -> KnowledgeSearch:
        return self._search

    async def recall(self, user_id: int, query: Query, limit: int) -> list[MemoryHit]:
        """At most `limit` relevant memories, best first, then what is associated with them or contradicts them."""
        likely = await self.likely(user_id, query, limit)
        return await self._database.read(lambda c: self.read(c, user_id, likely, limit))

    async def likely(self, user_id: int, query: Query, limit: int) -> list[IndexCandidate]:
        """The candidates for a question from memory only, best first: `read` reads them."""
        candidates = await self._search.likely_memories(
            user_id, query, limit * _CANDIDATES_PER_SLOT, labels=RECALLED_LABELS
        )
        return [candidate for candidate in candidates if candidate.reasons.relevant(self._search.threshold)]

    def read(
        self, connection: Connection, user_id: int, likely: Sequence[IndexCandidate], limit: int = MAX_MEMORIES
    ) -> list[MemoryHit]:
        """As `recall`, for these candidates."""
        hits = [hit for hit in stored_items.read_nodes(connection, user_id, likely) if _has_content(hit.node)]
        return self._with_associations(connection, user_id, hits, limit) if hits else []

    def _with_associations(
        self, connection: Connection, user_id: int, hits: Sequence[NodeHit], limit: int
    ) -> list[MemoryHit]:
        superseded = memory.superseded(connection, user_id, [hit.node.id for hit in hits])
        current = [hit for hit in hits if hit.node.id not in superseded][:limit]
        found = [MemoryHit(hit.node, hit.score, hit.reasons) for hit in current]
        return [
            *found,
            *self._associated(connection, user_id, found),
            *self._contradictions(connection, user_id, found),
        ]

    @staticmethod
    def _contradictions(connection: Connection, user_id: int, found: Sequence[MemoryHit]) -> list[MemoryHit]:
        """The memories in an open contradiction with those found: the answer is to consider both."""
        by_id = {hit.node.id: hit for hit in found}
        conflicts = conflicts_of(connection, user_id, list(by_id))
        nodes = store.nodes_by_ids(connection, user_id, list(conflicts))
        return [
            MemoryHit(nodes[node_id], by_id[side].score, None, side)
            for node_id, side in conflicts.items()
            if node_id in nodes
        ]

    def _associated(self, connection: Connection, user_id: int, found: Sequence[MemoryHit]) -> list[MemoryHit]:
        """The strongest neighbours of all memories found, each over the strongest link that leads to it."""
        if not self._associations:
            return []
        by_id = {hit.node.id: hit for hit in found}
        strongest: dict[str, tuple[float, MemoryHit]] = {}
        memories = [hit.node.id for hit in found if hit.node.label == "Memory"]
        for node_id, neighbour, strength in associated(connection, user_id, memories, MIN_STRENGTH):
            strongest.setdefault(neighbour, (strength, by_id[node_id]))
        # Some may be hidden or superseded.
        likely = list(strongest)[: self._associations * _CANDIDATES_PER_SLOT + _EXTRA]
        nodes = store.nodes_by_ids(connection, user_id, likely)
        superseded = memory.superseded(connection, user_id, likely)
        current = [node_id for node_id in likely if node_id in nodes and node_id not in superseded][
            : self._associations
        ]
        return [
            MemoryHit(nodes[node_id], hit.score * strength, None, hit.node.id, strength)
            for node_id, (strength, hit) in ((node_id, strongest[node_id]) for node_id in current)
        ]


def memory_text(node: Node) -> str:
    """The text of a memory on one line: a decision with its reason and outcome, a preference with its category."""
    properties = node.properties
    content = str(properties.get(NAMING[node.label], ""))
    match node.label:
        case "Decision":
            return "; ".join([content, *_present(properties, "rationale", "outcome")])
        case "Preference":
            return ": ".join([*_present(properties, "category"), content])
        case "Context":
            return ": ".join([content, *_present(properties, "description")])
        case _:
            return content


def status_of(node: Node) -> str | None:
    """The status of a goal, question, context or instruction; liked or disliked for another preference."""
    if node.label == "Preference" and not node.properties.get("status"):
        strength = node.properties.get("strength")
        return None if not strength else "liked" if strength > 0 else "disliked"
    status = node.properties.get("status")
    return None if status is None else str(status)


def _present(properties: Any, *names: str) -> Iterator[str]:
    return (str(properties[name]) for name in names if properties.get(name))


def _has_content(node: Node) -> bool:
    """Whether a memory has content: a conversation has none."""
    return node.label != "Context" or node.subtype not in ("session", "conversation")


def numbered(hits: Sequence[MemoryHit]) -> list[RecalledMemory]:
    """Memories as a prompt shows them, in this order, numbered from 1."""
    return [
        RecalledMemory(
            n=number,
            node_id=hit.node.id,
            label=hit.node.label,
            text=memory_text(hit.node),
            status=status_of(hit.node),
            at=_datetime_of(hit.node, "date") or hit.node.dated,
            due=_datetime_of(hit.node, "targetDate"),
            associated=hit.via is not None,
        )
        for number, hit in enumerate(hits, start=1)
    ]


def _datetime_of(node: Node, name: str) -> datetime | None:
    value = node.properties.get(name)
    return None if value is None else datetime.fromisoformat(str(value))
