"""Growth of a store with its owners: size, a durable write, recall, memory; SQLite and PostgreSQL.

    python -m benchmarks.storage.store_growth postgresql://postgres@127.0.0.1:5432/postgres [--owners 100 1000 10000]
        [--plot docs/plots/growth.svg]

Each owner has 20 messages with vectors, 3 facts, 1 person and 1 memory (see `synthetic_owners`), and 20 events. The
lives of the first hundred owners are made one by one; the store copies them for the others under new ids. A write
appends and commits one event. An embedded question is asked of random owners: cold, with nothing of them in memory, and
once more, warm. The PostgreSQL address is a superuser's: the benchmark makes a database, drops it at the end, and reads
it in a role without such rights.
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
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, cast, func, insert, select

from benchmarks.messages.worker_throughput import database_on
from benchmarks.search.context_assembly import SMALL_BUDGET, Stage, _resident
from benchmarks.shared.bot_process import circumstances
from benchmarks.shared.plots import Panel, svg
from benchmarks.shared.synthetic_owners import NOW, Language, Life, Size
from internal.events import repository as events
from internal.language.worker.process_pool import LanguageWorker
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone
from internal.storage.migration import migrate
from internal.storage.tables import (
    claims,
    episodes,
    events as events_table,
    evidence,
    facts,
    graph_edges,
    graph_nodes,
    messages,
    name_keys,
    people,
    search_items,
    users,
    vectors,
)
from internal.storage.types import OrderedText

EACH = Size(messages=20, facts=3, people=1, memories=1)
ASKED, WRITTEN = 40, 200
DIMENSIONS = 384

NOBODY = 1_000_000
"""The first owner comes behind this number: all have as many digits, which stand in no text but in their ids."""

MADE_UP = 100
COPIED = (
    *(users, messages, episodes, people, name_keys, graph_nodes, graph_edges, claims, facts, evidence),
    *(search_items, vectors, events_table),
)


async def filled(database: Database, owners: int, before: int, language: Language) -> None:
    """Brings a store that has `before` owners to so many."""
    for owner in range(NOBODY + before + 1, NOBODY + min(owners, MADE_UP) + 1):
        await Life(owner, EACH, language).store(database)
        await database.write(lambda c: _add_messages(c, owner, EACH.messages))  # noqa: B023 - awaited here
    for done in range(max(before, MADE_UP), owners, MADE_UP):
        await database.write(lambda c: _copy(c, done, min(MADE_UP, owners - done)))  # noqa: B023 - awaited here


def _copy(connection: Connection, shift: int, count: int) -> None:
    """Gives the first `count` owners' lives to those that come `shift` behind them."""
    for table in COPIED:
        numbered = table.autoincrement_column if table is not people else None
        taken = [column for column in table.c if column is not numbered]
        theirs = table.c.user_id.between(NOBODY + 1, NOBODY + count)
        rows = select(*(_shifted(column, shift) for column in taken)).where(theirs).order_by(table.c.user_id)
        connection.execute(insert(table).from_select(taken, rows))


def _shifted(column: Column[Any], shift: int) -> ColumnElement[Any]:
    owner = column.table.c.user_id
    old, new = (cast(one, OrderedText) for one in (owner, owner + shift))
    if column is owner:
        return owner + shift
    if column is people.c.id:
        return column + shift * 1_000_000
    if column is events_table.c.id:
        return "0" + new + func.substr(column, 9)
    return func.replace(column, old, new) if isinstance(column.type, OrderedText) else column


def _add_messages(connection: Connection, owner: int, count: int) -> None:
    for number in range(count):
        at = NOW - timedelta(minutes=number)
        events.append(
            connection, "message_received", source=f"user:{owner}", now=at, user_id=owner, payload={"n": number}
        )


async def median_ms(work: Callable[[int], Awaitable[object]], owners: Sequence[int]) -> tuple[float, float]:
    """How long it takes, and how long this process works on it; on a busy machine the second says more."""
    took, worked = [], []
    for owner in owners:
        began, begun = time.perf_counter(), time.process_time()
        with acting_for(owner):
            await work(owner)
        took.append((time.perf_counter() - began) * 1e3)
        worked.append((time.process_time() - begun) * 1e3)
    return statistics.median(took), statistics.median(worked)


async def measured(
    database: Database, owners: int, language: Language, worker: LanguageWorker, size: Callable[[], Awaitable[int]]
) -> dict[str, float]:
    """What a store of so many owners costs."""
    rng = random.Random(owners)
    stage = Stage(database, worker, DIMENSIONS, SMALL_BUDGET)
    before = _resident()
    everybody = range(NOBODY + 1, NOBODY + owners + 1)
    asked = rng.sample(everybody, ASKED)
    questions = dict(zip(asked, language.questions(ASKED, seed=5), strict=True))
    await stage.recall(asked[0], questions[asked[0]])  # what is imported and compiled once is no owner's
    cold, cold_worked = await median_ms(lambda owner: stage.recall(owner, questions[owner]), asked[1:])
    warm, warm_worked = await median_ms(lambda owner: stage.recall(owner, questions[owner]), asked[-5:] * 4)
    writers = rng.choices(everybody, k=WRITTEN)
    write, write_worked = await median_ms(lambda owner: database.write(lambda c: _add_messages(c, owner, 1)), writers)
    return {
        "owners": owners,
        "kib": await size() / 1024 / owners,
        "write_ms": write,
        "write_worked_ms": write_worked,
        "cold_ms": cold,
        "cold_worked_ms": cold_worked,
        "warm_ms": warm,
        "warm_worked_ms": warm_worked,
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


def table(found: dict[str, list[dict[str, float]]]) -> str:
    names = ("store", "owners", "KiB an owner", "write", "question, cold", "warm", "memory grown")
    head = f"| {' | '.join(names)} |\n{'|---' * len(names)}|"
    rows = [
        f"| {name} | {one['owners']:,} | {one['kib']:.0f} | {one['write_ms']:.1f} ({one['write_worked_ms']:.1f}) ms"
        f" | {one['cold_ms']:.0f} ({one['cold_worked_ms']:.0f}) ms"
        f" | {one['warm_ms']:.0f} ({one['warm_worked_ms']:.0f}) ms | {one['grown_mib']:.0f} MiB |"
        for name, sizes in found.items()
        for one in sizes
    ]
    return "\n".join([head, *rows])


def plot(found: dict[str, list[dict[str, float]]]) -> str:
    def lines(key: str) -> dict[str, list[tuple[float, float]]]:
        return {name: [(one["owners"], one[key]) for one in sizes] for name, sizes in found.items()}

    titles = (
        ("kib", "Size", "KiB an owner"),
        ("write_worked_ms", "Write", "ms of processor"),
        ("cold_worked_ms", "Cold question", "ms of processor"),
    )
    return svg([Panel(title, "owners", unit, lines(key), log_x=True) for key, title, unit in titles])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", help="address of a PostgreSQL as its superuser")
    parser.add_argument("--owners", type=int, nargs="+", default=[100, 1_000, 10_000, 30_000])
    parser.add_argument("--plot", type=Path)
    asked = parser.parse_args()
    print(circumstances(), f"load {os.getloadavg()[0]:.1f}")
    found = asyncio.run(measure(asked.server, asked.owners))
    print(table(found))
    if asked.plot:
        asked.plot.write_text(plot(found), encoding="utf-8")


if __name__ == "__main__":
    main()
