"""Nearest vectors of one owner: pgvector, exact and with HNSW, compared with the matrix in memory.

    python -m benchmarks.search.pgvector_search postgresql://postgres@127.0.0.1:5432/postgres [--sizes 1000 10000 50000]

For each size one owner has that many vectors of 384 dimensions, and nine others have as many together. The query wants
the owner's 50 nearest. "exact" filters by owner and sorts by distance; "HNSW" has an index over all owners and goes on
until it has enough of this one's (`hnsw.iterative_scan`); recall is the share of the exact answer that it finds.
"memory" is a float32 product over the owner's matrix and a selection, as the product does it; "read" is the time to
read that matrix from the server once. Figures are medians in milliseconds of one run. The address is a superuser's,
who installs the extension; the benchmark makes the database and drops it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bot  # noqa: F401  # first: it says how many threads a product of numpy may take

# isort: split
import numpy as np
import psycopg

from benchmarks.messages.worker_throughput import ROLE, database_on
from benchmarks.shared.bot_process import circumstances

DIMENSIONS, NEAREST, TOPICS = 384, 50, 60
OTHERS = range(2, 11)
OWNER = 1
ASKED = 20

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Made-up texts: around some topics, as those of people are."""

    chance: np.random.Generator
    topics: Floats

    @classmethod
    def seeded(cls) -> Vectors:
        chance = np.random.default_rng(1)
        return cls(chance, chance.normal(size=(TOPICS, DIMENSIONS)).astype(np.float32))

    def some(self, count: int) -> Floats:
        near = self.topics[self.chance.integers(TOPICS, size=count)]
        found = near + self.chance.normal(size=(count, DIMENSIONS)).astype(np.float32)
        unit: Floats = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
        return unit


def literal(vector: Floats) -> str:
    return f"[{','.join(f'{number:.6f}' for number in vector)}]"


def fill(connection: psycopg.Connection, owner: int, vectors: Floats) -> None:
    with connection.cursor().copy("COPY items (user_id, vec) FROM STDIN") as rows:
        for vector in vectors:
            rows.write_row((owner, literal(vector)))


def nearest(connection: psycopg.Connection, question: Floats) -> list[int]:
    query = "SELECT id FROM items WHERE user_id = %s ORDER BY vec <=> %s::vector LIMIT %s"
    return [row[0] for row in connection.execute(query, (OWNER, literal(question), NEAREST))]


def middle(work: Callable[[Floats], object], questions: Sequence[Floats]) -> float:
    took = []
    for question in questions:
        began = time.perf_counter()
        work(question)
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took)


def measured(connection: psycopg.Connection, size: int, vectors: Vectors) -> str:
    connection.execute("DROP TABLE IF EXISTS items")
    connection.execute(f"CREATE TABLE items (id bigserial, user_id bigint, vec vector({DIMENSIONS}))".encode())
    fill(connection, OWNER, vectors.some(size))
    for owner in OTHERS:
        fill(connection, owner, vectors.some(size // len(OTHERS)))
    connection.execute("CREATE INDEX items_owner ON items (user_id, id)")
    connection.execute("ANALYZE items")
    questions = list(vectors.some(ASKED))
    exact = middle(lambda question: nearest(connection, question), questions)
    right = [set(nearest(connection, question)) for question in questions]

    began = time.perf_counter()
    rows = connection.execute("SELECT id, vec::text FROM items WHERE user_id = %s ORDER BY id", (OWNER,)).fetchall()
    matrix = np.array([np.fromstring(row[1][1:-1], dtype=np.float32, sep=",") for row in rows])
    read = (time.perf_counter() - began) * 1e3

    def in_memory(question: Floats) -> object:
        scores = matrix @ question
        return np.argpartition(-scores, NEAREST)[:NEAREST]

    memory = middle(in_memory, questions)
    connection.execute("SET maintenance_work_mem = '1GB'")
    began = time.perf_counter()
    connection.execute("CREATE INDEX items_hnsw ON items USING hnsw (vec vector_cosine_ops)")
    built = time.perf_counter() - began
    connection.execute("SET hnsw.iterative_scan = strict_order")
    connection.execute("SET enable_sort = off")  # else the planner takes the exact way for an owner with few rows
    approximate = middle(lambda question: nearest(connection, question), questions)
    found = [len(right[n] & set(nearest(connection, question))) / NEAREST for n, question in enumerate(questions)]
    return (
        f"| {size:,} | {exact:.1f} | {approximate:.1f} | {statistics.mean(found):.2f} | {built:.0f} s |"
        f" {memory:.2f} | {read:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", help="address of a PostgreSQL with pgvector, as its superuser")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    asked = parser.parse_args()
    print(circumstances())
    print("| vectors | exact | HNSW | its recall | built | memory | read |\n|---|---|---|---|---|---|---|", flush=True)
    vectors = Vectors.seeded()
    with database_on(asked.server):
        address = asked.server.rsplit("/", maxsplit=1)[0] + f"/{ROLE}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            for size in asked.sizes:
                print(measured(connection, size, vectors), flush=True)


if __name__ == "__main__":
    main()
