"""Everything that one question brings to mind, each thing with its score: for whoever asks without a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from internal.people import service as people
from internal.recall.index.hits import EpisodeHit, FactHit, MemoryHit, NodeHit
from internal.recall.messages.search import MessageHit
from internal.recall.prompt.memories import MemoryRecall
from internal.recall.prompt.passages import LEAST_CHANCE, MessageFinder
from internal.recall.search.knowledge import Asked, KnowledgeSearch
from internal.recall.search.people import PeopleSearch, PersonSearchResult
from internal.storage.database import Database


@dataclass(frozen=True, slots=True)
class Overview:
    """What was found, best first; scores compare within one kind. Memories are followed by their associations."""

    people: Sequence[PersonSearchResult]
    facts: Sequence[FactHit]
    memories: Sequence[MemoryHit]
    nodes: Sequence[NodeHit]
    messages: Sequence[MessageHit]
    episodes: Sequence[EpisodeHit]


class PeopleFinder:
    """Finds people by meaning and by name. Never raises a model's error: without vectors names must do."""

    def __init__(self, database: Database, search: PeopleSearch, knowledge: KnowledgeSearch) -> None:
        self._database, self._search, self._knowledge = database, search, knowledge

    async def people(self, user_id: int, query: str | Asked, limit: int) -> list[PersonSearchResult]:
        """The people a question may mean, best first: by meaning, and whoever is called exactly so before them."""
        asked = query if isinstance(query, Asked) else await self._knowledge.ask(user_id, query)
        found: list[PersonSearchResult] = []
        if asked.vector is not None:
            found = await self._search.search(user_id, asked.vector, None, limit, query_text=asked.text)
        known = {one.person.id for one in found}
        called = await self._database.read(lambda c: people.find(c, user_id, asked.text, limit=limit))
        unseen = [PersonSearchResult(person, 1.0) for person in called if person.id not in known]
        return [*unseen, *found][:limit]


class OverviewSearch:
    """Searches people, facts, memories, entities, messages and episodes with one question."""

    def __init__(
        self, finder: PeopleFinder, knowledge: KnowledgeSearch, memories: MemoryRecall, messages: MessageFinder
    ) -> None:
        self._finder, self._knowledge, self._memories, self._messages = finder, knowledge, memories, messages

    async def recall(self, user_id: int, query: str, limit: int) -> Overview:
        """At most `limit` of each kind, and associations of the memories. All but people only if they belong to it."""
        asked = await self._knowledge.ask(user_id, query)
        found, facts, memories, nodes, messages, episodes = await asyncio.gather(
            self._finder.people(user_id, asked, limit),
            self._knowledge.facts(user_id, asked, limit),
            self._memories.recall(user_id, asked, limit),
            self._knowledge.nodes(user_id, asked, limit),
            self._messages.search(user_id, asked, limit),
            self._knowledge.episodes(user_id, asked, limit),
        )
        threshold = self._knowledge.threshold
        return Overview(
            found,
            [hit for hit in facts if hit.reasons.relevant(threshold)],
            memories,
            [hit for hit in nodes if hit.reasons.relevant(threshold)],
            [hit for hit in messages if hit.chance >= LEAST_CHANCE],
            [hit for hit in episodes if hit.reasons.relevant(threshold)],
        )
