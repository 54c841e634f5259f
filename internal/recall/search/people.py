"""People search: the cosine of a query with every person an owner knows, over a matrix current with every write.

Scores are cosines in [-1, 1]. A threshold that is not configured is the one calibrated for the embedding model.
"""

import asyncio
import itertools
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from internal.errors import ModelUnavailable
from internal.language.names.person_names import NAMED
from internal.language.text.spelling import tokens
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import Embedder
from internal.people.model import Circle, Person, names_of
from internal.recall.index import people_repository
from internal.recall.index.changed_owners import log_since
from internal.recall.index.people_matrix import MatrixCache, PeopleMatrix
from internal.recall.index.people_repository import PersonVector, person_of_change
from internal.recall.index.scoring import dot_product, normalised, top
from internal.recall.index.vector_rows import OwnerLocks
from internal.recall.search.names import NameTools
from internal.recall.search.observer import NoObserver, RecallObserver
from internal.storage.database import Database
from internal.storage.vectors import Vector

CACHE_BYTES: Final = 512 * 1024 * 1024
"""Memory for all owners' matrices: some 40,000 people of 3,072 dimensions."""

_MAX_NAMED: Final = 500
"""With more people than this, indexing all of their names takes seconds."""

_NAMED_CANDIDATES: Final = 200
"""With very many people only the best matches, and those named exactly, get the name boost."""

_NAMES_TIMEOUT: Final = 3.0
"""Seconds. A search without the boost is better than a late one."""


@dataclass(frozen=True, slots=True)
class PersonSearchResult:
    """`score` is the cosine in [-1, 1]; with a query text the name boost is added and the sum cut at 1."""

    person: Person
    score: float


class PeopleSearch:
    """Searches people by meaning. One instance serves all owners; each owner's searches run one after the other."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        names: NameTools | None = None,
        observer: RecallObserver | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._database, self._embedder, self._names = database, embedder, names
        self._observer = observer or NoObserver()
        self._cache = MatrixCache(cache_bytes)
        self._locks = OwnerLocks()

    @property
    def cached_bytes(self) -> int:
        return self._cache.nbytes

    async def search(
        self,
        user_id: int,
        embedding: Vector,
        threshold: float | None,
        max_results: int,
        exclude_circles: Collection[Circle] = (),
        query_text: str = "",
    ) -> list[PersonSearchResult]:
        """The best matches, best first, none in an excluded circle; below the threshold only named people.

        People the query clearly names (a boost of `NAMED` or more) are found whatever their cosine, and first if not
        all fit: the level of cosines depends on the embedding model, a name does not. `embedding` has shape
        (dimensions,) and comes from the embedder given at construction; `threshold` None = that embedder's own. Raises
        ValueError for an embedding of another size.
        """
        started = time.perf_counter()
        query = normalised(embedding, self._embedder.dimensions)
        least = self._embedder.people_threshold if threshold is None else threshold
        async with self._locks.of(user_id):
            matrix = await self._matrix(user_id)
            scores = await dot_product(matrix.vectors, query)
            named = np.zeros(len(scores), dtype=np.bool_)
            if query_text and self._names is not None and matrix.count:
                named = await self._boost(user_id, matrix, scores, query_text, self._names)
            results = _best(matrix, scores, named, least, max_results, exclude_circles)
        self._observer.people_searched(user_id, time.perf_counter() - started, len(results))
        return results

    async def unembedded(self, user_id: int, exclude_circles: Collection[Circle] = ()) -> list[Person]:
        """People without a vector yet, whom a search by meaning cannot find, in the order of their ids."""
        async with self._locks.of(user_id):
            people = (await self._matrix(user_id)).unembedded
        return sorted(
            (person for person in people if person.circle not in exclude_circles), key=lambda person: person.id
        )

    async def inner_circle(self, user_id: int) -> list[Person]:
        """The people who are in every prompt: most mentioned first, then in order of creation."""
        async with self._locks.of(user_id):
            return list((await self._matrix(user_id)).inner_circle)

    async def of_circles(self, user_id: int, circles: Collection[Circle]) -> list[Person]:
        """All people in these circles: most mentioned first, then in order of creation."""
        if not circles:
            return []
        async with self._locks.of(user_id):
            inside = [person for person in (await self._matrix(user_id)).profiles.values() if person.circle in circles]
        return sorted(inside, key=lambda person: (-person.mention_count, person.id))

    async def prepare(self, user_id: int) -> None:
        """Loads this owner's people into memory."""
        async with self._locks.of(user_id):
            await self._matrix(user_id)

    def forget(self, user_id: int) -> None:
        """Drops this owner's data from memory; the next search reads it again."""
        self._cache.drop(user_id)

    async def _matrix(self, user_id: int) -> PeopleMatrix:
        """This owner's matrix, current with every committed write."""
        cached, cache_version = self._cache.get(user_id), self._database.cache_version(user_id)
        if cached is not None and cached.cache_version == cache_version:
            return cached
        log = None if cached is None else await log_since(self._database, user_id, cached.seq, cache_version)
        if cached is None or log is None or log.entries is None:
            cached = await self._database.read(lambda connection: self._load(connection, user_id))
            self._cache.put(user_id, cached)
        else:
            changed = {one for kind, ref in log.entries if (one := person_of_change(kind, ref)) is not None}
            if touched := tuple(sorted(changed)):
                current = await self._database.read(lambda c: list(self._people(c, user_id, touched)))
                cached.apply_changes(touched, current)
                self._cache.shrink()
            cached.seq = log.seq
        cached.cache_version = cache_version
        return cached

    def _load(self, connection: Connection, user_id: int) -> PeopleMatrix:
        seq = people_repository.last_seq(connection, user_id)
        expected = people_repository.count_people(connection, user_id)
        everybody = self._people(connection, user_id)
        return PeopleMatrix.load(self._embedder.dimensions, seq, everybody, expected=expected)

    def _people(
        self, connection: Connection, user_id: int, ids: tuple[int, ...] | None = None
    ) -> Iterator[PersonVector]:
        model, dimensions = self._embedder.name, self._embedder.dimensions
        return people_repository.people_vectors(connection, user_id, model, dimensions, ids)

    async def _boost(
        self, user_id: int, matrix: PeopleMatrix, scores: NDArray[np.float32], text: str, names: NameTools
    ) -> NDArray[np.bool_]:
        """Adds the name boosts to the scores in place; returns which rows are clearly named, shape (rows,)."""
        named = np.zeros(len(scores), dtype=np.bool_)
        try:
            async with asyncio.timeout(_NAMES_TIMEOUT):
                boosts = await names.boosts(text, await self._candidates(user_id, matrix, scores, text))
        except (ModelUnavailable, LanguageCallFailed, TimeoutError):
            self._observer.recall_degraded("names")
            return named
        for person_id, boost in boosts.items():
            row = matrix.row_of(person_id)
            if row is not None:
                scores[row] = min(1.0, scores[row] + names.weight * boost)
                named[row] = boost >= NAMED
        return named

    async def _candidates(
        self, user_id: int, matrix: PeopleMatrix, scores: NDArray[np.float32], text: str
    ) -> Mapping[int, tuple[str, ...]]:
        """The names to look for in the query: everybody's, or those of likely people if there are very many."""
        if len(matrix) <= _MAX_NAMED:
            return {person.id: names_of(person) for person in matrix.profiles.values()}
        likely = [matrix.profiles[person_id] for person_id in matrix.ids[top(scores, _NAMED_CANDIDATES)].tolist()]
        words = [token.key for token in tokens(text)]
        keys = {*words, *(f"{one} {other}" for one, other in itertools.pairwise(words))}
        entity_ids = await self._database.read(
            lambda connection: people_repository.entities_with_names(connection, user_id, keys)
        )
        named = matrix.of_entities(entity_ids)
        return {person.id: names_of(person) for person in (*likely, *named[:_NAMED_CANDIDATES])}


def _best(
    matrix: PeopleMatrix,
    scores: NDArray[np.float32],
    named: NDArray[np.bool_],
    least: float,
    max_results: int,
    excluded: Collection[Circle],
) -> list[PersonSearchResult]:
    """Best first; excluded circles are removed before the limit applies."""
    if excluded:
        scores = np.where(matrix.outside(excluded), scores, -np.inf)
    # Scores lie in [-1, 1]: three more puts named people above everybody else at the limit.
    rows = top(np.where(named, scores + np.float32(3), scores), max_results)
    rows = rows[np.isfinite(scores[rows]) & (named[rows] | (scores[rows] >= least))]
    pairs = zip(scores[rows].tolist(), matrix.ids[rows].tolist(), strict=True)
    ranked = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
    return [PersonSearchResult(matrix.profiles[person_id], score) for score, person_id in ranked]
