"""Recall for one turn: the people of every prompt, and what is relevant to this question, in one ranking."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sqlalchemy import Connection

from internal.agents.enricher.agent import LIMITS as ENRICHER_LIMITS
from internal.agents.model import (
    Enricher,
    OwnerProfile,
    PersonPick,
    RecalledFact,
    RecalledMemory,
    RecalledPassage,
    Reranker,
    RerankerRequest,
    TranscriptLine,
)
from internal.agents.reranker.agent import LIMITS as RERANKER_LIMITS
from internal.config.settings import Config
from internal.errors import ModelError, ModelReplyUnknownIds
from internal.language.names.person_names import NAMED
from internal.language.search.terms import Word, plain_query_terms
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import Embedder
from internal.people import repository as people
from internal.people.circle_words import circles_in_question
from internal.people.model import INNER_CIRCLE, Person, names_of
from internal.recall.index.hits import FactHit, MemoryHit
from internal.recall.prompt.facts import FactRecall, LikelyFacts
from internal.recall.prompt.files import with_files
from internal.recall.prompt.lessons import LessonRecall
from internal.recall.prompt.memories import MAX_MEMORIES, MemoryRecall, numbered
from internal.recall.prompt.passages import PassageReader, PassageRecall
from internal.recall.prompt.selection import PromptContents, RecallCandidates, select_contents
from internal.recall.search import calibration
from internal.recall.search.names import NameTools
from internal.recall.search.observer import NoObserver, RecallObserver, report_degraded
from internal.recall.search.people import PeopleSearch, PersonSearchResult
from internal.recall.search.query import Query, QuestionReader
from internal.storage.database import Database, Work
from internal.storage.vectors import Vector

log = logging.getLogger(__name__)

Fallback = Literal["off", "failed", "timeout", "unknown_ids"]

_NAMES_TIMEOUT: Final = 3.0
_MAX_NAMED: Final = 500
"""Most people whose names are searched for in a question; indexing more takes seconds."""


@dataclass(frozen=True, slots=True)
class RecallLimits:
    """`candidates` go to the reranker, which keeps `max_people`; without it the best `fallback_people` are used.

    `threshold` None = the embedding model's own. Times are seconds. `tokens` are for everything recalled together:
    picked people, facts, memories and passages.
    """

    candidates: int = 50
    max_people: int = 10
    fallback_people: int = 10
    threshold: float | None = None
    enricher_timeout: float = 4.0
    reranker_timeout: float = 4.0
    tokens: int = 3_000

    @classmethod
    def of(cls, config: Config) -> RecallLimits:
        return cls(
            candidates=config.agents.reranker.candidates,
            max_people=config.agents.reranker.max_people,
            fallback_people=config.rag.retrieval.retrieved_people_count,
            threshold=config.rag.retrieval.people_threshold,
            enricher_timeout=ENRICHER_LIMITS.overridden_by(config.agents.enricher).timeout.total_seconds(),
            reranker_timeout=RERANKER_LIMITS.overridden_by(config.agents.reranker).timeout.total_seconds(),
            tokens=config.rag.retrieval.recall_tokens,
        )


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What is put into a prompt, the most relevant first; facts, memories and passages are numbered from 1."""

    inner_circle: Sequence[Person]
    relevant_people: Sequence[Person]
    """Nobody of the inner circle."""
    query: str
    """The question as it was searched for, with preceding turns on lines of their own if it depends on them."""
    scores: Mapping[int, float] = field(default_factory=dict)
    """The candidates' scores by person id; 1.0 for somebody found by name only."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Why the reranker picked each person, by id."""
    fallback: Fallback | None = None
    """Why the reranker did not pick."""
    facts: Sequence[RecalledFact] = ()
    memories: Sequence[RecalledMemory] = ()
    passages: Sequence[RecalledPassage] = ()
    lessons: Sequence[str] = ()
    """The few that matter now."""

    @property
    def counts(self) -> dict[str, int]:
        """How much of each kind was recalled."""
        items = {"person": self.relevant_people, "fact": self.facts, "memory": self.memories}
        passages = {
            kind: [recalled for recalled in self.passages if recalled.kind == kind] for kind in ("message", "episode")
        }
        return {kind: len(recalled) for kind, recalled in (items | passages).items()}


def _none(connection: Connection) -> Sequence[Any]:
    return ()


async def _plain_words(text: str) -> Sequence[Word]:
    return plain_query_terms(text)


async def _no_people() -> tuple[list[tuple[Person, float]], list[PersonPick], Fallback | None]:
    return [], [], None


class TurnRecall:
    """Recalls people, facts, memories, passages and lessons. Never raises a model's error: what fails is left out.

    `enricher`, `reranker`, `names`, `facts`, `memories`, `passages` and `lessons` may be None (switched off).
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
        passages: PassageRecall | None = None,
        lessons: LessonRecall | None = None,
        observer: RecallObserver | None = None,
    ) -> None:
        self._facts, self._memories, self._passages, self._lessons = facts, memories, passages, lessons
        self._database, self._search, self._reranker, self._names = database, search, reranker, names
        self._limits, self._observer = limits, observer or NoObserver()
        self._threshold = limits.threshold if limits.threshold is not None else embedder.people_threshold
        self._reading = next((part.search for part in (facts, memories, passages) if part is not None), None)
        words = self._reading.words if self._reading is not None else _plain_words
        self._reader = QuestionReader(embedder, words, enricher, limits.enricher_timeout, self._observer)

    async def with_files(
        self, user_id: int, file_ids: Sequence[str], question: str, found: Sequence[RecalledPassage]
    ) -> Sequence[RecalledPassage]:
        """These passages with those of the files that came with the question."""
        words = plain_query_terms(question)
        return await self._database.read(lambda c: with_files(c, user_id, file_ids, words, found))

    async def recall(
        self,
        owner: OwnerProfile,
        question: str,
        recent: Sequence[TranscriptLine] = (),
        *,
        before_seq: int | None = None,
        with_people: bool = True,
    ) -> RecallResult:
        """Recalls what is relevant to this question. `recent` are the lines before it, oldest first.

        Messages from `before_seq` on are left out: they stand in the prompt's own dialogue. Without `with_people`
        nobody is chosen.
        """
        if self._reading is not None:
            question = await self._reading.in_cyrillic(question)
        inner, query = await asyncio.gather(
            self._search.inner_circle(owner.user_id), self._reader.read(owner, question, recent)
        )
        started = time.perf_counter()
        user_id = owner.user_id
        with self._database.one_cache_version():
            (candidates, picks, fallback), facts, memories, passages, lessons = await asyncio.gather(
                self._people(owner, query) if with_people else _no_people(),
                self._facts_of(user_id, query),
                self._memories_of(user_id, query),
                self._passages_of(owner, query, before_seq),
                self._lessons_for(user_id, query.text_with_preceding),
            )
        by_id = {person.id: person for person, _ in candidates}
        scores = {person.id: score for person, score in candidates}
        picked = [by_id[pick.person_id] for pick in picks]
        read_facts = await self._with_facts_about(user_id, facts, picked)

        def read(connection: Connection) -> PromptContents:
            candidates = RecallCandidates(
                people=[(person, self._chance_of(scores[person.id], fallback)) for person in picked],
                facts=read_facts(connection),
                memories=memories(connection),
                passages=passages,
            )
            return select_contents(connection, user_id, candidates, self._limits.tokens)

        contents = await self._database.read(read)
        recalled = RecallResult(
            inner_circle=inner,
            relevant_people=contents.people,
            query=query.text_with_preceding,
            scores=scores,
            reasons={pick.person_id: pick.reason for pick in picks if pick.reason},
            fallback=fallback,
            facts=contents.facts,
            memories=numbered(contents.memories),
            passages=contents.passages,
            lessons=lessons,
        )
        self._observer.recalled(time.perf_counter() - started, recalled.counts)
        return recalled

    async def _people(
        self, owner: OwnerProfile, query: Query
    ) -> tuple[list[tuple[Person, float]], list[PersonPick], Fallback | None]:
        candidates = await self._candidates(owner.user_id, query.text_with_preceding, query.vector)
        picks, fallback = await self._pick(owner, query.text_with_preceding, [person for person, _ in candidates])
        return candidates, picks, fallback

    def _chance_of(self, score: float, fallback: Fallback | None) -> float:
        return calibration.person_chance(score, self._threshold, picked=fallback is None)

    async def _facts_of(self, user_id: int, query: Query) -> LikelyFacts | None:
        return await self._facts.for_question(user_id, query) if self._facts is not None else None

    async def _with_facts_about(
        self, user_id: int, likely: LikelyFacts | None, picked: Sequence[Person]
    ) -> Work[Sequence[FactHit]]:
        """The facts of the question, then the best facts about the people picked."""
        facts = self._facts
        if facts is None or likely is None:
            return _none
        with_people = await facts.add_about(user_id, likely, [person.entity_id for person in picked])
        return lambda connection: facts.read(connection, user_id, with_people)

    async def _memories_of(self, user_id: int, query: Query) -> Work[Sequence[MemoryHit]]:
        memories = self._memories
        if memories is None:
            return _none
        likely = await memories.likely(user_id, query, MAX_MEMORIES)
        return lambda connection: memories.read(connection, user_id, likely)

    async def _passages_of(self, owner: OwnerProfile, query: Query, before_seq: int | None) -> PassageReader | None:
        if self._passages is None:
            return None
        return await self._passages.likely(owner.user_id, owner.name, query, before_seq)

    async def _lessons_for(self, user_id: int, query: str) -> Sequence[str]:
        return await self._lessons.for_question(user_id, query) if self._lessons is not None else ()

    async def _candidates(self, user_id: int, query: str, embedding: Vector | None) -> list[tuple[Person, float]]:
        """People who may be relevant, best first, at most `candidates`, none of the inner circle.

        If the question asks for a whole circle ("кто мои друзья?"), everybody in it comes first: neither names nor
        meaning find them, and an answer from some of them would be wrong.
        """
        inside = await self._search.of_circles(user_id, {*circles_in_question(query)} - INNER_CIRCLE)
        if embedding is None:
            known = await self._database.read(lambda connection: people.listing(connection, user_id, limit=_MAX_NAMED))
            named = await self._named(query, [person for person in known if person.circle not in INNER_CIRCLE])
            found: list[PersonSearchResult] = []
        else:
            found = await self._search.search(
                user_id, embedding, self._limits.threshold, self._limits.candidates, INNER_CIRCLE, query
            )
            waiting = await self._search.unembedded(user_id, INNER_CIRCLE)
            named = await self._named(query, waiting[:_MAX_NAMED])
        sure = {person.id: (person, 1.0) for person in (*named, *inside)}
        candidates = [*sure.values(), *((one.person, one.score) for one in found if one.person.id not in sure)]
        return candidates[: self._limits.candidates]

    async def _named(self, query: str, known: Sequence[Person]) -> list[Person]:
        """The people whom the question clearly names, most clearly first: the only channel without vectors."""
        if self._names is None or not known:
            return []
        try:
            async with asyncio.timeout(_NAMES_TIMEOUT):
                boosts = await self._names.boosts(query, {person.id: names_of(person) for person in known})
        except (ModelError, LanguageCallFailed, TimeoutError) as error:
            report_degraded(self._observer, "names", error)
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
        known_picks = list({pick.person_id: pick for pick in reversed(picks) if pick.person_id in known}.values())[::-1]
        if picks and not known_picks:
            return self._best(candidates, "unknown_ids")
        kept = known_picks[: self._limits.max_people]
        self._observer.people_selected(owner.user_id, len(kept))
        return kept, None

    def _best(self, candidates: Sequence[Person], reason: Fallback) -> tuple[list[PersonPick], Fallback]:
        """The best candidates, unpicked."""
        self._observer.reranker_fallback(reason)
        return [PersonPick(person.id, "") for person in candidates[: self._limits.fallback_people]], reason
