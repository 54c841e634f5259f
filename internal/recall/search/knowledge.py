"""Search of what is known: facts, entities, memories and episodes by meaning, words, and who is named in a question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

import numpy as np
from sqlalchemy import Connection

from internal.errors import ModelError, ModelReplyInvalid, ModelUnavailable
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge.entities.types import EntityTypes
from internal.knowledge.model import FactFilter
from internal.language.search.memory_kinds import kinds_asked
from internal.language.search.terms import Word, names_oneself, plain_query_terms
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import Embedder
from internal.recall.index import item_repository, ranking, stored_items
from internal.recall.index.hits import EpisodeHit, FactHit, NodeHit
from internal.recall.index.item_repository import IMPORTED, VectorKind
from internal.recall.index.items import CACHE_BYTES, ItemIndex, ItemIndexes, Moment
from internal.recall.index.ranking import Candidate, Match, entity_names
from internal.recall.index.scoring import Scores, normalised
from internal.recall.index.stored_items import FactRequest
from internal.recall.index.terms import TermTools
from internal.recall.search.metrics import NoObserver, RecallObserver
from internal.recall.search.named_entities import EntityNaming
from internal.recall.search.names import NameTools
from internal.recall.search.query_cache import QueryCache
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.vectors import Vector

log = logging.getLogger(__name__)

T = TypeVar("T")

_EMBED_TIMEOUT: Final = 10.0
_LANGUAGE_TIMEOUT: Final = 3.0
_MENTIONING: Final = 2_000
"""Most memories that mention somebody who is named and count as named with him, the newest of them."""

_MANY_ROWS: Final = 1_500
_VERY_MANY_ROWS: Final = 30_000
"""Rows from which the arithmetic of a search is worth a thread: with products of vectors, and with what is left once
these are there. It takes about a millisecond then."""

_AT_LEAST: Final = 50
"""Candidates that are read where some fall to filters that only stored rows can answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is searched for: without an embedder it has no vector.

    `before` is what was said before it and is searched for as well, at less weight: empty where it stands alone.
    """

    text: str
    vector: Vector | None
    words: Sequence[Word]
    before: str = ""
    shared: QueryCache = field(default_factory=QueryCache, repr=False, compare=False)

    @property
    def whole(self) -> str:
        """Everything that was said, for whoever looks for names in it."""
        return f"{self.before}\n{self.text}" if self.before else self.text


class KnowledgeSearch:
    """Searches everything that is known. Never raises a model's error: a channel that fails is left out."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        embedder: Embedder | None,
        terms: TermTools | None,
        names: NameTools | None,
        types: EntityTypes | None = None,
        observer: RecallObserver | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._database, self._clock = database, clock
        self._embedder, self._terms = embedder, terms
        self._types = types or EntityTypes()
        self._observer = observer or NoObserver()
        of = VectorKind(embedder.name, embedder.dimensions) if embedder is not None else None
        self._indexes = ItemIndexes(database, of, terms, cache_bytes=cache_bytes)
        self._naming = EntityNaming(database, self._indexes, names, lambda error: self._degraded("names", error))

    @property
    def threshold(self) -> float:
        """The cosine from which a text belongs to a question: the embedding model's own."""
        return self._embedder.people_threshold if self._embedder is not None else 1.0

    @property
    def now(self) -> datetime:
        return self._clock.now()

    @property
    def cached_bytes(self) -> int:
        return self._indexes.nbytes

    async def prepare(self, user_id: int) -> None:
        """Has everything in memory that is known of this owner."""
        for kind in item_repository.KINDS:
            async with self._indexes.lock(user_id, kind):
                await self._indexes.current(user_id, kind)

    def forget(self, user_id: int) -> None:
        """Drops what is in memory of this owner; the next search reads it anew."""
        self._indexes.forget(user_id)

    async def ask(self, user_id: int, query: str) -> Asked:
        """A question made ready for several searches."""
        vector, words = await asyncio.gather(self._embedded(user_id, query), self._words(query))
        return Asked(query, vector, words)

    async def asked(self, query: str, embedding: Vector | None) -> Asked:
        """A question whose vector is known already; None: it has none."""
        if self._embedder is None or embedding is None:
            return Asked(query, None, await self._words(query))
        return Asked(query, normalised(embedding, self._embedder.dimensions), await self._words(query))

    async def facts(
        self,
        user_id: int,
        query: str | Asked,
        limit: int = 10,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_invalid: bool = False,
        center_node: str | None = None,
        entity_types: Sequence[str] = (),
        about: Collection[str] = (),
        until: datetime | None = None,
    ) -> list[FactHit]:
        """The facts that fit a question best, best first; those nearest to `center_node` before all others.

        Without dates: what has not ended. `as_of`: what held then, with `until` at any time in [as_of, until);
        `known_at`: what we knew then; `include_invalid`: ended facts and old versions too, never before what took
        their place. `about` keeps to facts with one of these nodes at an end, `entity_types` to ends of these types.
        Raises NotFound for an unknown centre and Refused for an unknown type.
        """
        fitting = FactFilter(
            entity_types=self._types.labels(entity_types),
            as_of=as_of,
            known_at=known_at,
            include_invalid=include_invalid,
            until=until,
        )
        moment = Moment(self._clock.now(), as_of, known_at, include_invalid, until)
        wanted = FactRequest(fitting, moment, center_node)
        asked = query if isinstance(query, Asked) else await self.ask(user_id, query)
        candidates = await self._likely_facts(user_id, asked, _depth(limit, wanted), moment, about)
        if not candidates:
            return []
        found = await self._database.read(lambda c: stored_items.read_facts(c, user_id, candidates, wanted))
        return found[:limit]

    async def likely_facts(
        self, user_id: int, asked: Asked, limit: int, *, about: Collection[str] = ()
    ) -> list[Candidate]:
        """As `facts`, of what holds now, by what is in memory: `read_facts` reads them."""
        return await self._likely_facts(user_id, asked, limit, Moment(self._clock.now()), about)

    def read_facts(self, connection: Connection, user_id: int, candidates: Sequence[Candidate]) -> list[FactHit]:
        """Those of these facts that hold now, in this order."""
        wanted = FactRequest(FactFilter(), Moment(self._clock.now()))
        return stored_items.read_facts(connection, user_id, candidates, wanted) if candidates else []

    async def nodes(
        self,
        user_id: int,
        query: str | Asked,
        limit: int = 10,
        *,
        entity_types: Sequence[str] = (),
    ) -> list[NodeHit]:
        """The entities, preferences and topics that fit best, people among them, of these types (none = all).

        Raises Refused for an unknown type.
        """
        types = self._types.labels(entity_types)
        asked = query if isinstance(query, Asked) else await self.ask(user_id, query)
        named = await self._named(user_id, asked)
        async with self._indexes.lock(user_id, "entity"):
            index = await self._indexes.current(user_id, "entity")
            depth = len(index) if types else max(limit, _AT_LEAST)
            candidates = await self._ranked(index, asked, partial(entity_names, index, named), (), depth)
        hits = await self._database.read(lambda c: stored_items.read_nodes(c, user_id, candidates))
        return [hit for hit in hits if not types or self._is_of(hit.node, types)][:limit]

    async def memories(
        self, user_id: int, query: str | Asked, limit: int = 10, *, labels: Sequence[str] = ("Memory",)
    ) -> list[NodeHit]:
        """The nodes of these labels of the memory graph (not Entity) that fit best, best first.

        By meaning and words, by whom the question names and they mention, and by the kind it asks for ("my goals").
        """
        asked = query if isinstance(query, Asked) else await self.ask(user_id, query)
        candidates = await self.likely_memories(user_id, asked, limit, labels=labels)
        return await self._database.read(lambda c: stored_items.read_nodes(c, user_id, candidates))

    async def likely_memories(
        self, user_id: int, asked: Asked, limit: int, *, labels: Sequence[str] = ("Memory",)
    ) -> list[Candidate]:
        """As `memories`, by what is in memory: `stored_items.nodes_of` reads them."""
        about = await self._memories_about(user_id, asked)
        async with self._indexes.lock(user_id, "node"):
            index = await self._indexes.current(user_id, "node")
            of_named = partial(ranking.memory_names, index, about, kinds_asked(asked.text))
            return await self._ranked(index, asked, of_named, labels, limit)

    async def episodes(self, user_id: int, query: str | Asked, limit: int = 10) -> list[EpisodeHit]:
        """The episodes that fit best, best first."""
        asked = query if isinstance(query, Asked) else await self.ask(user_id, query)
        async with self._indexes.lock(user_id, "episode"):
            index = await self._indexes.current(user_id, "episode")
            candidates = await self._ranked(index, asked, partial(entity_names, index, {}), (), limit)
        return await self._database.read(lambda c: stored_items.read_episodes(c, user_id, candidates))

    async def likely_imports(self, user_id: int, asked: Asked, limit: int) -> list[Candidate]:
        """Those of the `limit` best episodes that nobody said here, by what is in memory, best first."""
        async with self._indexes.lock(user_id, "episode"):
            index = await self._indexes.current(user_id, "episode")
            imported = index.source_in((IMPORTED,))
            if not imported.any():
                return []
            found = await self._ranked(index, asked, partial(entity_names, index, {}), (), limit)
            return [one for one in found if imported[index.rows_of([one.id])].all()]

    async def words(self, query: str) -> Sequence[Word]:
        """The words of a question; as they are written where the language process cannot read them."""
        return await self._words(query)

    async def _embedded(self, user_id: int, query: str) -> Vector | None:
        if self._embedder is None or not query.strip():
            return None
        try:
            async with asyncio.timeout(_EMBED_TIMEOUT):
                vectors = await self._embedder.embed_queries([query], user_id=user_id)
            if vectors.shape != (1, self._embedder.dimensions) or not np.isfinite(vectors).all() or not vectors.any():
                raise ModelReplyInvalid(f"vectors of shape {vectors.shape} came back")
        except (ModelError, TimeoutError) as error:
            self._degraded("embedder", error)
            return None
        return normalised(vectors[0], self._embedder.dimensions)

    async def _words(self, query: str) -> Sequence[Word]:
        if self._terms is not None:
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    return await self._terms.query_terms(query)
            except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
                self._degraded("terms", error)
        return plain_query_terms(query)

    async def _memories_about(self, user_id: int, asked: Asked) -> Mapping[str, float]:
        """The memories that mention whom or what the question names, each with how plainly that is named."""
        named = dict(await self._named(user_id, asked))
        named.pop(store.owner_node_id(user_id), None)  # everything here is about the owner
        if not named:
            return {}
        found = await self._database.read(
            lambda c: item_repository.memories_about(c, user_id, list(named), limit=_MENTIONING)
        )
        boosts: dict[str, float] = {}
        for node_id, memories in found.items():
            for memory_id in memories:
                boosts[memory_id] = max(boosts.get(memory_id, 0.0), named[node_id])
        return boosts

    async def _named(self, user_id: int, asked: Asked) -> Mapping[str, float]:
        """The entities that the question names, each with how plainly; the owner where he speaks of himself.

        Worked out once for all searches of a question, unless something is written meanwhile.
        """
        key = ("named", user_id, self._database.heard)
        return await asked.shared.of(key, lambda: self._look_for_names(user_id, asked))

    async def _look_for_names(self, user_id: int, asked: Asked) -> Mapping[str, float]:
        own = {store.owner_node_id(user_id): 1.0} if names_oneself(asked.text) else {}
        return own | await self._naming.named(user_id, asked.whole, asked.words)

    async def _ranked(
        self, index: ItemIndex, asked: Asked, named: Callable[[], Scores], labels: Collection[str], count: int
    ) -> list[Candidate]:
        """The best rows of those of these labels (none = all), best first, equal ones by id."""

        def work() -> list[Candidate]:
            scores = ranking.score_items(ranking.match(index, asked.vector, asked.words), named())
            return ranking.best(scores, index.source_in(labels) if labels else None, count)

        return await self._computed(index, work)

    async def _likely_facts(
        self, user_id: int, asked: Asked, count: int, moment: Moment, about: Collection[str]
    ) -> list[Candidate]:
        """The best facts that count at a moment; words and vectors are compared while names are looked for."""
        named, _ = await asyncio.gather(self._named(user_id, asked), self._matched_facts(user_id, asked))
        async with self._indexes.lock(user_id, "fact"):
            index = await self._indexes.current(user_id, "fact")
            matched = await self._matched(index, asked)

            def work() -> list[Candidate]:
                scores = ranking.score_items(matched, ranking.fact_names(index, named))
                counting = index.valid_at(moment)
                if about:
                    counting &= index.source_in(about) | index.target_in(about)
                return ranking.best(scores, counting, count)

            return await self._computed(index, work, _VERY_MANY_ROWS)

    async def _matched_facts(self, user_id: int, asked: Asked) -> None:
        async with self._indexes.lock(user_id, "fact"):
            await self._matched(await self._indexes.current(user_id, "fact"), asked)

    async def _matched(self, index: ItemIndex, asked: Asked) -> Match:
        """A question's facts are compared with it once, however often it asks; under the owner's lock."""
        known: Match | None = asked.shared.kept("facts")
        if known is None or known.index is not index or known.version != index.version:
            known = await self._computed(index, lambda: ranking.match(index, asked.vector, asked.words))
            asked.shared.keep("facts", known)
        return known

    @staticmethod
    async def _computed(index: ItemIndex, work: Callable[[], T], many: int = _MANY_ROWS) -> T:
        """On a thread where it would hold the event loop up: nothing changes an index while its owner is locked."""
        return work() if len(index) < many else await asyncio.to_thread(work)

    def _is_of(self, node: Node, types: Sequence[str]) -> bool:
        """Whether a node is of one of these types: by its own labels, else by what the type is stored as."""
        labels = node.properties.get("labels") or ()
        if any(label in types for label in labels):
            return True
        wanted = [one for name in types if (one := self._types.find(name)) is not None]
        return not labels and any(one.label == node.label and one.subtype in (None, node.subtype) for one in wanted)

    def _degraded(self, part: str, error: Exception) -> None:
        self._observer.recall_degraded(part)
        log.warning("recall_degraded", extra={"part": part, "reason": type(error).__name__})


def _depth(limit: int, wanted: FactRequest) -> int:
    """How many candidates are read (0.3 ms each): more where only stored rows can tell whether they count."""
    judged_later = wanted.centre is not None or wanted.fact_filter.entity_types or wanted.moment.known_at is not None
    return max(limit * 10, _AT_LEAST) if judged_later else limit
