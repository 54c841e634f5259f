"""Search of facts, entities, memories and episodes by meaning, words, and the names in a question."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

import numpy as np
from sqlalchemy import Connection

from internal.errors import ModelError, ModelReplyInvalid, ModelUnavailable
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge.entities.types import EntityTypes
from internal.knowledge.model import OF_FILE, FactFilter
from internal.language.search.memory_kinds import requested_kinds
from internal.language.search.terms import Word, names_oneself, plain_query_terms
from internal.language.search.transliteration import may_be_latin
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import Embedder
from internal.recall.index import item_repository, ranking, stored_items
from internal.recall.index.hits import EpisodeHit, FactHit, NodeHit
from internal.recall.index.item_repository import IMPORTED, VectorKind
from internal.recall.index.items import CACHE_BYTES, ItemIndex, ItemIndexes, Moment
from internal.recall.index.ranking import IndexCandidate, Match, entity_names
from internal.recall.index.scoring import Scores, normalised
from internal.recall.index.stored_items import FactRequest
from internal.recall.index.terms import TermTools
from internal.recall.index.vector_rows import on_thread
from internal.recall.search.named_entities import NamedEntityFinder
from internal.recall.search.names import NameTools
from internal.recall.search.observer import NoObserver, RecallObserver, report_degraded
from internal.recall.search.query import Query
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.vectors import Vector

log = logging.getLogger(__name__)

T = TypeVar("T")

_EMBED_TIMEOUT: Final = 10.0
_LANGUAGE_TIMEOUT: Final = 3.0
_MAX_MENTIONING: Final = 2_000
"""Most memories mentioning a named entity that count as named with it, the newest of them."""

_VERY_MANY_ROWS: Final = 30_000
"""Rows from which a search without products of vectors runs on a thread."""

_MIN_DEPTH: Final = 50
"""The least number of candidates read where filters apply that only stored rows can answer."""


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
        vectors_of = VectorKind(embedder.name, embedder.dimensions) if embedder is not None else None
        self._indexes = ItemIndexes(database, vectors_of, terms, cache_bytes=cache_bytes)
        self._naming = NamedEntityFinder(
            database, self._indexes, names, lambda error: report_degraded(self._observer, "names", error)
        )

    @property
    def threshold(self) -> float:
        """The least cosine of a relevant text, by the embedding model; 1.0 without one."""
        return self._embedder.people_threshold if self._embedder is not None else 1.0

    @property
    def now(self) -> datetime:
        return self._clock.now()

    @property
    def cached_bytes(self) -> int:
        return self._indexes.nbytes

    async def prepare(self, user_id: int) -> None:
        """Loads everything known of this owner into memory."""
        for kind in item_repository.KINDS:
            async with self._indexes.lock(user_id, kind):
                await self._indexes.current(user_id, kind)

    def forget(self, user_id: int) -> None:
        """Drops this owner's data from memory; the next search reads it again."""
        self._indexes.forget(user_id)

    async def prepare_query(self, user_id: int, text: str) -> Query:
        """Prepares a question for several searches."""
        text = await self.in_cyrillic(text)
        vector, words = await asyncio.gather(self._embedded(user_id, text), self.words(text))
        return Query(text, vector, words)

    async def query_with_embedding(self, text: str, embedding: Vector | None) -> Query:
        """Prepares a question whose embedding is known already, or None."""
        if self._embedder is None or embedding is None:
            return Query(text, None, await self.words(text))
        return Query(text, normalised(embedding, self._embedder.dimensions), await self.words(text))

    async def facts(
        self,
        user_id: int,
        query: str | Query,
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

        Without dates: facts that have not ended. `as_of`: facts that held then, with `until` at any time in [as_of,
        until); `known_at`: facts known then; `include_invalid`: ended facts and old versions too, never before their
        successor. `about` keeps to facts with one of these nodes at an end, `entity_types` to ends of these types.
        Raises NotFound for an unknown centre and Refused for an unknown type.
        """
        fact_filter = FactFilter(
            entity_types=self._types.labels(entity_types),
            as_of=as_of,
            known_at=known_at,
            include_invalid=include_invalid,
            until=until,
        )
        moment = Moment(self._clock.now(), as_of, known_at, include_invalid, until)
        request = FactRequest(fact_filter, moment, center_node)
        prepared = query if isinstance(query, Query) else await self.prepare_query(user_id, query)
        candidates = await self._likely_facts(user_id, prepared, _depth(limit, request), moment, about)
        if not candidates:
            return []
        hits = await self._database.read(lambda c: stored_items.read_facts(c, user_id, candidates, request))
        return hits[:limit]

    async def likely_facts(
        self, user_id: int, query: Query, limit: int, *, about: Collection[str] = ()
    ) -> list[IndexCandidate]:
        """Like `facts`, but only valid facts and only from memory; `read_facts` reads them from the store."""
        return await self._likely_facts(user_id, query, limit, Moment(self._clock.now()), about)

    def read_facts(self, connection: Connection, user_id: int, candidates: Sequence[IndexCandidate]) -> list[FactHit]:
        """Reads those of these facts that hold now, in this order."""
        request = FactRequest(FactFilter(), Moment(self._clock.now()))
        return stored_items.read_facts(connection, user_id, candidates, request) if candidates else []

    async def nodes(
        self, user_id: int, query: str | Query, limit: int = 10, *, entity_types: Sequence[str] = ()
    ) -> list[NodeHit]:
        """The entities, preferences and topics of these types (none = all) that fit best, people included.

        Raises Refused for an unknown type.
        """
        types = self._types.labels(entity_types)
        prepared = query if isinstance(query, Query) else await self.prepare_query(user_id, query)
        named = await self._named_entities(user_id, prepared)
        async with self._indexes.lock(user_id, "entity"):
            index = await self._indexes.current(user_id, "entity")
            depth = len(index) if types else max(limit, _MIN_DEPTH)
            candidates = await self._rank(index, prepared, partial(entity_names, index, named), (), depth)
        hits = await self._database.read(lambda c: stored_items.read_nodes(c, user_id, candidates))
        return [hit for hit in hits if not types or self._has_type(hit.node, types)][:limit]

    async def memories(
        self, user_id: int, query: str | Query, limit: int = 10, *, labels: Sequence[str] = ("Memory",)
    ) -> list[NodeHit]:
        """The nodes with these labels of the memory graph (not Entity) that fit best, best first.

        By meaning and words, by the named entities they mention, and by the kind the question asks for ("my
        goals").
        """
        prepared = query if isinstance(query, Query) else await self.prepare_query(user_id, query)
        candidates = await self.likely_memories(user_id, prepared, limit, labels=labels)
        return await self._database.read(lambda c: stored_items.read_nodes(c, user_id, candidates))

    async def likely_memories(
        self, user_id: int, query: Query, limit: int, *, labels: Sequence[str] = ("Memory",)
    ) -> list[IndexCandidate]:
        """As `memories`, from memory only: `stored_items.read_nodes` reads them."""
        about = await self._memories_about(user_id, query)
        async with self._indexes.lock(user_id, "node"):
            index = await self._indexes.current(user_id, "node")
            names = partial(ranking.memory_names, index, about, requested_kinds(query.text))
            return await self._rank(index, query, names, labels, limit)

    async def episodes(self, user_id: int, query: str | Query, limit: int = 10) -> list[EpisodeHit]:
        """The episodes that fit best, best first."""
        prepared = query if isinstance(query, Query) else await self.prepare_query(user_id, query)
        async with self._indexes.lock(user_id, "episode"):
            index = await self._indexes.current(user_id, "episode")
            candidates = await self._rank(index, prepared, partial(entity_names, index, {}), (), limit)
        hits = await self._database.read(lambda c: stored_items.read_episodes(c, user_id, candidates))
        return list({hit.episode.id: hit for hit in reversed(hits)}.values())[::-1]

    async def likely_imports(self, user_id: int, query: Query, limit: int) -> list[IndexCandidate]:
        """The imported ones among the `limit` best episodes, and as many passages of files, from memory only."""
        async with self._indexes.lock(user_id, "episode"):
            index = await self._indexes.current(user_id, "episode")
            imported, of_files = index.source_in((IMPORTED,)), index.source_in((OF_FILE,))
            names, candidates = partial(entity_names, index, {}), []
            if imported.any():
                best = await self._rank(index, query, names, (), limit)
                candidates += [candidate for candidate in best if imported[index.rows_of([candidate.id])].all()]
            if of_files.any():
                candidates += await self._rank(index, query, names, (OF_FILE,), limit)
            return candidates

    async def _embedded(self, user_id: int, query: str) -> Vector | None:
        if self._embedder is None or not query.strip():
            return None
        try:
            async with asyncio.timeout(_EMBED_TIMEOUT):
                vectors = await self._embedder.embed_queries([query], user_id=user_id)
            if vectors.shape != (1, self._embedder.dimensions) or not np.isfinite(vectors).all() or not vectors.any():
                raise ModelReplyInvalid(f"vectors of shape {vectors.shape} came back")
        except (ModelError, TimeoutError) as error:
            report_degraded(self._observer, "embedder", error)
            return None
        return normalised(vectors[0], self._embedder.dimensions)

    async def words(self, query: str) -> Sequence[Word]:
        """The words to search for; as they are written if the language process fails."""
        if self._terms is not None:
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    return await self._terms.query_terms(query)
            except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
                report_degraded(self._observer, "terms", error)
        return plain_query_terms(query)

    async def in_cyrillic(self, query: str) -> str:
        """A Russian or Ukrainian question in Latin letters in its own; any other as it is."""
        if self._terms is not None and may_be_latin(query):
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    return await self._terms.in_cyrillic(query)
            except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
                report_degraded(self._observer, "terms", error)
        return query

    async def _memories_about(self, user_id: int, query: Query) -> Mapping[str, float]:
        """The memories that mention an entity the question names, with how clearly it is named, in (0, 1]."""
        named = dict(await self._named_entities(user_id, query))
        named.pop(store.owner_node_id(user_id), None)  # everything here is about the owner
        if not named:
            return {}
        mentioning = await self._database.read(
            lambda c: item_repository.memories_about(c, user_id, list(named), limit=_MAX_MENTIONING)
        )
        boosts: dict[str, float] = {}
        for node_id, memories in mentioning.items():
            for memory_id in memories:
                boosts[memory_id] = max(boosts.get(memory_id, 0.0), named[node_id])
        return boosts

    async def _named_entities(self, user_id: int, query: Query) -> Mapping[str, float]:
        """The entities that the question names, with how clearly, in (0, 1]; the owner if it is about the owner.

        Computed once for all searches of a question, unless something is written meanwhile.
        """
        key = ("named", user_id, self._database.commits_seen)
        return await query.cache.get_or_compute(key, lambda: self._find_named_entities(user_id, query))

    async def _find_named_entities(self, user_id: int, query: Query) -> Mapping[str, float]:
        own = {store.owner_node_id(user_id): 1.0} if names_oneself(query.text) else {}
        return own | await self._naming.named(user_id, query.text_with_preceding, query.words)

    async def _rank(
        self, index: ItemIndex, query: Query, named: Callable[[], Scores], labels: Collection[str], count: int
    ) -> list[IndexCandidate]:
        """The best rows with one of these labels (none = all), best first, equal ones by id."""

        def work() -> list[IndexCandidate]:
            scores = ranking.score_items(ranking.match(index, query.vector, query.words), named())
            return ranking.best(scores, index.source_in(labels) if labels else None, count)

        return await on_thread(len(index), work)

    async def _likely_facts(
        self, user_id: int, query: Query, count: int, moment: Moment, about: Collection[str]
    ) -> list[IndexCandidate]:
        """The best facts that count at a moment; names are looked up while words and vectors are compared."""
        named, _ = await asyncio.gather(self._named_entities(user_id, query), self._match_facts(user_id, query))
        async with self._indexes.lock(user_id, "fact"):
            index = await self._indexes.current(user_id, "fact")
            match = await self._match(index, query)

            def work() -> list[IndexCandidate]:
                scores = ranking.score_items(match, ranking.fact_names(index, named))
                mask = index.valid_at(moment)
                if about:
                    mask &= index.source_in(about) | index.target_in(about)
                return ranking.best(scores, mask, count)

            return await on_thread(len(index), work, _VERY_MANY_ROWS)

    async def _match_facts(self, user_id: int, query: Query) -> None:
        async with self._indexes.lock(user_id, "fact"):
            await self._match(await self._indexes.current(user_id, "fact"), query)

    async def _match(self, index: ItemIndex, query: Query) -> Match:
        """Compares a question with the facts once for all its searches; called under the owner's lock."""
        match: Match | None = query.cache.get("facts")
        if match is None or match.index is not index or match.version != index.version:
            match = await on_thread(len(index), lambda: ranking.match(index, query.vector, query.words))
            query.cache.put("facts", match)
        return match

    def _has_type(self, node: Node, types: Sequence[str]) -> bool:
        """Whether a node is of one of these types: by its own labels, else by the label and subtype of the type."""
        labels = node.properties.get("labels") or ()
        if any(label in types for label in labels):
            return True
        found_types = [found for name in types if (found := self._types.find(name)) is not None]
        return not labels and any(
            found.label == node.label and found.subtype in (None, node.subtype) for found in found_types
        )


def _depth(limit: int, request: FactRequest) -> int:
    """The number of candidates to read (0.3 ms each): more if only stored rows can tell whether they count."""
    needs_stored_rows = (
        request.centre is not None or request.fact_filter.entity_types or request.moment.known_at is not None
    )
    return max(limit * 10, _MIN_DEPTH) if needs_stored_rows else limit
