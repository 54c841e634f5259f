"""Plasticity of one owner: the cost of a night over all links, and of the queries of every turn.

    python -m benchmarks.storage.plasticity [--memories 100000] [--links 300000]

An owner has this many memories and RELATES_TO edges between them, stored as the product stores them, indexes included.
It measures a night after one day (every link decays) and one after a year (most are pruned), each with the longest time
for which its steps block the writer; the four set operations of the specification; the associations of a memory; five
memories used together; and the search for faded memories. For comparison the same run updates every link by one bare
statement and reads single rows by their key.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances
from internal.config.settings import MemoryConfig
from internal.flows.operations.nightly import NightlyMaintenance
from internal.memory.plasticity import maintenance, strength_changes as operations
from internal.memory.plasticity.decay import PRESETS
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import graph_edges, graph_nodes, users
from internal.storage.types import new_id
from internal.testing import FrozenClock

OWNER, SEED, ASKED, BATCH = 1, 7, 1_000, 5_000
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


async def main(memories: int, links: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Database.open(Path(folder) / "plasticity.db") as database:
            await database.exclusive(migrate)
            ids = await database.write(lambda c: _remember(c, memories, links))
            print(circumstances())
            print(f"{memories} memories, {links} links")
            await _ask(database, ids)
            await _statements(database, links)
            await _nights(database)


def _remember(connection: Connection, memories: int, links: int) -> list[str]:
    """Memories over two years, links of every strength; the same seed makes the same graph."""
    chance = random.Random(SEED)
    row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "", "lang": "uk", "tz": "UTC", "settings": {}}
    connection.execute(insert(users).values(**row, created_at=BEGAN))
    ids = [new_id() for _ in range(memories)]
    for start in range(0, memories, BATCH):
        batch = ids[start : start + BATCH]
        connection.execute(insert(graph_nodes), [_memory(one, chance) for one in batch])
    for start in range(0, links, BATCH):
        pairs = [chance.sample(ids, 2) for _ in range(min(BATCH, links - start))]
        connection.execute(insert(graph_edges), [_link(*pair, chance) for pair in pairs])
    return ids


def _memory(node_id: str, chance: random.Random) -> dict[str, Any]:
    props = {"content": f"Something that was said, number {node_id}", "summary": "Something", "confidence": 1.0}
    came = BEGAN - timedelta(days=chance.randrange(730))
    columns = {"user_id": OWNER, "id": node_id, "label": "Memory", "created_at": came, "props": props, "field_meta": {}}
    return {**columns, "access_count": chance.randrange(3), "schema_v": 1, "rev": 1}


def _link(source: str, target: str, chance: random.Random) -> dict[str, Any]:
    ends = {"source": source, "target": target, "source_origin": source, "target_origin": target}
    strength = {"strength": chance.uniform(0.06, 1), "strength_at": BEGAN}
    row = {"user_id": OWNER, "id": new_id(), "type": "RELATES_TO", "created_at": BEGAN, "props": {"relType": "similar"}}
    return row | ends | strength | {"schema_v": 1, "rev": 1}


async def _ask(database: Database, ids: list[str]) -> None:
    chance = random.Random(SEED)
    asked = [chance.choice(ids) for _ in range(ASKED)]
    key = select(graph_nodes.c.props).where(graph_nodes.c.user_id == OWNER)

    def measured(connection: Connection, work: Callable[[str], Any]) -> float:
        times = []
        for one in asked:
            began = time.perf_counter()
            work(one)
            times.append(time.perf_counter() - began)
        return statistics.median(times) * 1e6

    def read(connection: Connection) -> tuple[float, float]:
        bare = measured(connection, lambda one: connection.execute(key.where(graph_nodes.c.id == one)).all())
        found = measured(connection, lambda one: operations.associations(connection, OWNER, one, 0.3, limit=5))
        return bare, found

    bare, found = await database.read(read)
    _tell("a row by its key", bare, "us", bare)
    _tell("associations of a memory", found, "us", bare)
    rates = PRESETS["default"]

    def use(connection: Connection) -> float:
        pick = random.Random(SEED)
        return measured(
            connection, lambda one: operations.touch_used(connection, OWNER, [one, *pick.sample(ids, 4)], BEGAN, rates)
        )

    _tell("five memories used together", await database.write(use), "us", bare)


async def _statements(database: Database, links: int) -> None:
    """The set operations, each over all links, undone by nothing: each sees what the one before left."""
    bare = await _timed(database, lambda c: c.execute(update(graph_edges).values(rev=graph_edges.c.rev + 1)))
    _tell("every link updated by a bare statement", bare, "ms", bare)
    for name, work in (
        ("decay of half of them", lambda c: operations.decay(c, OWNER, 0.53, 1e-6, now=BEGAN)),
        ("prune of a hundredth", lambda c: operations.prune(c, OWNER, 0.0694)),
    ):
        _tell(name, await _timed(database, work), "ms", bare)


async def _timed(database: Database, work: Callable[[Connection], Any]) -> float:
    began = time.perf_counter()
    await database.write(work)
    return (time.perf_counter() - began) * 1e3


async def _nights(database: Database) -> None:
    bare = await _timed(database, lambda c: c.execute(update(graph_edges).values(rev=graph_edges.c.rev + 1)))
    clock = FrozenClock(BEGAN)
    nights = NightlyMaintenance(database, clock, MemoryConfig())
    rates = nights.plasticity
    began = time.perf_counter()
    faded, kept = await database.read(lambda c: maintenance.faded_memories(c, OWNER, rates, BEGAN + timedelta(days=1)))
    _tell(f"{len(faded)} faded memories found, {kept} kept", (time.perf_counter() - began) * 1e3, "ms", bare)
    for name, later in (("a night, every link decays", 1), ("the same night again", 1), ("a night after a year", 365)):
        clock.set(BEGAN + timedelta(days=later))
        waited, stop = [0.0], asyncio.Event()
        waiting = asyncio.create_task(_wait_for_writer(database, waited, stop))
        began = time.perf_counter()
        report = await nights.maintain(OWNER)
        took = (time.perf_counter() - began) * 1e3
        stop.set()
        await waiting
        _tell(f"{name} ({report.decayed} decayed, {report.pruned} pruned)", took, "ms", bare)
        longest = (
            f"a message waited {max(waited) * 1e3:.0f} ms at most, {statistics.median(waited) * 1e3:.1f} ms mostly"
        )
        print(f"{'':44} {longest}")


async def _wait_for_writer(database: Database, waited: list[float], stop: asyncio.Event) -> None:
    """As a message that comes meanwhile: how long its transaction waits."""
    while not stop.is_set():
        began = time.perf_counter()
        await database.write(lambda c: c.execute(update(users).values(tz_asked=True)))
        waited.append(time.perf_counter() - began)
        await asyncio.sleep(0.01)


def _tell(name: str, value: float, unit: str, bare: float) -> None:
    if value != bare:
        figures.keep(re.sub(r" \(.*|\d+ | \d+", "", name), value / bare)
    print(f"{name:<60} {value:10.1f} {unit}  {value / bare:6.2f} times the bare one")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=300_000)
    options = parser.parse_args()
    asyncio.run(main(options.memories, options.links))
