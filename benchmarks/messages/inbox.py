"""Durable inbox insertions per second, compared with a bare loop of single-row commits of the same rows.

    python -m benchmarks.messages.inbox [--users 500] [--each 100]

Each user sends the next update when the last is on disk, so there are as many calls at once as users: a webhook under
load. The calls go through `Inbox.store`, which `Ingest.accept` waits for. What happens to an update afterwards is not
measured here (see throughput.py). The bare loop writes the same rows into the same table with the standard library's
sqlite3, one transaction a row, with the pragmas of the product's writing connection. The two alternate, so that neither
has the quieter machine.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances
from internal.dialogue.mailbox.inbox import Inbox
from internal.scheduling.clock import SystemClock
from internal.storage.database import Database
from internal.storage.migration import migrate

BOT = 4242
CASES = (1, 10)
"""Fewer users at once, to show what sharing a commit gives."""

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "foreign_keys=ON", "temp_store=MEMORY")
INSERT = "INSERT INTO inbox(bot_id, update_id, raw, state, received_at) VALUES (?, ?, ?, 'received', ?)"

Update = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Measured:
    """Rates are insertions a second; waits are seconds from a call to its return."""

    rate: float
    commits: int
    waits: Sequence[float]


def updates(numbers: Iterator[int], user: int, count: int) -> list[Update]:
    """So many text messages of one user, as Telegram writes them."""
    return [
        (number, json.dumps(_message(number, user), ensure_ascii=False)) for number in itertools.islice(numbers, count)
    ]


def _message(number: int, user: int) -> dict[str, object]:
    person = {"id": user, "first_name": f"User {user}"}
    message = {
        "message_id": number,
        "from": person | {"is_bot": False, "language_code": "ru"},
        "chat": person | {"type": "private"},
        "date": 1_795_000_000,
        "text": f"А что сказал Петров про релиз, {number}?",
    }
    return {"update_id": number, "message": message}


async def product(path: Path, users: int, each: int) -> Measured:
    async with Database.open(path) as database:
        await database.exclusive(migrate)
        inbox, numbers = Inbox(database, SystemClock(), BOT), itertools.count(1)
        work = [updates(numbers, user, each) for user in range(users)]
        waits: list[float] = []
        before, began = database.commits_seen, time.perf_counter()
        await asyncio.gather(*(_bring(inbox, mine, waits) for mine in work))
        took = time.perf_counter() - began
        return Measured(users * each / took, database.commits_seen - before, waits)


async def _bring(inbox: Inbox, mine: Sequence[Update], waits: list[float]) -> None:
    for update in mine:
        began = time.perf_counter()
        stored = await inbox.store([update])
        waits.append(time.perf_counter() - began)
        if len(stored) != 1:
            raise SystemExit(f"update {update[0]} was not stored")


async def bare(path: Path, count: int) -> float:
    """Insertions a second of a loop that does nothing else."""
    async with Database.open(path) as database:
        await database.exclusive(migrate)
    rows = updates(itertools.count(1), 1, count)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        began = time.perf_counter()
        for number, raw in rows:
            connection.execute(INSERT, (BOT, number, raw, time.time_ns() // 1000))
        return count / (time.perf_counter() - began)
    finally:
        connection.close()


async def measure(users: int, each: int, rounds: int) -> tuple[list[Measured], list[float]]:
    found, loops = [], []
    with tempfile.TemporaryDirectory() as name:
        for number in range(rounds):
            folder = Path(name) / str(number)
            loops.append(await bare(folder / "bare.db", users * each // 5))
            found.append(await product(folder / "product.db", users, each))
    return found, loops


def _ratio(found: Sequence[Measured], loops: Sequence[float]) -> float:
    return statistics.median(one.rate for one in found) / statistics.median(loops)


def _row(users: int, found: Sequence[Measured], loops: Sequence[float]) -> str:
    rate, loop = statistics.median(one.rate for one in found), statistics.median(loops)
    hundredths = statistics.quantiles([wait for one in found for wait in one.waits], n=100)
    shared = sum(len(one.waits) for one in found) / sum(one.commits for one in found)
    return (
        f"{users:>6}{rate:>14,.0f}{loop:>14,.0f}{_ratio(found, loops):>8.2f}{shared:>14.1f}"
        f"{hundredths[49] * 1e3:>10.2f}{hundredths[98] * 1e3:>10.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Durable inbox insertions a second, against single-row commits.")
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(circumstances())
    names = (
        ("users", 6),
        ("inserts/s", 14),
        ("bare loop/s", 14),
        ("ratio", 8),
        ("a commit", 14),
        ("p50, ms", 10),
        ("p99, ms", 10),
    )
    print("".join(f"{name:>{width}}" for name, width in names))
    for users in (*CASES, options.users):
        each = options.each * options.users // users if users > 10 else options.each * 20
        found, loops = asyncio.run(measure(users, each, options.rounds))
        print(_row(users, found, loops), flush=True)
        figures.keep(f"to bare commits, {users} users", _ratio(found, loops), better="higher")


if __name__ == "__main__":
    main()
