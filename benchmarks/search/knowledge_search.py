"""Search of facts: quality by channel, and time among many facts.

    python -m benchmarks.search.knowledge_search quality [--json]
    python -m benchmarks.search.knowledge_search speed [--facts 20000] [--dimensions 384] [--rounds 200]

`quality` asks the labelled set of tests/data/fact_search.json (three languages, people by declined, short and
transliterated names, questions in another language than the fact) with the offline embedder. It prints recall@1, @3
and @5 of vectors alone, words alone, both, and both with names; and how many facts are found for a question that means
none of them.

`speed` makes an owner with this many facts about a tenth as many entities, with random vectors. Questions are already
embedded. A search does all of its work each time: it asks the change log, analyses the question, scores vectors, words
and names, and reads the best facts with their sources. It is compared with one bare numpy product and one bare BM25
query over the same data, taken in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert

from internal.graph import store
from internal.knowledge import service
from internal.knowledge.claims.changes import NewClaim
from internal.language.search.terms import ANALYZER, document_terms, query_terms
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Embedder
from internal.llm.offline.embedder import OfflineEmbedder
from internal.recall.index.bm25 import LexicalIndex
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.hits import FactHit
from internal.recall.index.scoring import normalised
from internal.recall.index.terms import TermsBackfill, WorkerTerms
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import WorkerNames
from internal.recall.search.query import Query
from internal.storage import vectors as stored_vectors
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.search_items import text_hash
from internal.storage.tables import claims, facts, graph_edges, graph_nodes, search_items, users, vectors
from internal.testing import FrozenClock
from internal.testing.vectors import TrigramEmbedder

SET = Path(__file__).parents[2] / "tests/data" / "fact_search.json"
OWNER = 1
NOW = datetime(2026, 2, 7, 12, tzinfo=UTC)
CHANNELS = {"vectors": (True, False, False), "words": (False, True, False), "vectors and words": (True, True, False)}
CHANNELS["vectors, words and names"] = (True, True, True)
CHUNK = 2_000
IN_PROMPT = 14
"""As many facts as a question brings into a prompt."""


@asynccontextmanager
async def scratch() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        async with Database.open(Path(folder) / "benchmark.db") as database:
            await database.exclusive(migrate)
            row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Оля", "lang": "ru", "tz": "UTC"}
            await database.write(lambda c: c.execute(insert(users).values(**row, settings={}, created_at=NOW)).rowcount)
            yield database


async def quality() -> dict[str, dict[str, float]]:
    """Rates by channel; see the module."""
    labelled = json.loads(SET.read_text(encoding="utf-8"))
    worker, clock = LanguageWorker(), FrozenClock(NOW)
    embedder, terms, names = OfflineEmbedder(worker), WorkerTerms(worker), WorkerNames(worker)
    try:
        async with scratch() as database:
            ids = await database.write(lambda connection: _tell(connection, labelled))
            await TermsBackfill(database, terms).analyse_due()
            await _embed(database, embedder, clock)
            asked = await _asked(embedder, terms, labelled)
            found = {}
            for name, (by_meaning, by_words, by_name) in CHANNELS.items():
                search = KnowledgeSearch(
                    database, clock, embedder=embedder, terms=terms, names=names if by_name else None
                )
                ready = {
                    text: Query(
                        text if by_name else "", one.vector if by_meaning else None, one.words if by_words else ()
                    )
                    for text, one in asked.items()
                }
                found[name] = await _rates(search, ready, labelled, ids)
            return found
    finally:
        await worker.close()


def _tell(connection: Connection, labelled: Any) -> list[str]:
    """Stores the facts of the set; their ids in its order."""
    owner = store.ensure_owner_node(connection, OWNER, "Оля", NOW).id
    made = {"owner": owner}
    for key, name, aliases in labelled["entities"]:
        if key != "owner":
            given = {"name": name, "type": "concept", "aliases": aliases}
            made[key] = store.add_node(connection, OWNER, "Entity", given, now=NOW).id
    found = []
    for number, (source, target, relation, text) in enumerate(labelled["facts"]):
        given = {"name": f"thing {number}", "type": "concept"}
        end = made[target] if target else store.add_node(connection, OWNER, "Entity", given, now=NOW, findable=False).id
        claim = NewClaim(made[source], f"{relation}_{number}", end, text, said_at=NOW, set_by="owner")
        found += service.record_claims(connection, OWNER, [claim], now=NOW).facts
    return [fact_id for fact_id in found if fact_id is not None]


async def _embed(database: Database, embedder: Embedder, clock: FrozenClock) -> None:
    wait = NOW - NOW
    await VectorBackfill(database, embedder, clock, retry_base=wait, retry_max=wait).embed_due()


async def _asked(embedder: Embedder, terms: WorkerTerms, labelled: Any) -> dict[str, Query]:
    """Every question of the set, analysed and embedded once."""
    texts = [*(question for question, _ in labelled["queries"]), *labelled["irrelevant"]]
    vectors_of = await embedder.embed_queries(texts)
    return {
        text: Query(text, normalised(vector, embedder.dimensions), await terms.query_terms(text))
        for text, vector in zip(texts, vectors_of, strict=True)
    }


async def _rates(search: KnowledgeSearch, asked: dict[str, Query], labelled: Any, ids: list[str]) -> dict[str, float]:
    places, kept = [], []
    for question, [wanted] in labelled["queries"]:
        hits = await search.facts(OWNER, asked[question], IN_PROMPT)
        ranked = [hit.fact.id for hit in hits]
        places.append(ranked.index(ids[wanted]) if ids[wanted] in ranked else IN_PROMPT)
        kept.append(ids[wanted] in [hit.fact.id for hit in _relevant(hits, search)])
    for_nothing = [
        len(_relevant(await search.facts(OWNER, asked[text], IN_PROMPT), search)) for text in labelled["irrelevant"]
    ]
    return {
        **{f"recall_at_{count}": statistics.fmean(place < count for place in places) for count in (1, 3, 5)},
        "in_prompt": statistics.fmean(kept),
        "given_for_nothing": statistics.fmean(for_nothing),
    }


def _relevant(hits: list[FactHit], search: KnowledgeSearch) -> list[FactHit]:
    return [hit for hit in hits if hit.reasons.relevant(search.threshold)]


async def speed(count: int, dimensions: int, rounds: int) -> dict[str, float]:
    """Milliseconds; see the module."""
    worker, clock, chance = LanguageWorker(), FrozenClock(NOW), random.Random(7)
    embedder = TrigramEmbedder(dimensions, "benchmark")
    try:
        async with scratch() as database:
            texts = list(_sentences(chance, count))
            matrix = np.random.default_rng(7).standard_normal((count, dimensions)).astype(np.float32)
            matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
            for start in range(0, count, CHUNK):
                await database.write(partial(_store, texts=texts, matrix=matrix, start=start, chance=chance))
            words = LexicalIndex.of(document_terms(texts))
            search = KnowledgeSearch(
                database, clock, embedder=embedder, terms=WorkerTerms(worker), names=WorkerNames(worker)
            )
            questions = [chance.choice(texts).replace("работает", "где работает") for _ in range(rounds)]
            queries = normalised_rows(rounds, dimensions)
            began = time.perf_counter()
            await search.facts(OWNER, await search.query_with_embedding(questions[0], queries[0]), 14)
            cold = (time.perf_counter() - began) * 1000
            warm, bare = [], []
            for question, query in zip(questions, queries, strict=True):
                looked_for = query_terms(question)
                began = time.perf_counter()
                _ = matrix @ query
                words.scores(looked_for)
                bare.append((time.perf_counter() - began) * 1000)
                began = time.perf_counter()
                await search.facts(OWNER, await search.query_with_embedding(question, query), 14)
                warm.append((time.perf_counter() - began) * 1000)
            return _timed(cold, warm, bare, search.cached_bytes)
    finally:
        await worker.close()


def normalised_rows(count: int, dimensions: int) -> list[Any]:
    rows = np.random.default_rng(8).standard_normal((count, dimensions)).astype(np.float32)
    return [normalised(row, dimensions) for row in rows]


def _timed(cold: float, warm: list[float], bare: list[float], cached: int) -> dict[str, float]:
    cuts = statistics.quantiles(warm, n=100)
    return {
        "first_ms": cold,
        "p50_ms": cuts[49],
        "p99_ms": cuts[98],
        "bare_p50_ms": statistics.median(bare),
        "ratio_p50": cuts[49] / statistics.median(bare),
        "memory_mib": cached / 2**20,
    }


_WORDS = """
Петров Катя Богдан Олена Иван Тарас Роман Юлия Степан Галина Кравец Мельник Ткачук Ковальчук
работает живёт учится любит купил продал ездит ремонтирует вчить грає читає reads paints cooks builds
дом кот рояль велосипед книга сад мост лодка програма картина гітара garden bicycle bridge piano
"""
_PEOPLE, _DOES, _THINGS = (line.split() for line in _WORDS.strip().splitlines())


def _sentences(chance: random.Random, count: int) -> Iterator[str]:
    for number in range(count):
        who = f"{chance.choice(_PEOPLE)} {chance.choice(_PEOPLE)}ко{number % max(1, count // 20)}"
        yield f"{who} {chance.choice(_DOES)} {chance.choice(_THINGS)} {chance.choice(_THINGS)} {chance.randrange(1000)}"


def _store(connection: Connection, *, texts: list[str], matrix: Any, start: int, chance: random.Random) -> None:
    """Rows as the services write them; 20,000 by way of the services would take minutes."""
    chosen = range(start, min(start + CHUNK, len(texts)))
    terms = document_terms([texts[number] for number in chosen])
    nodes = [f"n{number}" for number in chosen if number % 10 == 0]
    every = {"user_id": OWNER, "created_at": NOW, "schema_v": 1, "rev": 1}
    names = {node: texts[int(node[1:])].split()[1] for node in nodes}
    entity = {"label": "Entity", "subtype": "person", "field_meta": {}}
    connection.execute(
        insert(graph_nodes),
        [
            every
            | entity
            | {
                "id": node,
                "name": names[node],
                "name_key": names[node].casefold(),
                "props": {"name": names[node], "type": "person"},
            }
            for node in nodes
        ],
    )
    ends = [(chance.choice(nodes), chance.choice(nodes)) for _ in chosen]
    edges = [
        every
        | {"id": f"e{number}", "type": "FACT", "source": source, "target": target, "source_origin": source}
        | {"target_origin": target, "props": {"name": "DOES", "fact": texts[number]}}
        for number, (source, target) in zip(chosen, ends, strict=True)
    ]
    connection.execute(insert(graph_edges), edges)
    connection.execute(
        insert(facts),
        [
            {"user_id": OWNER, "edge_id": f"e{number}", "name": "DOES", "fact": texts[number], "claim_id": f"c{number}"}
            | {"attributes": {}, "set_by": "archivist"}
            for number in chosen
        ],
    )
    connection.execute(
        insert(claims),
        [
            {"user_id": OWNER, "id": f"c{number}", "edge_id": f"e{number}", "source": source, "name": "DOES"}
            | {"target": target, "source_origin": source, "target_origin": target, "statement": texts[number]}
            | {"fact": texts[number], "attributes": {}, "valid_stated": False, "said_at": NOW, "created_at": NOW}
            | {"episode_id": f"p{number % 500}", "set_by": "archivist"}
            for number, (source, target) in zip(chosen, ends, strict=True)
        ],
    )
    items = [("fact", f"e{number}", texts[number], found) for number, found in zip(chosen, terms, strict=True)]
    items += [
        ("entity", node, names[node], found)
        for node, found in zip(nodes, document_terms([names[node] for node in nodes]), strict=True)
    ]
    connection.execute(
        insert(search_items),
        [
            {"user_id": OWNER, "item": f"{kind}:{ref}", "kind": kind, "ref_id": ref, "text": text, "rev": 1}
            | {"text_hash": text_hash(text), "terms": found, "terms_hash": text_hash(text), "analyzer": ANALYZER}
            for kind, ref, text, found in items
        ],
    )
    connection.execute(
        insert(vectors),
        [
            {"user_id": OWNER, "item": f"fact:e{number}", "model": "benchmark", "dim": matrix.shape[1]}
            | {"text_hash": text_hash(texts[number]), "vec": stored_vectors.to_blob(matrix[number])}
            for number in chosen
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["quality", "speed"])
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.what == "speed":
        found: Any = asyncio.run(speed(given.facts, given.dimensions, given.rounds))
    else:
        found = asyncio.run(quality())
    if given.json:
        print(json.dumps(found))
        return
    for name, figures in ({"search": found} if given.what == "speed" else found).items():
        print(f"{name:28}", "  ".join(f"{key} {value:.3f}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
