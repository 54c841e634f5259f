"""Two years of one owner's life through the product: size, speed and consistency.

    python -m benchmarks.messages.two_years [--sessions 200] [--messages 5000] [--days 730] [--no-mirror]

The owner writes in Russian, Ukrainian and English: one session every few days of a clock that the benchmark moves. The
messages take the product's own path (intake, turn, delivery, publication, archivist, analyst, vectors) with the offline
models. Maintenance runs every night, and a question may be asked every noon. After every tenth session one message is
edited and one deleted, a fact and a memory are forgotten, two people are merged (and split again every other time), and
the owner notes that two memories contradict each other and resolves it.

At the end of each quarter it prints the size of the database and the time to write a message (with its answer), to
archive and judge a session, and to recall. At the end of the life it prints the rows of each table, nodes and edges,
the work of maintenance, the audit, the export, a restart, and the difference between mirror and store. Half of the
messages are answers. The exit code is 1 if the audit misses its goals, the chronicle is not one chain, or the mirror
differs from the store.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, func, select, text

from benchmarks.shared.bot_process import circumstances
from benchmarks.shared.life_owner import OWNER, Living, Quarter, count
from bot.application.app import App
from bot.application.bootstrap import open_app
from internal.access import repository as users, service as access
from internal.access.model import Author, User
from internal.chronicle import view
from internal.config.settings import Config
from internal.errors import ConfigurationError, MirrorUnavailable
from internal.graph import store
from internal.graph.mirror.projection import Rows
from internal.storage.tables import graph_edges, graph_nodes, metadata
from internal.testing import FrozenClock

BEGAN: Final = datetime(2024, 1, 1, 9, tzinfo=UTC)
QUARTERS: Final = 8
BUILT_S: Final = 300.0
"""How long a mirror may take to be built, whatever else the machine does."""


def _by(connection: Connection, column: Any) -> dict[str, int]:
    rows = connection.execute(select(column, func.count()).group_by(column).order_by(func.count().desc()))
    return {row[0]: row[1] for row in rows}


def _rows(connection: Connection) -> dict[str, int]:
    counted = {table.name: count(connection, table.name) for table in metadata.sorted_tables}
    return dict(sorted(((name, count) for name, count in counted.items() if count), key=lambda one: -one[1]))


def _bytes(connection: Connection) -> dict[str, int]:
    """Of tables with their indexes, the twelve largest; empty where SQLite was built without its counter."""
    found = connection.execute(text("SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'")).first()
    if found is None:
        return {}
    query = (
        "SELECT s.tbl_name, sum(d.pgsize) AS size FROM dbstat d JOIN sqlite_schema s ON s.name = d.name "
        "GROUP BY s.tbl_name ORDER BY size DESC LIMIT 12"
    )
    return {row[0]: row[1] for row in connection.execute(text(query))}


def _chains(connection: Connection) -> int:
    """How many chains NEXT makes of the events of the owner: one where each but the last has one that follows it."""
    shown = view.of_owner(connection, OWNER)
    steps = [(edge.source, edge.target) for edge in shown.edges if edge.type == "NEXT"]
    branches = max((*Counter(a for a, _ in steps).values(), *Counter(b for _, b in steps).values()), default=0)
    events = [node.id for node in shown.nodes if node.label in ("Request", "Feedback", "Response", "Analysis")]
    starts = set(events) - {target for _, target in steps}
    broken = any(later[0] != earlier[1] for earlier, later in pairwise(steps))
    return len(starts) if branches <= 1 and not broken else -1


async def in_mirror(app: App) -> dict[str, Any]:
    """Seconds to build a mirror, and of each label and type where it holds another number than the store."""
    try:
        began = time.perf_counter()
        nodes = await _once_built(app, "MATCH (n) RETURN labels(n)[0] AS label, count(n) AS n")
        took = time.perf_counter() - began
    except (MirrorUnavailable, ConfigurationError) as error:
        return {"unavailable": str(error)}
    edges = await app.mirrors.query(OWNER, "MATCH ()-[e]->() RETURN type(e) AS type, count(e) AS n", {})
    held = {row["label"]: row["n"] for row in nodes.rows}, {row["type"]: row["n"] for row in edges.rows}
    stored = await app.database.read(_projected)
    other = {
        name: [mine.get(name, 0), its.get(name, 0)]
        for mine, its in zip(stored, held, strict=True)
        for name in sorted({*mine, *its})
        if mine.get(name, 0) != its.get(name, 0)
    }
    return {"seconds": took, "nodes": sum(held[0].values()), "edges": sum(held[1].values()), "different": other}


async def _once_built(app: App, statement: str) -> Rows:
    """A question waits for a mirror to be built for some seconds only; on a busy machine that takes more."""
    deadline = time.perf_counter() + BUILT_S
    while True:
        try:
            return await app.mirrors.query(OWNER, statement, {})
        except MirrorUnavailable:
            if time.perf_counter() > deadline:
                raise
            await asyncio.sleep(0.2)


def _projected(connection: Connection) -> tuple[Counter[str], Counter[str]]:
    """Nodes by label and edges by type of the store, those of the chronicle derived; merged people are no nodes."""
    shown, tz = view.of_owner(connection, OWNER), users.get(connection, OWNER).tz
    derived = {node.id: node.label for node in shown.nodes}
    stands = graph_nodes.c.merged_into.is_(None)
    ids = list(connection.execute(select(graph_nodes.c.id).where(stands)).scalars())
    edges = Counter(_by(connection, graph_edges.c.type))
    steps = {(edge.type, edge.source, edge.target) for edge in shown.edges}
    for node in store.nodes_by_ids(connection, OWNER, ids).values():
        derived[node.id] = node.label
        if node.label == "Entity":
            calendar, happened = view.entity_happened(OWNER, node, tz)
            derived |= {one.id: one.label for one in calendar}
            steps |= {(edge.type, edge.source, edge.target) for edge in happened}
    edges.update(type for type, _, _ in steps)
    return Counter(derived.values()), edges


@asynccontextmanager
async def opened(folder: Path, clock: FrozenClock) -> AsyncIterator[App]:
    config = Config.model_validate({"data_dir": str(folder / "data"), "access": {"messages_per_minute": 0}})
    async with open_app(config, clock=clock) as app:
        yield app


async def live(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Lives, and tells what became of it."""
    clock, began = FrozenClock(BEGAN), time.perf_counter()
    sessions, turns, lasted = asked.sessions, asked.messages // 2, timedelta(days=asked.days)
    async with opened(folder, clock) as app:
        await app.database.write(_add_owner)
        living, quarters = Living(app, clock), []
        for number in range(sessions):
            await living.until(BEGAN + lasted * (number / sessions))
            clock.set(clock.now().replace(hour=18, minute=0))
            await living.session(number, turns * (number + 1) // sessions - turns * number // sessions)
            if (number + 1) % asked.change_every == 0:
                await living.change()
            if (number + 1) * QUARTERS // sessions > number * QUARTERS // sessions:
                quarters.append(await living.quarter(asked.rounds))
                print(f"quarter {len(quarters)}: {quarters[-1]}", file=sys.stderr, flush=True)
        await living.until(BEGAN + lasted)
        figures = await _quarter_figures(app, living, quarters, mirror=asked.mirror)
        await living.exchange("И ещё одно: завтра будет дождь.")  # is in no fragment when the product stops
    figures["restart_s"], figures["restored"] = await _restart(folder, clock)
    return figures | {"took_s": time.perf_counter() - began, "sessions": sessions}


def _add_owner(connection: Connection) -> User | None:
    author = Author(OWNER, "Олена", language_code="ru")
    return access.admit(connection, author, allowed=[OWNER], admit_all=False, now=BEGAN)


async def _quarter_figures(app: App, living: Living, quarters: list[Quarter], *, mirror: bool) -> dict[str, Any]:
    began = time.perf_counter()
    audit = await app.chronicle_audit.audit(OWNER)
    audit_s, began = time.perf_counter() - began, time.perf_counter()
    document = await app.export_document(OWNER)
    export_s = time.perf_counter() - began
    projected = await app.database.read(_projected)
    return {
        "quarters": [asdict(quarter) for quarter in quarters],
        "audit": asdict(audit),
        "audit_s": audit_s,
        "chains": await app.database.read(_chains),
        "changes": dict(living.changes),
        "nights": dict(living.nights),
        "night_ms": living.nights_s / max(1, living.nights["nights"]) * 1e3,
        "export_bytes": len(document.encode()),
        "export_s": export_s,
        "nodes": dict(projected[0].most_common()),
        "edges": dict(projected[1].most_common()),
        "runs": await app.database.read(lambda c: _by(c, metadata.tables["runs"].c.state)),
        "rows": await app.database.read(_rows),
        "bytes": await app.database.read(_bytes),
        "mirror": await in_mirror(app) if mirror else {},
    }


async def _restart(folder: Path, clock: FrozenClock) -> tuple[float, int]:
    """Seconds from an opened folder to restored buffers, and how many dialogues that were."""
    began = time.perf_counter()
    async with opened(folder, clock) as app:
        restored = await app.restore()
        return time.perf_counter() - began, restored


def whole(figures: dict[str, Any]) -> bool:
    """Whether the aims of the audit are met, there is one chain, and the mirror holds what the store does."""
    audit = figures["audit"]
    aims = all(audit[name] == 1.0 for name in ("next_integrity", "full_text", "analysis_coverage"))
    wholly = aims and audit["entity_uniqueness"] >= 0.98 and audit["orphans"] == 0
    return bool(
        wholly and figures["chains"] == 1 and figures["restored"] == 1 and not figures["mirror"].get("different")
    )


def show(figures: dict[str, Any]) -> None:
    first = figures["quarters"][0]
    print(f"{'messages':>9}{'size, MiB':>11}{'write, ms':>11}{'CPU':>7}{'ratio':>7}{'archive, ms':>13}", end="")
    print(f"{'recall, ms':>12}{'CPU':>7}{'ratio':>7}")
    for one in figures["quarters"]:
        print(f"{one['messages']:>9}{one['size'] / 2**20:>11.1f}{one['write']:>11.1f}{one['write_cpu']:>7.1f}", end="")
        print(f"{one['write_cpu'] / first['write_cpu']:>7.2f}{one['archive']:>13.0f}{one['recall']:>12.1f}", end="")
        print(f"{one['recall_cpu']:>7.1f}{one['recall_cpu'] / first['recall_cpu']:>7.2f}")
    for name, found in figures.items():
        if name != "quarters":
            print(f"{name}: {json.dumps(found, ensure_ascii=False)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--messages", type=int, default=5000, help="of the owner and of the bot together")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--days", type=int, default=730)
    parser.add_argument("--rounds", type=int, default=10, help="how often each question of recall is measured")
    parser.add_argument("--change-every", type=int, default=10, help="sessions between what the owner takes back")
    parser.add_argument("--no-mirror", dest="mirror", action="store_false")
    parser.add_argument("--keep", type=Path, help="an empty folder in which the owner's data stays")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as passing:
        folder = asked.keep or Path(passing)
        figures = asyncio.run(live(folder, asked))
    if asked.json:
        print(json.dumps(figures, ensure_ascii=False))
    else:
        print(circumstances())
        show(figures)
    sys.exit(0 if whole(figures) else 1)


if __name__ == "__main__":
    main()
