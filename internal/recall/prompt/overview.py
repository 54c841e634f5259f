"""Searches everything with one question, each result with its score: for callers without a conversation."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from internal.agents.model import PassageLine
from internal.people import service as people
from internal.recall.index.hits import EpisodeHit, FactHit, MemoryHit, NodeHit
from internal.recall.messages.search import MessageHit, MessageSearch
from internal.recall.prompt.memories import MemoryRecall
from internal.recall.prompt.passages import MIN_CHANCE, best_lines
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.people import PeopleSearch, PersonSearchResult
from internal.recall.search.query import Query
from internal.storage.database import Database


@dataclass(frozen=True, slots=True)
class Overview:
    """The results, best first; scores compare within one kind. Memories are followed by their associations.

    `lines` are the lines that answer, by the id of their episode.
    """

    people: Sequence[PersonSearchResult]
    facts: Sequence[FactHit]
    memories: Sequence[MemoryHit]
    nodes: Sequence[NodeHit]
    messages: Sequence[MessageHit]
    episodes: Sequence[EpisodeHit]
    lines: Mapping[str, PassageLine]


class PeopleFinder:
    """Finds people by meaning and by name. Never raises a model's error: without vectors only names count."""

    def __init__(self, database: Database, search: PeopleSearch, knowledge: KnowledgeSearch) -> None:
        self._database, self._search, self._knowledge = database, search, knowledge

    async def people(self, user_id: int, query: str | Query, limit: int) -> list[PersonSearchResult]:
        """The people a question may mean, best first: by meaning, after those with exactly this name."""
        prepared = query if isinstance(query, Query) else await self._knowledge.prepare_query(user_id, query)
        found: list[PersonSearchResult] = []
        if prepared.vector is not None:
            found = await self._search.search(user_id, prepared.vector, None, limit, query_text=prepared.text)
        known = {result.person.id for result in found}
        by_name = await self._database.read(lambda c: people.find(c, user_id, prepared.text, limit=limit))
        new = [PersonSearchResult(person, 1.0) for person in by_name if person.id not in known]
        return [*new, *found][:limit]


class OverviewSearch:
    """Searches people, facts, memories, entities, messages and episodes with one question."""

    def __init__(
        self,
        database: Database,
        finder: PeopleFinder,
        knowledge: KnowledgeSearch,
        memories: MemoryRecall,
        messages: MessageSearch,
    ) -> None:
        self._database, self._finder, self._knowledge = database, finder, knowledge
        self._memories, self._messages = memories, messages

    async def recall(self, user_id: int, query: str, limit: int) -> Overview:
        """At most `limit` of each kind, with associations of the memories; only people may be irrelevant."""
        prepared = await self._knowledge.prepare_query(user_id, query)
        people_found, facts, memories, nodes, messages, episodes = await asyncio.gather(
            self._finder.people(user_id, prepared, limit),
            self._knowledge.facts(user_id, prepared, limit),
            self._memories.recall(user_id, prepared, limit),
            self._knowledge.nodes(user_id, prepared, limit),
            self._messages.search(user_id, prepared, limit),
            self._knowledge.episodes(user_id, prepared, limit),
        )
        threshold = self._knowledge.threshold
        episodes = [hit for hit in episodes if hit.reasons.relevant(threshold)]
        found = [hit.episode for hit in episodes]
        lines = await self._database.read(lambda c: best_lines(c, user_id, found, prepared.words))
        return Overview(
            people_found,
            [hit for hit in facts if hit.reasons.relevant(threshold)],
            memories,
            [hit for hit in nodes if hit.reasons.relevant(threshold)],
            [hit for hit in messages if hit.chance >= MIN_CHANCE],
            episodes,
            lines,
        )
