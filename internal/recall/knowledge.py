"""Search of what is known: facts, entities, memories and episodes by meaning, words, and who is named in a question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from sqlalchemy import Connection

from internal.errors import ModelError, ModelReplyInvalid, ModelUnavailable
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import repository as episodes
from internal.knowledge import service
from internal.knowledge.claims import FactFilter
from internal.knowledge.entity_types import EntityTypes
from internal.language.memory_kinds import KindsAsked, kinds_asked
from internal.language.terms import Word, names_oneself, plain_query_terms
from internal.language.worker import LanguageCallFailed
from internal.llm.model import Embedder
from internal.recall import item_repository
from internal.recall.fact_order import nearest_first, successors_first
from internal.recall.hits import EpisodeHit, FactHit, NodeHit, Reasons
from internal.recall.item_repository import VectorKind
from internal.recall.items import CACHE_BYTES, ItemIndex, ItemIndexes, Moment
from internal.recall.names import NameTools
from internal.recall.observing import RecallObserver, Unobserved
from internal.recall.scoring import TARGET_SHARE, Mask, Scores, fused, normalised, product, top
from internal.recall.terms import TermTools
from internal.scheduling.clock import Clock
from internal.storage.engine import Database
from internal.storage.vectors import Vector

log = logging.getLogger(__name__)

_EMBED_TIMEOUT: Final = 10.0
_LANGUAGE_TIMEOUT: Final = 3.0
_NAMED_CANDIDATES: Final = 64
"""Entities that share a word with the question and are looked at by name; names not seen before cost 1-3 ms each."""

_MENTIONING: Final = 2_000
"""Most memories that mention somebody who is named and count as named with him, the newest of them."""

_KIND_BESIDE: Final = 0.45
"""What the kind counts for in "what did I decide about the car?": less than NAMED, so that by itself it finds none."""

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

    @property
    def whole(self) -> str:
        """Everything that was said, for whoever looks for names in it."""
        return f"{self.before}\n{self.text}" if self.before else self.text


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: str
    score: float
    reasons: Reasons


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
        self._embedder, self._terms, self._names = embedder, terms, names
        self._types = types or EntityTypes()
        self._observer = observer or Unobserved()
        of = VectorKind(embedder.name, embedder.dimensions) if embedder is not None else None
        self._indexes = ItemIndexes(database, of, terms, cache_bytes=cache_bytes)

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
        moment = Moment(self._clock.now(), as_of, known_at, include_invalid, until)
        wanted = FactFilter(
            entity_types=self._types.labels(entity_types),
            as_of=as_of,
            known_at=known_at,
            include_invalid=include_invalid,
            until=until,
        )
        asked = query if isinstance(query, Asked) else await self.ask(user_id, query)
        named = await self._named(user_id, asked)
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id, "fact")
            counting = index.counting(moment)
            if about:
                counting &= index.source_in(about) | index.target_in(about)
            of_ends = _of_ends(index, named)
            candidates = await self._ranked(index, asked, of_ends, counting, self._depth(limit, center_node, wanted))
        if not candidates:
            return []
        found = await self._database.read(
            lambda connection: self._read_facts(connection, user_id, candidates, wanted, moment, center_node)
        )
        return found[:limit]

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
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id, "entity")
            of_names = np.array([named.get(ref_id, 0.0) for ref_id in index.ids], dtype=np.float32)
            depth = len(index) if types else max(limit, _AT_LEAST)
            candidates = await self._ranked(index, asked, of_names, None, depth)
        ids = [one.id for one in candidates]
        nodes = await self._database.read(lambda connection: store.nodes_by_ids(connection, user_id, ids))
        hits = [NodeHit(nodes[one.id], one.score, one.reasons) for one in candidates if one.id in nodes]
        return [hit for hit in hits if not types or self._is_of(hit.node, types)][:limit]

    async def memories(
        self, user_id: int, query: str | Asked, limit: int = 10, *, labels: Sequence[str] = ("Memory",)
    ) -> list[NodeHit]:
        """The nodes of these labels of the memory graph (not Entity) that fit best, best first.

        By meaning and words, by whom the question names and they mention, and by the kind it asks for ("my goals").
        """
        asked = query if isinstance(query, Asked) else await self.ask(user_id, query)
        about = await self._memories_about(user_id, asked)
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id, "node")
            named = _of_memories(index, about, kinds_asked(asked.text))
            candidates = await self._ranked(index, asked, named, index.source_in(labels), limit)
        ids = [one.id for one in candidates]
        nodes = await self._database.read(lambda connection: store.nodes_by_ids(connection, user_id, ids))
        return [NodeHit(nodes[one.id], one.score, one.reasons) for one in candidates if one.id in nodes]

    async def episodes(self, user_id: int, query: str | Asked, limit: int = 10) -> list[EpisodeHit]:
        """The episodes that fit best, best first."""
        asked = query if isinstance(query, Asked) else await self.ask(user_id, query)
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id, "episode")
            nobody = np.zeros(len(index), dtype=np.float32)
            candidates = await self._ranked(index, asked, nobody, None, limit)

        def read(connection: Connection) -> list[EpisodeHit]:
            found = episodes.episodes_by_ids(connection, user_id, [one.id for one in candidates])
            return [EpisodeHit(found[one.id], one.score, one.reasons) for one in candidates if one.id in found]

        return await self._database.read(read)

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
        """The entities that the question names, each with how plainly; the owner where he speaks of himself."""
        own = {store.owner_node_id(user_id): 1.0} if names_oneself(asked.text) else {}
        if self._names is None or not asked.words:
            return own
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id, "entity")
            shared = index.lexical(asked.words)
            rows = top(shared, _NAMED_CANDIDATES)
            ids = [index.ids[row] for row in rows.tolist() if shared[row] > 0]
        if not ids:
            return own
        names = await self._database.read(lambda c: item_repository.names_of_nodes(c, user_id, ids))
        try:
            async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                boosts = await self._names.boosts(asked.whole, dict(enumerate(names.values())))
        except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
            self._degraded("names", error)
            return own
        node_ids = list(names)
        return own | {node_ids[number]: boost for number, boost in boosts.items()}

    @staticmethod
    def _depth(limit: int, center_node: str | None, wanted: FactFilter) -> int:
        """How many candidates are read (0.3 ms each): more where only stored rows can tell whether they count."""
        judged_later = center_node is not None or wanted.entity_types or wanted.known_at is not None
        return max(limit * 10, _AT_LEAST) if judged_later else limit

    async def _ranked(
        self, index: ItemIndex, asked: Asked, named: Scores, counting: Mask | None, count: int
    ) -> list[_Candidate]:
        """The best rows of those that count, best first, equal ones by id."""
        if not len(index):
            return []
        cosines = await product(index.vectors, asked.vector) if asked.vector is not None else None
        embedded, words = index.embedded, index.lexical(asked.words)
        scores = fused(cosines, embedded, words, named)
        if counting is not None:
            scores = np.where(counting, scores, -np.inf)
        best = [row for row in top(scores, count).tolist() if np.isfinite(scores[row])]

        def reasons(row: int) -> Reasons:
            meaning = float(cosines[row]) if cosines is not None and embedded[row] else None
            return Reasons(meaning, float(words[row]), float(named[row]))

        found = [_Candidate(index.ids[row], float(scores[row]), reasons(row)) for row in best]
        return sorted(found, key=lambda one: (-one.score, one.id))

    def _read_facts(
        self,
        connection: Connection,
        user_id: int,
        candidates: Sequence[_Candidate],
        wanted: FactFilter,
        moment: Moment,
        center_node: str | None,
    ) -> list[FactHit]:
        ids = [one.id for one in candidates]
        facts = service.facts(connection, user_id, ids, wanted=wanted, now=moment.now)
        found = [FactHit(facts[one.id], one.score, one.reasons) for one in candidates if one.id in facts]
        # Of several versions that were found the one that was known then stands for all.
        hits = list({hit.fact.id: hit for hit in reversed(found)}.values())[::-1]
        if moment.include_invalid:
            hits = successors_first(connection, user_id, hits, wanted, moment.now)
        if center_node is not None:
            hits = nearest_first(connection, user_id, hits, center_node, moment)
        return hits

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


def _of_memories(index: ItemIndex, about: Mapping[str, float], kinds: KindsAsked) -> Scores:
    """How plainly the question names what each memory mentions, or asks for its kind."""
    found = np.zeros(len(index), dtype=np.float32)
    if kinds.labels:
        found[index.source_in(kinds.labels)] = 1.0 if kinds.alone else _KIND_BESIDE
    for row in index.rows_of(about):
        found[row] = max(found[row], about[index.ids[row]])
    return found


def _of_ends(index: ItemIndex, named: Mapping[str, float]) -> Scores:
    """How plainly the question names the ends of each fact: the source counts whole, the target in part."""
    found = np.zeros(len(index), dtype=np.float32)
    for node_id, boost in named.items():
        whole, part = index.source_in([node_id]), index.target_in([node_id])
        found += np.float32(boost) * whole + np.float32(boost * TARGET_SHARE) * part
    return np.minimum(found, np.float32(1 + TARGET_SHARE))
