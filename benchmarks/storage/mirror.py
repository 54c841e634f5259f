"""The mirror of the graph in FalkorDB: time to build it, to follow a change, and to query it.

    python -m benchmarks.storage.mirror [--nodes 100000]

One user has this many nodes (memories, concepts, entities) in three languages, twice as many edges, and a chronicle of
a hundredth as many messages; FalkorDB runs embedded. It prints the time to rebuild the whole mirror, next to that of
a bare loop that reads the same rows from SQLite, and the time from the commit of one change until the mirror has it
(without pauses), next to the commit itself. Compare the ratios, since both run on one machine at one time. The exit
code is 1 if the mirror differs from the store.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances
from internal.chronicle import service as chronicle
from internal.chronicle.service import ChronicleMessage
from internal.flows.indexing.mirror import MirrorSync, StoredCursors
from internal.graph import registry, store
from internal.graph.mirror.falkordb import Falkor
from internal.graph.mirror.falkordb_server import running
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import changes, graph_edges, graph_nodes, users
from internal.storage.types import new_id
from internal.testing import FrozenClock

OWNER, SEED, CHANGES, BATCH = 1, 7, 200, 2_000
BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
WORDS = ("мама", "чай", "Київ", "поїзд", "работа", "море", "sister", "garden", "letter", "doctor", "зима", "квиток")
LABELS = ("Memory", "Memory", "Memory", "Concept", "Entity")
COUNTED = ("(m:Memory)", "(m)-[:RELATES_TO]->()", "(m:Memory) WHERE m.content STARTS WITH 'changed'")
ENDS = {"Memory": "RELATES_TO", "Concept": "HAS_CONCEPT", "Entity": "MENTIONS"}


def node_row(chance: random.Random, number: int) -> dict[str, Any]:
    label, words = LABELS[number % len(LABELS)], " ".join(chance.choices(WORDS, k=12))
    props = {"content": f"{number}: {words}"} if label == "Memory" else {"name": f"{words[:20]} {number}"}
    columns = registry.columns_of(label, registry.check_node(label, props))
    columns = {name: columns.get(name) for name in ("subtype", "name", "name_key", "status", "at", "props")}
    row = {"user_id": OWNER, "id": new_id(), "label": label, "created_at": BEGAN + timedelta(minutes=number)}
    return row | {"field_meta": {}, "schema_v": 1, "rev": number} | columns


def edge_row(chance: random.Random, number: int, memories: Sequence[str], others: Sequence[Any]) -> dict[str, Any]:
    source, target = chance.choice(memories), chance.choice(others)
    props = registry.check_edge(ENDS[target["label"]], "Memory", target["label"], {})
    strength = props.pop("strength", None)
    ends = {"source": source, "target": target["id"], "source_origin": source, "target_origin": target["id"]}
    row = {"user_id": OWNER, "id": new_id(), "type": ENDS[target["label"]], "created_at": BEGAN, "props": props}
    return row | ends | {"strength": strength, "strength_at": None, "schema_v": 1, "rev": number}


async def fill(database: Database, size: int) -> None:
    chance = random.Random(SEED)
    await database.exclusive(migrate)
    user = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Олена", "lang": "uk", "tz": "Europe/Kyiv"}
    await database.write(lambda c: c.execute(insert(users).values(**user, settings={}, created_at=BEGAN)))
    nodes = [node_row(chance, number) for number in range(size)]
    memories = [row["id"] for row in nodes if row["label"] == "Memory"]
    edges = [edge_row(chance, number, memories, nodes) for number in range(2 * size)]
    for table, rows in ((graph_nodes, nodes), (graph_edges, edges)):
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            await database.write(lambda c, table=table, part=part: c.execute(insert(table), part))
    await database.write(lambda c: [say(c, number) for number in range(size // 100)])


def say(connection: Connection, number: int) -> None:
    """A message of the user; every fiftieth begins another session."""
    at = BEGAN + timedelta(minutes=number)
    if number % 50 == 0:
        chronicle.close(connection, OWNER, at)
    chronicle.hear(connection, ChronicleMessage(OWNER, new_id(), f"message {number}", at), tz="Europe/Kyiv")


def read_all(connection: Connection) -> int:
    return sum(len(connection.execute(select(table)).all()) for table in (graph_nodes, graph_edges))


async def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def follow_changes(database: Database, mirroring: MirrorSync) -> tuple[list[float], list[float]]:
    """Seconds of the commits of single changes, and of following each."""
    chance, commits, lags = random.Random(SEED), [], []
    ids = await database.read(
        lambda c: c.execute(select(graph_nodes.c.id).where(graph_nodes.c.label == "Memory")).all()
    )
    for number in range(CHANGES):
        node_id, props = chance.choice(ids).id, {"content": f"changed {number}"}
        change = lambda c, i=node_id, t=props: store.update_node(c, OWNER, i, t, now=BEGAN)  # noqa: E731
        commits.append(await timed(lambda change=change: database.write(change)))
        lags.append(await timed(lambda: mirroring.follow(OWNER)))
    return commits, lags


async def count(mirroring: MirrorSync, pattern: str) -> int:
    [row] = (await mirroring.query(OWNER, f"MATCH {pattern} RETURN count(m) AS n", {})).rows
    return int(row["n"])


async def measure(size: int) -> bool:
    with tempfile.TemporaryDirectory() as name:
        folder, clock = Path(name), FrozenClock(BEGAN)
        async with Database.open(folder / "laplaced.db") as database, running(folder / "falkor", rows=100) as server:
            await fill(database, size)
            falkor = Falkor(server.url, "falkor://benchmark", timeout=timedelta(seconds=10), rows=100)
            mirroring = MirrorSync(database, clock, falkor, StoredCursors(database, clock, falkor.target))
            reading = await timed(lambda: database.read(read_all))
            building = await timed(lambda: mirroring.rebuild(OWNER))
            commits, lags = await follow_changes(database, mirroring)
            memories, linked, changed = [await count(mirroring, pattern) for pattern in COUNTED]
            logged = await database.read(lambda c: len(c.execute(select(changes.c.seq)).all()))
            await mirroring.aclose()
            await falkor.aclose()
    print(f"{size:,} nodes, {2 * size:,} edges, {size // 100:,} messages; {logged:,} changes in the log")
    print(f"to build anew: {building:.1f} s, {3 * size / building:,.0f} nodes and edges a second;")
    print(f"  {building / reading:.1f} times what it takes to read the rows ({reading:.2f} s)")
    figures.keep("rebuilt to read", building / reading)
    commit, lag = statistics.median(commits) * 1000, statistics.median(lags) * 1000
    worst = sorted(lags)[int(CHANGES * 0.99)] * 1000
    print(f"to follow a change: median {lag:.1f} ms, p99 {worst:.1f} ms;")
    figures.keep("a change followed to its commit", lag / commit)
    print(f"  {lag / commit:.1f} times its commit ({commit:.2f} ms)")
    return memories == size * 3 // 5 and linked > 0 and 0 < changed <= CHANGES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    options = parser.parse_args()
    print(circumstances())
    sys.exit(0 if asyncio.run(measure(options.nodes)) else 1)


if __name__ == "__main__":
    main()
