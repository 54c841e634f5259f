"""People search as a ratio to one bare numpy product over the same matrix, in the same run.

    python -m benchmarks.search.people_search [--people 100 10000] [--dimensions 384 3072] [--rounds 30]

The search does all of its work each time: it asks the change log in a real database, multiplies, cuts the inner circle,
applies the threshold and ranks the best 50. Product and search are taken in turn, and of each the fastest tenth is
compared: what else the machine does hits both alike. "first" is the search that reads everything from the database.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, insert

from benchmarks.shared import figures
from internal.llm.model import Vectors
from internal.people.model import INNER_CIRCLE, Circle, Person, embedding_text
from internal.people.repository import item_of
from internal.recall.search.people import PeopleSearch
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.search_items import text_hash
from internal.storage.tables import people, search_items, users, vectors
from internal.storage.vectors import to_blob

OWNER = 1
MODEL = "benchmark"
BATCH = 1_000
CANDIDATES = 50
THRESHOLD = 0.0
NOW = datetime(2026, 2, 7, tzinfo=UTC)
MOST_BYTES = 1_500_000_000
"""A matrix beyond it does not fit beside its copy in the database's page cache on a small machine."""


@dataclass(frozen=True, slots=True)
class RandomEmbedder:
    """Says how large the vectors are; the benchmark makes them itself."""

    dimensions: int
    name: str = MODEL
    people_threshold: float = THRESHOLD

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        raise NotImplementedError

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds; of products and searches the first decile."""

    people: int
    dimensions: int
    cold: float
    product: float
    search: float


async def measure(count: int, dimensions: int, rounds: int) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        async with Database.open(Path(folder) / "benchmark.db") as database:
            await database.exclusive(migrate)
            matrix = await _fill(database, count, dimensions)
            return await _measure(database, matrix, rounds)


async def _measure(database: Database, matrix: Vectors, rounds: int) -> Measured:
    count, dimensions = matrix.shape
    search = PeopleSearch(database, RandomEmbedder(dimensions), cache_bytes=1 << 40)
    queries = _random(rounds, dimensions, seed=7)
    started = time.perf_counter()
    await search.search(OWNER, queries[0], None, CANDIDATES, INNER_CIRCLE)
    cold = time.perf_counter() - started
    products, searches = [], []
    for query in queries:
        started = time.perf_counter()
        matrix @ query
        products.append(time.perf_counter() - started)
        started = time.perf_counter()
        results = await search.search(OWNER, query, None, CANDIDATES, INNER_CIRCLE)
        searches.append(time.perf_counter() - started)
        assert results[0].score == max(result.score for result in results)
    return Measured(count, dimensions, cold * 1e3, _decile(products), _decile(searches))


def _decile(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=10)[0] * 1e3


async def _fill(database: Database, count: int, dimensions: int) -> Vectors:
    """Stores the people and returns their matrix."""
    matrix = np.empty((count, dimensions), dtype=np.float32)
    await database.write(_add_owner)
    for first in range(0, count, BATCH):
        size = min(BATCH, count - first)
        matrix[first : first + size] = _random(size, dimensions, seed=first + 100)
        part = matrix[first : first + size]
        await database.write(partial(_add_people, first=first, part=part))
    return matrix


def _add_owner(connection: Connection) -> None:
    row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "", "lang": "ru", "tz": "UTC"}
    connection.execute(insert(users).values(**row, settings={}, created_at=NOW))


def _add_people(connection: Connection, first: int, part: Vectors) -> None:
    """Rows written directly: the archivist's way of writing is not what is measured."""
    circles = tuple(Circle)
    known = [
        Person(
            id=first + n + 1,
            user_id=OWNER,
            entity_id=f"entity-{first + n + 1}",
            display_name=f"Имя{first + n} Фамилия{first + n}",
            circle=circles[(first + n) % len(circles)],
            bio="Коллега по проекту, живёт в соседнем городе и любит чай.",
            first_seen=NOW,
            last_seen=NOW,
            aliases=(f"Прозвище{first + n}",),
            mention_count=1,
        )
        for n in range(len(part))
    ]
    texts = {person.id: embedding_text(person) for person in known}
    connection.execute(
        insert(people),
        [
            {
                "id": person.id,
                "user_id": OWNER,
                "entity_id": person.entity_id,
                "display_name": person.display_name,
                "aliases": list(person.aliases),
                "circle": person.circle.value,
                "bio": person.bio,
                "first_seen": NOW,
                "last_seen": NOW,
                "mention_count": 1,
                "rev": person.id,
                "field_meta": {},
            }
            for person in known
        ],
    )
    items = [
        {"user_id": OWNER, "item": item_of(person.id), "kind": "person", "ref_id": str(person.id)} for person in known
    ]
    hashes = [text_hash(texts[person.id]) for person in known]
    connection.execute(
        insert(search_items),
        [
            item | {"text": texts[person.id], "text_hash": digest, "rev": person.id}
            for item, person, digest in zip(items, known, hashes, strict=True)
        ],
    )
    connection.execute(
        insert(vectors),
        [
            {
                "user_id": OWNER,
                "item": item["item"],
                "model": MODEL,
                "dim": part.shape[1],
                "text_hash": digest,
                "vec": to_blob(vector),
            }
            for item, digest, vector in zip(items, hashes, part, strict=True)
        ],
    )


def _random(rows: int, dimensions: int, seed: int) -> Vectors:
    drawn: Vectors = np.random.default_rng(seed).standard_normal((rows, dimensions), dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description="People search against one bare matrix-vector product.")
    parser.add_argument("--people", type=int, nargs="+", default=[100, 10_000, 100_000])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[384, 3072])
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    print("".join(f"{column:>12}" for column in ("people", "size", "first, ms", "product, ms", "search, ms", "ratio")))
    for dimensions in options.dimensions:
        for count in options.people:
            if count * dimensions * 4 > MOST_BYTES:
                print(f"{count:>12}{dimensions:>12}   left out: {count * dimensions * 4 >> 20} MiB of vectors")
                continue
            found = asyncio.run(measure(count, dimensions, options.rounds))
            ratio = found.search / found.product
            times = f"{found.cold:>12.1f}{found.product:>12.3f}{found.search:>12.3f}{ratio:>12.2f}"
            print(f"{count:>12}{dimensions:>12}{times}")
            figures.keep(f"search to one product, {count} people", ratio)


if __name__ == "__main__":
    main()
