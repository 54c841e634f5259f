"""How a store grows with its owners: size, a durable write, a question's recall, memory; SQLite and PostgreSQL.

    python benchmarks/growth.py postgresql://postgres@127.0.0.1:5432/postgres [--owners 100 1000 10000]
        [--plot docs/plots/growth.svg]

Each owner has 20 messages with vectors, 3 facts, 1 person and 1 memory (see `made_up_lives`), and 20 events. A write is
an event that is appended and committed. A question is already embedded and is asked of owners at random: cold, with
nothing of them in memory, and once more, warm. The PostgreSQL address is a superuser's: the database is made and
dropped here, and is reached as a role that is none.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from bot_process import circumstances
from context_assembly import SMALL_BUDGET, Stage, _resident
from made_up_lives import NOW, Language, Life, Size
from plots import Panel, svg
from sqlalchemy import Connection, func, select
from workers import database_on

from internal.events import repository as events
from internal.language.worker import LanguageWorker
from internal.storage.engine import Database
from internal.storage.migration import migrate
from internal.storage.scope import acting_for, acting_for_everyone

EACH = Size(messages=20, facts=3, people=1, memories=1)
ASKED, WRITTEN = 40, 200
DIMENSIONS = 384


async def filled(database: Database, owners: int, before: int, language: Language) -> None:
    """Brings a store that has `before` owners to so many."""
    for owner in range(before + 1, owners + 1):
        await Life(owner, EACH, language).store(database)
        await database.write(lambda c: _told(c, owner, EACH.messages))  # noqa: B023 - awaited here


def _told(connection: Connection, owner: int, count: int) -> None:
    for number in range(count):
        at = NOW - timedelta(minutes=number)
        events.append(
            connection, "message_received", source=f"user:{owner}", now=at, user_id=owner, payload={"n": number}
        )


async def median_ms(work: Callable[[int], Awaitable[object]], owners: Sequence[int]) -> float:
    took = []
    for owner in owners:
        began = time.perf_counter()
        with acting_for(owner):
            await work(owner)
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took)


async def measured(
    database: Database, owners: int, language: Language, worker: LanguageWorker, size: Callable[[], Awaitable[int]]
) -> dict[str, float]:
    """What a store of so many owners costs."""
    rng = random.Random(owners)
    stage = Stage(database, worker, DIMENSIONS, SMALL_BUDGET)
    before = _resident()
    asked = rng.sample(range(1, owners + 1), ASKED)
    questions = dict(zip(asked, language.questions(ASKED, seed=5), strict=True))
    await stage.recall(asked[0], questions[asked[0]])  # what is imported and compiled once is no owner's
    cold = await median_ms(lambda owner: stage.recall(owner, questions[owner]), asked[1:])
    warm = await median_ms(lambda owner: stage.recall(owner, questions[owner]), asked[-5:] * 4)
    writers = rng.choices(range(1, owners + 1), k=WRITTEN)
    write = await median_ms(lambda owner: database.write(lambda c: _told(c, owner, 1)), writers)
    return {
        "owners": owners,
        "kib": await size() / 1024 / owners,
        "write_ms": write,
        "cold_ms": cold,
        "warm_ms": warm,
        "grown_mib": (_resident() - before) / 2**20,
    }


async def measure(server: str, counts: Sequence[int]) -> dict[str, list[dict[str, float]]]:
    language, worker = Language(DIMENSIONS), LanguageWorker()
    found: dict[str, list[dict[str, float]]] = {}
    try:
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            stack.enter_context(acting_for_everyone())
            stores = {"SQLite": folder / "laplaced.db", "PostgreSQL": stack.enter_context(database_on(server))}
            for name, store in stores.items():
                async with Database.open(store) as database:
                    await database.exclusive(migrate)
                    before = 0
                    for owners in sorted(counts):
                        began = time.perf_counter()
                        await filled(database, owners, before, language)
                        print(f"{name}: {owners} owners after {time.perf_counter() - began:.0f} s", flush=True)
                        before = owners

                        async def size(store: Path | str = store, database: Database = database) -> int:
                            if isinstance(store, Path):
                                return sum(path.stat().st_size for path in store.parent.glob("laplaced.db*"))
                            whole = select(func.pg_database_size(func.current_database()))
                            return int(await database.read(lambda c: c.execute(whole).scalar_one()))

                        found.setdefault(name, []).append(await measured(database, owners, language, worker, size))
    finally:
        await worker.close()
    return found


def told(found: dict[str, list[dict[str, float]]]) -> str:
    names = ("store", "owners", "KiB an owner", "write", "question, cold", "warm", "memory grown")
    head = f"| {' | '.join(names)} |\n{'|---' * len(names)}|"
    rows = [
        f"| {name} | {one['owners']:,} | {one['kib']:.0f} | {one['write_ms']:.1f} ms | {one['cold_ms']:.0f} ms |"
        f" {one['warm_ms']:.0f} ms | {one['grown_mib']:.0f} MiB |"
        for name, sizes in found.items()
        for one in sizes
    ]
    return "\n".join([head, *rows])


def plot(found: dict[str, list[dict[str, float]]]) -> str:
    def lines(key: str) -> dict[str, list[tuple[float, float]]]:
        return {name: [(one["owners"], one[key]) for one in sizes] for name, sizes in found.items()}

    titles = (("kib", "Size", "KiB an owner"), ("write_ms", "Write", "ms"), ("cold_ms", "Cold question", "ms"))
    return svg([Panel(title, "owners", unit, lines(key), log_x=True) for key, title, unit in titles])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", help="address of a PostgreSQL as its superuser")
    parser.add_argument("--owners", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--plot", type=Path)
    asked = parser.parse_args()
    print(circumstances(), f"load {os.getloadavg()[0]:.1f}")
    found = asyncio.run(measure(asked.server, asked.owners))
    print(told(found))
    if asked.plot:
        asked.plot.write_text(plot(found), encoding="utf-8")


if __name__ == "__main__":
    main()
