"""Recall for one turn: who is always in the prompt, who belongs to this question, and what is known that answers it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from internal.agents.model import (
    Enricher,
    EnricherRequest,
    OwnerProfile,
    PersonPick,
    RecalledFact,
    RecalledMemory,
    Reranker,
    RerankerRequest,
    TranscriptLine,
)
from internal.config import Config
from internal.errors import ModelError, ModelReplyInvalid, ModelReplyUnknownIds
from internal.language.names import NAMED
from internal.language.worker import LanguageCallFailed
from internal.llm.model import Embedder
from internal.people import repository as people
from internal.people.model import INNER_CIRCLE, Person, names_of
from internal.recall.facts import FactRecall, FoundFacts
from internal.recall.lessons import LessonRecall
from internal.recall.memories import MemoryRecall
from internal.recall.names import NameTools
from internal.recall.observing import RecallObserver, Unobserved
from internal.recall.people import PeopleSearch
from internal.storage.engine import Database
from internal.storage.vectors import Vector

log = logging.getLogger(__name__)

Fallback = Literal["off", "failed", "timeout", "unknown_ids"]

_EMBED_TIMEOUT: Final = 10.0
_NAMES_TIMEOUT: Final = 3.0
_MAX_NAMED: Final = 500
"""Most people whose names are looked for in a question; an index over more takes seconds to build."""


@dataclass(frozen=True, slots=True)
class RecallLimits:
    """`candidates` go to the reranker, which keeps `max_people`; without it the best `fallback_people` are used.

    `threshold` None = the embedding model's own. Times are seconds.
    """

    candidates: int = 50
    max_people: int = 10
    fallback_people: int = 10
    threshold: float | None = None
    enricher_timeout: float = 20.0
    reranker_timeout: float = 60.0

    @classmethod
    def of(cls, config: Config) -> RecallLimits:
        return cls(
            candidates=config.agents.reranker.candidates,
            max_people=config.agents.reranker.max_people,
            fallback_people=config.rag.retrieval.retrieved_people_count,
            threshold=config.rag.retrieval.people_threshold,
            enricher_timeout=config.agents.enricher.timeout.total_seconds(),
            reranker_timeout=config.agents.reranker.timeout.total_seconds(),
        )


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a prompt is given. `relevant_people` are best first and never of the inner circle.

    `facts` and `memories` are numbered from 1, most relevant first. `query` is the question as it was searched;
    `scores` the candidates' by person id (1.0 for somebody found by name alone); `reasons` the reranker's; `fallback`
    says why the reranker did not choose. `lessons` are the few that matter now, most telling first.
    """

    inner_circle: Sequence[Person]
    relevant_people: Sequence[Person]
    query: str
    scores: Mapping[int, float] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)
    fallback: Fallback | None = None
    facts: Sequence[RecalledFact] = ()
    memories: Sequence[RecalledMemory] = ()
    lessons: Sequence[str] = ()


class TurnRecall:
    """Recalls people, facts, memories and lessons for a question. Never raises a model's error: a part that fails is
    left out.

    `enricher`, `reranker`, `names`, `facts`, `memories` and `lessons` may be None (switched off).
    """

    def __init__(
        self,
        database: Database,
        search: PeopleSearch,
        embedder: Embedder,
        *,
        enricher: Enricher | None,
        reranker: Reranker | None,
        names: NameTools | None,
        limits: RecallLimits,
        facts: FactRecall | None = None,
        memories: MemoryRecall | None = None,
        lessons: LessonRecall | None = None,
        observer: RecallObserver | None = None,
    ) -> None:
        self._facts, self._memories, self._lessons = facts, memories, lessons
        self._database, self._search, self._embedder = database, search, embedder
        self._enricher, self._reranker, self._names = enricher, reranker, names
        self._limits, self._observer = limits, observer or Unobserved()

    async def recall(self, owner: OwnerProfile, question: str, recent: Sequence[TranscriptLine] = ()) -> Recalled:
        """The people for this question. `recent` are the lines before it, oldest first."""
        inner = await self._database.read(lambda connection: people.inner_circle(connection, owner.user_id))
        query = await self._standalone(owner, question, recent)
        embedding = await self._embedded(owner.user_id, query)
        (candidates, picks, fallback), found, memories, lessons = await asyncio.gather(
            self._people(owner, query, embedding),
            self._found(owner.user_id, query, embedding),
            self._memories_of(owner.user_id, query, embedding),
            self._lessons_for(owner.user_id, query),
        )
        by_id = {person.id: person for person, _ in candidates}
        picked = [by_id[pick.person_id] for pick in picks]
        return Recalled(
            inner_circle=inner,
            relevant_people=picked,
            query=query,
            scores={person.id: score for person, score in candidates},
            reasons={pick.person_id: pick.reason for pick in picks if pick.reason},
            fallback=fallback,
            facts=await self._with_facts_about(owner.user_id, found, picked),
            memories=memories,
            lessons=lessons,
        )

    async def _people(
        self, owner: OwnerProfile, query: str, embedding: Vector | None
    ) -> tuple[list[tuple[Person, float]], list[PersonPick], Fallback | None]:
        candidates = await self._candidates(owner.user_id, query, embedding)
        picks, fallback = await self._pick(owner, query, [person for person, _ in candidates])
        return candidates, picks, fallback

    async def _found(self, user_id: int, query: str, embedding: Vector | None) -> FoundFacts | None:
        return await self._facts.for_question(user_id, query, embedding) if self._facts is not None else None

    async def _lessons_for(self, user_id: int, query: str) -> Sequence[str]:
        return await self._lessons.for_question(user_id, query) if self._lessons is not None else ()

    async def _memories_of(self, user_id: int, query: str, embedding: Vector | None) -> Sequence[RecalledMemory]:
        return await self._memories.for_question(user_id, query, embedding) if self._memories is not None else ()

    async def _with_facts_about(
        self, user_id: int, found: FoundFacts | None, picked: Sequence[Person]
    ) -> Sequence[RecalledFact]:
        """The facts of the question, then the best ones about those who were picked: nobody else named them."""
        if self._facts is None or found is None:
            return ()
        return await self._facts.with_people(user_id, found, [person.entity_id for person in picked])

    async def _standalone(self, owner: OwnerProfile, question: str, recent: Sequence[TranscriptLine]) -> str:
        """The question as it can be searched for; with nothing before it, it already stands alone."""
        if self._enricher is None or not recent:
            return question
        try:
            async with asyncio.timeout(self._limits.enricher_timeout):
                enriched = await self._enricher.standalone(EnricherRequest(owner, question, recent))
        except (ModelError, TimeoutError) as error:
            self._degraded("enricher", error)
            return question
        return enriched.strip() or question

    async def _candidates(self, user_id: int, query: str, embedding: Vector | None) -> list[tuple[Person, float]]:
        """People who may belong to the question, best first, at most `candidates`, none of the inner circle."""
        if embedding is None:
            known = await self._database.read(lambda connection: people.listing(connection, user_id, limit=_MAX_NAMED))
            named = await self._named(query, [person for person in known if person.circle not in INNER_CIRCLE])
            return [(person, 1.0) for person in named[: self._limits.candidates]]
        found = await self._search.search(
            user_id, embedding, self._limits.threshold, self._limits.candidates, INNER_CIRCLE, query
        )
        waiting = await self._search.unembedded(user_id, INNER_CIRCLE)
        named = await self._named(query, waiting[:_MAX_NAMED])
        candidates = [*((person, 1.0) for person in named), *((one.person, one.score) for one in found)]
        return candidates[: self._limits.candidates]

    async def _embedded(self, user_id: int, query: str) -> Vector | None:
        try:
            async with asyncio.timeout(_EMBED_TIMEOUT):
                vectors = await self._embedder.embed_queries([query], user_id=user_id)
            if vectors.shape != (1, self._embedder.dimensions) or not vectors.any():
                raise ModelReplyInvalid(f"vectors of shape {vectors.shape} came back")
        except (ModelError, TimeoutError) as error:
            self._degraded("embedder", error)
            return None
        embedding: Vector = vectors[0]
        return embedding

    async def _named(self, query: str, known: Sequence[Person]) -> list[Person]:
        """Those whom the question names outright, most plainly first: all there is without vectors."""
        if self._names is None or not known:
            return []
        try:
            async with asyncio.timeout(_NAMES_TIMEOUT):
                boosts = await self._names.boosts(query, {person.id: names_of(person) for person in known})
        except (ModelError, LanguageCallFailed, TimeoutError) as error:
            self._degraded("names", error)
            return []
        named = [person for person in known if boosts.get(person.id, 0.0) >= NAMED]
        return sorted(named, key=lambda person: -boosts[person.id])

    async def _pick(
        self, owner: OwnerProfile, query: str, candidates: Sequence[Person]
    ) -> tuple[list[PersonPick], Fallback | None]:
        if not candidates:
            return [], None
        if self._reranker is None:
            return self._best(candidates, "off")
        request = RerankerRequest(owner, query, candidates, self._limits.max_people)
        try:
            async with asyncio.timeout(self._limits.reranker_timeout):
                picks = await self._reranker.pick(request)
        except TimeoutError:
            return self._best(candidates, "timeout")
        except ModelError as error:
            log.warning("reranker_failed", extra={"reason": type(error).__name__})
            return self._best(candidates, "unknown_ids" if isinstance(error, ModelReplyUnknownIds) else "failed")
        known = {person.id for person in candidates}
        valid = list({pick.person_id: pick for pick in reversed(picks) if pick.person_id in known}.values())[::-1]
        if picks and not valid:
            return self._best(candidates, "unknown_ids")
        chosen = valid[: self._limits.max_people]
        self._observer.people_selected(owner.user_id, len(chosen))
        return chosen, None

    def _best(self, candidates: Sequence[Person], reason: Fallback) -> tuple[list[PersonPick], Fallback]:
        """What the search found best, unpicked."""
        self._observer.reranker_fallback(reason)
        return [PersonPick(person.id, "") for person in candidates[: self._limits.fallback_people]], reason

    def _degraded(self, part: str, error: Exception) -> None:
        self._observer.recall_degraded(part)
        log.warning("recall_degraded", extra={"part": part, "reason": type(error).__name__})
