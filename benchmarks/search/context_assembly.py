"""Recall into the prompt among 100,000 messages: time and tokens.

    python -m benchmarks.search.context_assembly [--folder FOLDER] [--dimensions 384] [--sizes 1000 10000 30000 100000]
        [--rounds 200] [--small 1000] [--plot docs/plots/context_assembly.svg] [--json]

One owner for each of the sizes, with a fifth as many facts, a fiftieth as many memories and a hundredth as many people:
see `synthetic_owners`. Questions are already embedded; enricher and reranker are switched off. All else is the
product's own: `TurnRecall` with its language process, people, facts, memories, fragments, messages and lessons. It is
compared with one bare float32 product over the same vectors and one bare query of FTS5 over the same texts, taken in
turn. The query asks for the ten best of those with one of the question's rarer words: with words of every second text
it would rank all of them, and make the assembly look cheap. The garbage collector is set as `laplaced run` sets it.

"cpu" is the time of this process's processor, without the language process: another load does not lengthen it much.
--folder keeps the filled database for the next run. With 3,072 dimensions messages stay without vectors.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bot  # noqa: F401  # first: it says how many threads a product of numpy may take

# isort: split
import numpy as np

from benchmarks.shared.plots import Panel, svg
from benchmarks.shared.synthetic_owners import MODEL, NOW, Language, Life, Question, Size, stored_matrix, stored_texts
from bot.cli.main import GC_THRESHOLDS
from internal.agents.model import OwnerProfile
from internal.dialogue import repository as dialogue
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Vectors
from internal.recall.index import items
from internal.recall.index.terms import WorkerTerms
from internal.recall.messages import index_cache
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.context import RecallLimits, RecallResult, TurnRecall
from internal.recall.prompt.facts import FactRecall
from internal.recall.prompt.lessons import LessonRecall
from internal.recall.prompt.memories import MemoryRecall
from internal.recall.prompt.passages import PassageRecall
from internal.recall.search import people
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import WorkerNames
from internal.recall.search.people import PeopleSearch
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.testing import FrozenClock

MOST_FOR_MESSAGES = 1_024
"""Dimensions above which messages stay without vectors: 100,000 of 3,072 are more than a gigabyte on the disk."""

WARM_UP = 10
AFTER_WRITES = 30
SMALL = Size(messages=60, facts=10, people=5, memories=4)
COMMON = 0.01
"""Share of the texts from which a word is too common for the bare query to look for, unless there are no others."""

SMALL_BUDGET = 16 << 20
"""Bytes of each cache while many owners ask, so that they do not all fit; the product allows 512 and 256 MiB."""


@dataclass(slots=True)
class Prepared:
    """An embedder whose vectors are there before they are asked for."""

    dimensions: int
    name: str = MODEL
    people_threshold: float = 0.3
    ready: dict[str, Any] = field(default_factory=dict)

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        found: Vectors = np.stack([self.ready[text] for text in texts])
        return found

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        raise NotImplementedError


class Stage:
    """The parts of the product that assemble a context, wired as the bot wires them."""

    def __init__(self, database: Database, worker: LanguageWorker, dimensions: int, budget: int | None = None) -> None:
        clock, self.embedder = FrozenClock(NOW), Prepared(dimensions)
        terms, names = WorkerTerms(worker), WorkerNames(worker)
        self.people = PeopleSearch(database, self.embedder, names=names, cache_bytes=budget or people.CACHE_BYTES)
        self.knowledge = KnowledgeSearch(
            database, clock, embedder=self.embedder, terms=terms, names=names, cache_bytes=budget or items.CACHE_BYTES
        )
        self.messages = MessageSearch(
            database,
            clock,
            embedder=self.embedder,
            terms=terms,
            names=names,
            cache_bytes=budget or index_cache.CACHE_BYTES,
        )
        self.turns = TurnRecall(
            database,
            self.people,
            self.embedder,
            enricher=None,
            reranker=None,
            names=names,
            facts=FactRecall(database, self.knowledge),
            memories=MemoryRecall(database, self.knowledge),
            passages=PassageRecall(self.messages, self.knowledge),
            lessons=LessonRecall(database, clock, terms),
            limits=RecallLimits(),
        )

    @property
    def cached_bytes(self) -> int:
        return self.people.cached_bytes + self.knowledge.cached_bytes + self.messages.cached_bytes

    async def recall(self, owner: int, question: Question) -> RecallResult:
        self.embedder.ready = {question.text: question.vector}
        return await self.turns.recall(OwnerProfile(owner, "", None, "ru", "UTC"), question.text)


@dataclass(frozen=True, slots=True)
class Bare:
    """One product and one full-text query over what one owner has."""

    matrix: Vectors
    texts: sqlite3.Connection
    common: frozenset[str]

    @classmethod
    async def of(cls, database: Database, owner: int, dimensions: int) -> Bare:
        matrix = await database.read(lambda connection: stored_matrix(connection, owner, dimensions))
        texts = sqlite3.connect(":memory:")
        texts.execute("CREATE VIRTUAL TABLE said USING fts5(text)")
        stored = await database.read(lambda connection: list(stored_texts(connection, owner)))
        texts.executemany("INSERT INTO said VALUES (?)", stored)
        texts.execute("INSERT INTO said(said) VALUES ('optimize')")
        texts.execute("CREATE VIRTUAL TABLE words USING fts5vocab(said, 'row')")
        common = texts.execute("SELECT term FROM words WHERE doc > ?", (COMMON * len(stored),))
        return cls(matrix, texts, frozenset(row[0] for row in common))

    def ask(self, question: Question) -> None:
        np.matmul(self.matrix, question.vector)
        self.query(question)

    def product(self, question: Question) -> None:
        np.matmul(self.matrix, question.vector)

    def query(self, question: Question) -> None:
        words = question.text.rstrip("?").split()
        sought = [word for word in words if word.casefold() not in self.common] or words
        asked = " OR ".join(f'"{word}"' for word in sought)
        self.texts.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT 10", (asked,)).fetchall()


@dataclass(slots=True)
class Times:
    """Milliseconds on the wall, and of the processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def begin(self) -> Callable[[], None]:
        wall, cpu = time.perf_counter(), time.process_time()

        def end() -> None:
            self.wall.append((time.perf_counter() - wall) * 1e3)
            self.cpu.append((time.process_time() - cpu) * 1e3)

        return end

    def quantiles(self, name: str) -> dict[str, float]:
        cuts = statistics.quantiles(self.wall, n=100, method="inclusive")
        cpu = statistics.median(self.cpu)
        return {f"{name}_p50_ms": cuts[49], f"{name}_p99_ms": cuts[98], f"{name}_cpu_p50_ms": cpu}


async def of_size(stage: Stage, database: Database, owner: int, size: Size, language: Language, rounds: int) -> Any:
    """One owner asked many different questions; see the module."""
    bare = await Bare.of(database, owner, language.dimensions)
    questions = language.questions(rounds + WARM_UP, owner, size.people)
    cold, warm, alone, products, queries = (Times() for _ in range(5))
    end = cold.begin()
    await stage.recall(owner, questions[0])
    end()
    for question in questions[:WARM_UP]:
        await stage.recall(owner, question)
        bare.ask(question)
    hits: list[int] = []
    for question in questions[WARM_UP:]:
        for times, work in ((alone, bare.ask), (products, bare.product), (queries, bare.query)):
            end = times.begin()
            work(question)
            end()
        end = warm.begin()
        recalled = await stage.recall(owner, question)
        end()
        hits.append(sum(recalled.counts.values()))
    found = {"messages": size.messages, "first_ms": cold.wall[0], "first_cpu_ms": cold.cpu[0]}
    found |= warm.quantiles("assembly") | alone.quantiles("bare")
    found |= {"product_p50_ms": statistics.median(products.wall), "query_p50_ms": statistics.median(queries.wall)}
    found |= {"product_cpu_p50_ms": statistics.median(products.cpu), "query_cpu_p50_ms": statistics.median(queries.cpu)}
    ratios = [one / other for one, other in zip(warm.wall, alone.wall, strict=True)]
    found |= {"ratio": found["assembly_p50_ms"] / found["bare_p50_ms"], "ratio_in_turn": statistics.median(ratios)}
    found |= {"ratio_cpu": found["assembly_cpu_p50_ms"] / found["bare_cpu_p50_ms"]}
    return found | {"recalled": statistics.fmean(hits), "cached_mib": stage.cached_bytes / 2**20}


async def after_writes(stage: Stage, database: Database, owner: int, language: Language) -> dict[str, float]:
    """Every question follows a message that was written just now, and must find it."""
    times, seen = Times(), 0
    for number, question in enumerate(language.questions(AFTER_WRITES, seed=91)):
        word = f"zyxo{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10]}"
        said = f"{word} {question.text}"
        written = await database.write(
            lambda c, said=said: dialogue.add(c, owner, "user", said, now=NOW, chat_id=owner)
        )
        end = times.begin()
        recalled = await stage.recall(owner, Question(f"{word}?", question.vector))
        end()
        seen += any(written.id == one.ref_id or word in line.text for one in recalled.passages for line in one.lines)
    return times.quantiles("after_write") | {"writes": AFTER_WRITES, "writes_seen": seen}


async def loop_gaps(stage: Stage, owner: int, questions: Sequence[Question]) -> dict[str, float]:
    """How long the event loop does not come around while it searches; and the processor time of its thread between."""
    idle, _ = await _gaps(asyncio.sleep(2.0))

    async def search() -> None:
        for question in questions:
            await stage.recall(owner, question)

    gaps, busy = await _gaps(search())
    cuts = statistics.quantiles(gaps, n=1000)
    return {
        "gap_longest_ms": max(gaps),
        "gap_p999_ms": cuts[998],
        "gap_p99_ms": cuts[989],
        "gap_idle_longest_ms": max(idle),
        "gap_longest_cpu_ms": max(busy),
        "gap_p99_cpu_ms": statistics.quantiles(busy, n=100)[98],
    }


async def _gaps(work: Any) -> tuple[list[float], list[float]]:
    """Milliseconds on the wall, and of the loop's thread, that passed between the turns of a task that only yields."""
    task = asyncio.ensure_future(work)
    gaps, busy = list[float](), list[float]()
    while not task.done():
        wall, cpu = time.perf_counter(), time.thread_time()
        await asyncio.sleep(0.001)
        gaps.append((time.perf_counter() - wall) * 1e3 - 1)
        busy.append((time.thread_time() - cpu) * 1e3)
    await task
    return gaps, busy


async def many_owners(
    database: Database, worker: LanguageWorker, owners: range, language: Language
) -> dict[str, float]:
    """Each asks once, then the first ones again; the caches have room for some of them only."""
    stage, first = Stage(database, worker, language.dimensions, SMALL_BUDGET), Times()
    most, before = 0, _resident()
    for owner, question in zip(owners, language.questions(len(owners), seed=5), strict=True):
        end = first.begin()
        await stage.recall(owner, question)
        end()
        caches = (stage.people.cached_bytes, stage.knowledge.cached_bytes, stage.messages.cached_bytes)
        most = max(most, *caches)
    figures = {"owners": len(owners), "budget_mib": SMALL_BUDGET / 2**20, "most_cached_mib": most / 2**20}
    return first.quantiles("small_first") | figures | {"grown_mib": (_resident() - before) / 2**20}


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def measure(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    worker, language = LanguageWorker(), Language(asked.dimensions)
    embedded = asked.dimensions <= MOST_FOR_MESSAGES
    sizes = [Size.of(count, embedded) for count in sorted(asked.sizes)]
    path = folder / f"lives-{asked.dimensions}-{'-'.join(map(str, sorted(asked.sizes)))}-{asked.small}.db"
    small = range(1_001, 1_001 + asked.small)
    began, ready = time.perf_counter(), path.exists()
    part = path if ready else path.with_suffix(".part")
    try:
        if not ready:
            async with Database.open(part) as database:
                await database.exclusive(migrate)
                for owner, size in enumerate(sizes, start=1):
                    await Life(owner, size, language).store(database)
                for owner in small:
                    await Life(owner, SMALL, language).store(database)
            part.rename(path)
        filled = time.perf_counter() - began
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        async with Database.open(path) as database:
            stage = Stage(database, worker, asked.dimensions)
            grown = [
                await of_size(stage, database, owner, size, language, asked.rounds)
                for owner, size in enumerate(sizes, start=1)
            ]
            largest = len(sizes)
            found = {"dimensions": asked.dimensions, "load": os.getloadavg()[0], "filled_s": 0.0 if ready else filled}
            found |= await loop_gaps(stage, largest, language.questions(asked.rounds, seed=77, people=sizes[-1].people))
            found |= await after_writes(stage, database, largest, language)
            if small:
                found |= await many_owners(database, worker, small, language)
            return found | {"sizes": grown}
    finally:
        await worker.close()


def plot(sizes: Sequence[dict[str, float]]) -> str:
    """Milliseconds, and the ratio to the bare search, over the number of messages."""

    def line(name: str) -> list[tuple[float, float]]:
        return [(one["messages"], one[name]) for one in sizes]

    times = {"assembly, 99 %": line("assembly_p99_ms"), "assembly, median": line("assembly_p50_ms")}
    times |= {"its processor": line("assembly_cpu_p50_ms"), "bare search": line("bare_p50_ms")}
    return svg(
        [
            Panel("Context assembly", "messages", "ms", times, log_x=True),
            Panel("Context assembly", "messages", "times the bare search", {"ratio": line("ratio")}, log_x=True),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 30_000, 100_000])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = asyncio.run(measure(folder, asked))
    if asked.plot is not None:
        asked.plot.parent.mkdir(parents=True, exist_ok=True)
        asked.plot.write_text(plot(found["sizes"]), encoding="utf-8")
    if asked.json:
        print(json.dumps(found))
        return
    for size in found.pop("sizes"):
        print("  ".join(f"{name} {value:.2f}" for name, value in size.items()))
    for name, value in found.items():
        print(f"{name:24} {value:12.2f}")


if __name__ == "__main__":
    main()
