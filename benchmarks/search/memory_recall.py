"""Recall of memories among many: its time, and the share of associations.

    python -m benchmarks.search.memory_recall [--nodes 100000] [--links 3] [--dimensions 384] [--rounds 200] [--json]

Makes an owner with this many nodes of the memory graph (seven in ten are memories, the rest goals, concepts and
preferences), some links to each memory, memories that mention each of a hundred people, and random vectors. Questions
are already embedded. Each question is recalled without associations, with them, and as one bare numpy product over the
vectors, taken in turn. A recall does all of its work: it asks the change log, analyses the question, scores vectors,
words, names and kinds, reads what it found, leaves out what lost a contradiction, and follows the links.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert

from benchmarks.search.knowledge_search import CHUNK, NOW, OWNER, normalised_rows, scratch
from internal.language.search.terms import ANALYZER, document_terms
from internal.language.worker.process_pool import LanguageWorker
from internal.recall.index.terms import WorkerTerms
from internal.recall.prompt.memories import MAX_MEMORIES, MemoryRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import WorkerNames
from internal.storage import vectors as stored_vectors
from internal.storage.search_items import text_hash
from internal.storage.tables import graph_edges, graph_nodes, search_items, vectors
from internal.testing import FrozenClock
from internal.testing.vectors import TrigramEmbedder

LABELS = (*["Memory"] * 7, "Goal", "Concept", "Preference")
SAID = {"Memory": "content", "Goal": "description", "Concept": "name", "Preference": "preference"}
PEOPLE = 100
NEIGHBOURS = 3

_WORDS = """
купили продали починили посадили нашли потеряли вирішили знайшли збудували bought sold painted
дачу крышу велосипед книгу сад мост лодку програму картину гітару garden bicycle bridge piano испанский марафон
летом осенью вчера навесні восени взимку in_summer last_year
"""
_DID, _THINGS, _WHEN = (line.split() for line in _WORDS.strip().splitlines())


async def speed(count: int, links: int, dimensions: int, rounds: int) -> dict[str, float]:
    """Milliseconds; see the module."""
    worker, clock, chance = LanguageWorker(), FrozenClock(NOW), random.Random(7)
    embedder = TrigramEmbedder(dimensions, "benchmark")
    try:
        async with scratch() as database:
            texts = list(_sentences(chance, count))
            matrix = np.random.default_rng(7).standard_normal((count, dimensions)).astype(np.float32)
            matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
            await database.write(_people)
            for start in range(0, count, CHUNK):
                await database.write(
                    partial(_store, texts=texts, matrix=matrix, start=start, chance=chance, links=links)
                )
            search = KnowledgeSearch(
                database, clock, embedder=embedder, terms=WorkerTerms(worker), names=WorkerNames(worker)
            )
            alone, beside = MemoryRecall(database, search, 0), MemoryRecall(database, search, NEIGHBOURS)
            questions = [f"Что с: {chance.choice(texts)}?" for _ in range(rounds)]
            queries = normalised_rows(rounds, dimensions)
            cold = await _taken(lambda: alone.for_question(OWNER, questions[0], queries[0]))
            for question, query in zip(questions[:10], queries, strict=False):
                await beside.for_question(OWNER, question, query)
            times: dict[str, list[float]] = {"without": [], "with": [], "bare": []}
            found: list[int] = []
            for question, query in zip(questions, queries, strict=True):
                times["without"].append(await _taken(partial(alone.for_question, OWNER, question, query)))
                times["with"].append(await _taken(partial(beside.for_question, OWNER, question, query)))
                began = time.perf_counter()
                _ = matrix @ query
                times["bare"].append((time.perf_counter() - began) * 1000)
                found.append(sum(one.associated for one in await beside.for_question(OWNER, question, query)))
            return _figures(cold, times, found, search.cached_bytes)
    finally:
        await worker.close()


async def _taken(work: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def _figures(cold: float, times: dict[str, list[float]], found: list[int], cached: int) -> dict[str, float]:
    median = {name: statistics.median(taken) for name, taken in times.items()}
    return {
        "first_ms": cold,
        **{f"{name}_p50_ms": value for name, value in median.items()},
        **{f"{name}_p99_ms": statistics.quantiles(taken, n=100)[98] for name, taken in times.items()},
        "ratio_with_to_without": median["with"] / median["without"],
        "ratio_with_to_bare": median["with"] / median["bare"],
        "associations_each": statistics.fmean(found),
        "memory_mib": cached / 2**20,
        "most_found": float(MAX_MEMORIES),
    }


def _sentences(chance: random.Random, count: int) -> Iterator[str]:
    for number in range(count):
        words = (chance.choice(_DID), chance.choice(_THINGS), chance.choice(_WHEN), chance.choice(_THINGS))
        yield f"{' '.join(words)} {number % 1000}"


_EVERY: dict[str, Any] = {"user_id": OWNER, "schema_v": 1, "rev": 1}


def _people(connection: Connection) -> None:
    rows: list[dict[str, Any]] = [
        _EVERY
        | {"id": f"p{n}", "label": "Entity", "subtype": "person", "name": f"Мельник{n}", "name_key": f"мельник{n}"}
        | {"props": {"name": f"Мельник{n}", "type": "person"}, "field_meta": {}, "created_at": NOW}
        for n in range(PEOPLE)
    ]
    connection.execute(insert(graph_nodes), rows)
    _make_findable(connection, "entity", [(str(row["id"]), str(row["name"])) for row in rows])


def _store(
    connection: Connection, *, texts: list[str], matrix: Any, start: int, chance: random.Random, links: int
) -> None:
    """Rows as the services write them; 100,000 by way of the services would take an hour."""
    chosen = range(start, min(start + CHUNK, len(texts)))
    labels = {number: LABELS[number % len(LABELS)] for number in chosen}
    connection.execute(
        insert(graph_nodes),
        [
            _EVERY
            | {"id": f"n{number}", "label": label, "props": {SAID[label]: texts[number]}, "field_meta": {}}
            | {"status": "active" if label == "Goal" else None, "created_at": NOW - timedelta(minutes=number)}
            for number, label in labels.items()
        ],
    )
    memories = [number for number, label in labels.items() if label == "Memory"]
    edges = [
        _edge(f"r{number}-{n}", "RELATES_TO", f"n{number}", f"n{chance.choice(memories)}", chance.uniform(0.05, 1))
        for number in memories
        for n in range(links)
    ]
    edges += [_edge(f"m{number}", "MENTIONS", f"n{number}", f"p{number % PEOPLE}") for number in memories[::7]]
    connection.execute(insert(graph_edges), edges)
    _make_findable(connection, "node", [(f"n{number}", texts[number]) for number in chosen])
    connection.execute(
        insert(vectors),
        [
            {"user_id": OWNER, "item": f"node:n{number}", "model": "benchmark", "dim": matrix.shape[1]}
            | {"text_hash": text_hash(texts[number]), "vec": stored_vectors.to_blob(matrix[number])}
            for number in chosen
        ],
    )


def _edge(edge_id: str, type: str, source: str, target: str, strength: float | None = None) -> dict[str, Any]:
    ends = {"source": source, "target": target, "source_origin": source, "target_origin": target}
    columns: dict[str, Any] = {
        "id": edge_id,
        "type": type,
        "strength": strength,
        "strength_at": NOW,
        "created_at": NOW,
        "props": {},
    }
    return _EVERY | ends | columns | {"props": {}}


def _make_findable(connection: Connection, kind: str, texts: list[tuple[str, str]]) -> None:
    terms = document_terms([text for _, text in texts])
    rows = [
        {"user_id": OWNER, "item": f"{kind}:{ref}", "kind": kind, "ref_id": ref, "text": text, "rev": 1}
        | {"text_hash": text_hash(text), "terms": found, "terms_hash": text_hash(text), "analyzer": ANALYZER}
        for (ref, text), found in zip(texts, terms, strict=True)
    ]
    connection.execute(insert(search_items), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=3)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = asyncio.run(speed(given.nodes, given.links, given.dimensions, given.rounds))
    if given.json:
        print(json.dumps(found))
        return
    for name, figure in found.items():
        print(f"{name:24} {figure:10.3f}")


if __name__ == "__main__":
    main()
