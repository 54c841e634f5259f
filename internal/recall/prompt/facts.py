"""The facts of a prompt: those relevant to the question, then some about the people picked, within a budget."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.agents.model import RecalledFact
from internal.graph.store import owner_node_id
from internal.llm.tokens import count_tokens
from internal.recall.index import item_repository
from internal.recall.index.hits import FactHit
from internal.recall.index.ranking import IndexCandidate
from internal.recall.prompt.budget import within_budget
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.query import Query
from internal.storage.database import Database
from internal.storage.vectors import Vector

MAX_FACTS: Final = 20
MAX_TOKENS: Final = 1_500
"""Most facts of one prompt, and tokens of their texts; a line has some 25 tokens."""

_MAX_FOR_QUESTION: Final = 14
"""Most of these facts for the question itself; the rest is about the people whom the reranker picked."""

LINE_TOKENS: Final = 15
"""Tokens of a line besides the fact's text: its number and dates."""


@dataclass(frozen=True, slots=True)
class LikelyFacts:
    """The facts relevant to a question, best first, then those about the people picked for it, without repetition."""

    query: Query
    relevant: Sequence[IndexCandidate]
    about_people: Sequence[IndexCandidate] = ()


class FactRecall:
    """Recalls facts for prompts. Never raises a model's error."""

    def __init__(self, database: Database, search: KnowledgeSearch) -> None:
        self._database, self._search = database, search

    @property
    def search(self) -> KnowledgeSearch:
        return self._search

    async def for_question(self, user_id: int, question: str | Query, embedding: Vector | None = None) -> LikelyFacts:
        """The facts relevant to a question; `embedding` None: only words and names are searched."""
        query = (
            question if isinstance(question, Query) else await self._search.query_with_embedding(question, embedding)
        )
        likely = await self._search.likely_facts(user_id, query, _MAX_FOR_QUESTION)
        return LikelyFacts(
            query, [candidate for candidate in likely if candidate.reasons.relevant(self._search.threshold)]
        )

    async def add_about(self, user_id: int, likely: LikelyFacts, node_ids: Sequence[str]) -> LikelyFacts:
        """The same facts, with those about these nodes that fit the question best."""
        if not node_ids:
            return likely
        known = {candidate.id for candidate in likely.relevant}
        about = await self._search.likely_facts(user_id, likely.query, MAX_FACTS, about=node_ids)
        return replace(likely, about_people=[candidate for candidate in about if candidate.id not in known])

    def read(self, connection: Connection, user_id: int, likely: LikelyFacts) -> list[FactHit]:
        """Reads those that still hold, at most MAX_FACTS."""
        candidates = [*likely.relevant, *likely.about_people]
        hits = self._search.read_facts(connection, user_id, candidates[:MAX_FACTS])
        if len(hits) < MAX_FACTS < len(candidates):
            hits += self._search.read_facts(connection, user_id, candidates[MAX_FACTS:])
        return hits[:MAX_FACTS]

    async def with_people(self, user_id: int, facts: LikelyFacts, node_ids: Sequence[str]) -> list[RecalledFact]:
        """The facts of a question and those about these nodes that fit it best, each once, numbered from 1."""
        likely = await self.add_about(user_id, facts, node_ids)
        return await self._numbered_within_budget(
            user_id, await self._database.read(lambda c: self.read(c, user_id, likely))
        )

    async def as_of(
        self,
        user_id: int,
        question: str,
        as_of: datetime,
        known_at: datetime | None = None,
        until: datetime | None = None,
    ) -> list[RecalledFact]:
        """The relevant facts that held at a moment, or at any time in [as_of, until).

        With `known_at`: as they were known then.
        """
        query = await self._search.prepare_query(user_id, question)
        hits = await self._search.facts(user_id, query, MAX_FACTS, as_of=as_of, known_at=known_at, until=until)
        return await self._numbered_within_budget(
            user_id, [hit for hit in hits if hit.reasons.relevant(self._search.threshold)]
        )

    async def _numbered_within_budget(self, user_id: int, hits: Sequence[FactHit]) -> list[RecalledFact]:
        within = within_budget(hits[:MAX_FACTS], MAX_TOKENS, lambda hit: count_tokens(hit.fact.fact) + LINE_TOKENS)
        return await self._database.read(lambda connection: numbered(connection, user_id, within)) if within else []


def numbered(connection: Connection, user_id: int, hits: Sequence[FactHit]) -> list[RecalledFact]:
    """Facts as a prompt shows them, in this order, numbered from 1."""
    ids = [hit.fact.id for hit in hits]
    said_at_of = item_repository.last_said(connection, user_id, ids) if ids else {}
    owner = owner_node_id(user_id)
    return [
        RecalledFact(
            n=number,
            fact_id=fact.id,
            text=fact.fact,
            valid_at=fact.valid_at if fact.valid_stated else None,
            invalid_at=fact.invalid_at,
            said_at=said_at_of.get(fact.id),
            relation=fact.name,
            source=fact.source_name,
            target=fact.target_name,
            about_owner=fact.source == owner,
            valid_precision=fact.valid_precision,
            invalid_precision=fact.invalid_precision,
        )
        for number, fact in enumerate((hit.fact for hit in hits), start=1)
    ]
