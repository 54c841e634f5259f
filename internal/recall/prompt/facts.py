"""The facts of a prompt: those that belong to the question, then some about the people picked, within a budget."""

from __future__ import annotations

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
from internal.recall.index.ranking import Candidate
from internal.recall.search.knowledge import Asked, KnowledgeSearch
from internal.storage.database import Database
from internal.storage.vectors import Vector

MAX_FACTS: Final = 20
MAX_TOKENS: Final = 1_500
"""Most facts of one prompt, and of their words; a line has some 25 tokens."""

_FOR_QUESTION: Final = 14
"""Of these the question itself gets the most; the rest is about the people whom the reranker picked for it."""

AROUND: Final = 15
"""Tokens of a line besides the fact's words: its number and dates."""


@dataclass(frozen=True, slots=True)
class LikelyFacts:
    """The facts that belong to a question, best first, then those about the people picked for it; none twice."""

    asked: Asked
    answering: Sequence[Candidate]
    about_people: Sequence[Candidate] = ()


class FactRecall:
    """Recalls facts for prompts. Never raises a model's error."""

    def __init__(self, database: Database, search: KnowledgeSearch) -> None:
        self._database, self._search = database, search

    @property
    def search(self) -> KnowledgeSearch:
        return self._search

    async def for_question(self, user_id: int, question: str | Asked, embedding: Vector | None = None) -> LikelyFacts:
        """What belongs to a question; `embedding` None: there is none, and words and names must do."""
        asked = question if isinstance(question, Asked) else await self._search.asked(question, embedding)
        likely = await self._search.likely_facts(user_id, asked, _FOR_QUESTION)
        return LikelyFacts(asked, [one for one in likely if one.reasons.relevant(self._search.threshold)])

    async def beside_people(self, user_id: int, likely: LikelyFacts, node_ids: Sequence[str]) -> LikelyFacts:
        """The same facts, with those about these nodes that fit the question best."""
        if not node_ids:
            return likely
        known = {one.id for one in likely.answering}
        about = await self._search.likely_facts(user_id, likely.asked, MAX_FACTS, about=node_ids)
        return replace(likely, about_people=[one for one in about if one.id not in known])

    def read(self, connection: Connection, user_id: int, likely: LikelyFacts) -> list[FactHit]:
        """Those that still hold, at most MAX_FACTS."""
        candidates = [*likely.answering, *likely.about_people]
        found = self._search.read_facts(connection, user_id, candidates[:MAX_FACTS])
        if len(found) < MAX_FACTS < len(candidates):
            found += self._search.read_facts(connection, user_id, candidates[MAX_FACTS:])
        return found[:MAX_FACTS]

    async def with_people(self, user_id: int, found: LikelyFacts, node_ids: Sequence[str]) -> list[RecalledFact]:
        """The facts of a question and those about these nodes that fit it best, each once, numbered from 1."""
        likely = await self.beside_people(user_id, found, node_ids)
        return await self._recalled(user_id, await self._database.read(lambda c: self.read(c, user_id, likely)))

    async def as_of(
        self,
        user_id: int,
        question: str,
        as_of: datetime,
        known_at: datetime | None = None,
        until: datetime | None = None,
    ) -> list[RecalledFact]:
        """What held at a moment, or at any time in [as_of, until), as far as it belongs to a question.

        With `known_at`, as it was known then.
        """
        asked = await self._search.ask(user_id, question)
        hits = await self._search.facts(user_id, asked, MAX_FACTS, as_of=as_of, known_at=known_at, until=until)
        return await self._recalled(user_id, [hit for hit in hits if hit.reasons.relevant(self._search.threshold)])

    async def _recalled(self, user_id: int, hits: Sequence[FactHit]) -> list[RecalledFact]:
        kept = _within_budget(hits[:MAX_FACTS])
        return await self._database.read(lambda connection: numbered(connection, user_id, kept)) if kept else []


def numbered(connection: Connection, user_id: int, kept: Sequence[FactHit]) -> list[RecalledFact]:
    """Facts as a prompt shows them, in this order."""
    ids = [hit.fact.id for hit in kept]
    said = item_repository.last_said(connection, user_id, ids) if ids else {}
    owner = owner_node_id(user_id)
    return [
        RecalledFact(
            n=number,
            fact_id=fact.id,
            text=fact.fact,
            valid_at=fact.valid_at if fact.valid_stated else None,
            invalid_at=fact.invalid_at,
            said_at=said.get(fact.id),
            relation=fact.name,
            source=fact.source_name,
            target=fact.target_name,
            about_owner=fact.source == owner,
        )
        for number, fact in enumerate((hit.fact for hit in kept), start=1)
    ]


def _within_budget(hits: Sequence[FactHit]) -> list[FactHit]:
    """The first ones that fit; one that is too long for what is left makes room for shorter ones."""
    left, kept = MAX_TOKENS, list[FactHit]()
    for hit in hits:
        cost = count_tokens(hit.fact.fact) + AROUND
        if cost <= left:
            kept.append(hit)
            left -= cost
    return kept
