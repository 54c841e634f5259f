"""The typed memories of a prompt: those that belong to the question, and what is strongly associated with them."""

from __future__ import annotations

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
from internal.memory.plasticity.association_repository import associated, conflicts_of
from internal.recall.index import stored_items
from internal.recall.index.hits import MemoryHit, NodeHit
from internal.recall.index.ranking import Candidate
from internal.recall.search.knowledge import Asked, KnowledgeSearch
from internal.storage.database import Database
from internal.storage.vectors import Vector

RECALLED: Final = ("Memory", "Goal", "Decision", "Question", "Preference", "Context")
"""The labels that say something by themselves; the others only sort what these say."""

MAX_MEMORIES: Final = 12
MAX_TOKENS: Final = 1_000
"""Most memories of one prompt, and of their words."""

STRONG: Final = 0.3
"""The strength from which a link is an association that is recalled: a new one of 0.5 that nobody uses falls below it
after two months (66 days at the default half-life of 90)."""

AROUND: Final = 18
"""Tokens of a line besides the words: its number, label, status and date."""

_FEW: Final = 10
_SPARE: Final = 2
"""Candidates for each place: mere conversations and what was superseded are left out."""


class MemoryRecall:
    """Recalls typed memories. Never raises a model's error.

    `associations` is how many may come along over strong links, 0 = none.
    """

    def __init__(self, database: Database, search: KnowledgeSearch, associations: int = 3) -> None:
        self._database, self._search, self._associations = database, search, associations

    async def for_question(self, user_id: int, question: str, embedding: Vector | None) -> list[RecalledMemory]:
        """What belongs to a question, numbered from 1, most relevant first, then what is associated with it."""
        asked = await self._search.asked(question, embedding)
        return numbered(_within_budget(await self.recall(user_id, asked, MAX_MEMORIES)))

    @property
    def search(self) -> KnowledgeSearch:
        return self._search

    async def recall(self, user_id: int, asked: Asked, limit: int) -> list[MemoryHit]:
        """At most `limit` memories that belong to a question, best first, then what is associated or disputes."""
        likely = await self.likely(user_id, asked, limit)
        return await self._database.read(lambda c: self.read(c, user_id, likely, limit))

    async def likely(self, user_id: int, asked: Asked, limit: int) -> list[Candidate]:
        """What may belong to a question, by what is in memory, best first: `read` reads it."""
        found = await self._search.likely_memories(user_id, asked, limit * _SPARE, labels=RECALLED)
        return [one for one in found if one.reasons.relevant(self._search.threshold)]

    def read(
        self, connection: Connection, user_id: int, likely: Sequence[Candidate], limit: int = MAX_MEMORIES
    ) -> list[MemoryHit]:
        """As `recall`, of what is likely."""
        hits = [hit for hit in stored_items.read_nodes(connection, user_id, likely) if _says_something(hit.node)]
        return self._with_associations(connection, user_id, hits, limit) if hits else []

    def _with_associations(
        self, connection: Connection, user_id: int, hits: Sequence[NodeHit], limit: int
    ) -> list[MemoryHit]:
        lost = memory.superseded(connection, user_id, [hit.node.id for hit in hits])
        held = [hit for hit in hits if hit.node.id not in lost][:limit]
        found = [MemoryHit(hit.node, hit.score, hit.reasons) for hit in held]
        return [*found, *self._beside(connection, user_id, found), *self._disputes(connection, user_id, found)]

    @staticmethod
    def _disputes(connection: Connection, user_id: int, found: Sequence[MemoryHit]) -> list[MemoryHit]:
        """What contradicts what was found, and was not settled: who answers is to know that it may be otherwise."""
        by_id = {hit.node.id: hit for hit in found}
        conflicts = conflicts_of(connection, user_id, list(by_id))
        nodes = store.nodes_by_ids(connection, user_id, list(conflicts))
        return [MemoryHit(nodes[one], by_id[side].score, None, side) for one, side in conflicts.items() if one in nodes]

    def _beside(self, connection: Connection, user_id: int, found: Sequence[MemoryHit]) -> list[MemoryHit]:
        """The strongest neighbours of all that was found, each over the strongest link that leads to it."""
        if not self._associations:
            return []
        by_id = {hit.node.id: hit for hit in found}
        near: dict[str, tuple[float, MemoryHit]] = {}
        memories = [hit.node.id for hit in found if hit.node.label == "Memory"]
        for one, other, strength in associated(connection, user_id, memories, STRONG):
            near.setdefault(other, (strength, by_id[one]))
        # Some may be hidden, or not held any more.
        likely = list(near)[: self._associations * _SPARE + _FEW]
        nodes = store.nodes_by_ids(connection, user_id, likely)
        lost = memory.superseded(connection, user_id, likely)
        held = [one for one in likely if one in nodes and one not in lost][: self._associations]
        return [
            MemoryHit(nodes[one], hit.score * strength, None, hit.node.id, strength)
            for one, (strength, hit) in ((one, near[one]) for one in held)
        ]


def told_words(node: Node) -> str:
    """What a memory says, on one line: a decision with its reason and outcome, a preference with its category."""
    told = node.properties
    said = str(told.get(NAMING[node.label], ""))
    match node.label:
        case "Decision":
            return "; ".join([said, *_given(told, "rationale", "outcome")])
        case "Preference":
            return ": ".join([*_given(told, "category"), said])
        case "Context":
            return ": ".join([said, *_given(told, "description")])
        case _:
            return said


def status_of(node: Node) -> str | None:
    """Where a memory stands: a goal's, question's or context's status; liked or disliked for a preference."""
    if node.label == "Preference":
        strength = node.properties.get("strength")
        return None if not strength else "liked" if strength > 0 else "disliked"
    status = node.properties.get("status")
    return None if status is None else str(status)


def _given(told: Any, *names: str) -> Iterator[str]:
    return (str(told[name]) for name in names if told.get(name))


def _says_something(node: Node) -> bool:
    """A conversation says only that it was."""
    return node.label != "Context" or node.subtype not in ("session", "conversation")


def numbered(hits: Sequence[MemoryHit]) -> list[RecalledMemory]:
    """Memories as a prompt shows them, in this order."""
    return [
        RecalledMemory(
            n=number,
            node_id=hit.node.id,
            label=hit.node.label,
            text=told_words(hit.node),
            status=status_of(hit.node),
            at=_moment(hit.node, "date") or hit.node.created_at,
            due=_moment(hit.node, "targetDate"),
            associated=hit.via is not None,
        )
        for number, hit in enumerate(hits, start=1)
    ]


def _moment(node: Node, name: str) -> datetime | None:
    told = node.properties.get(name)
    return None if told is None else datetime.fromisoformat(str(told))


def _within_budget(hits: Sequence[MemoryHit]) -> list[MemoryHit]:
    """The first ones that fit; one that is too long for what is left makes room for shorter ones."""
    left, kept = MAX_TOKENS, list[MemoryHit]()
    for hit in hits:
        cost = count_tokens(told_words(hit.node)) + AROUND
        if cost <= left:
            kept.append(hit)
            left -= cost
    return kept
