"""One process for 10,000 owners, 100 of whom write at the same time: rate, waits, processor time and memory.

    python -m benchmarks.messages.many_owners [--owners 10000] [--active 100] [--messages 20]

The silent owners have what `store_growth.py` gives each (20 messages with vectors, facts, a person, a memory). The
active ones take the path of `message_cost.py` and never pause. For comparison the same is measured without silent
owners. The answers to the first messages are left out: they build each owner's indexes.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sqlalchemy import update

from benchmarks.messages.message_cost import answering
from benchmarks.messages.throughput import SETTINGS
from benchmarks.shared.bot_process import circumstances, cpu_seconds
from benchmarks.shared.synthetic_owners import Language
from benchmarks.storage.store_growth import filled
from internal.config.settings import EmbeddingConfig
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.tables import vectors

_IDLE_S: Final = 0.05
"""Processor time of a second in which a process is idle."""


async def add_silent(path: Path, owners: int) -> None:
    with acting_for_everyone():
        async with Database.open(path) as database:
            await filled(database, owners, 0, Language(int(SETTINGS["EMBEDDING__DIMENSIONS"])))
            known = update(vectors).values(model=EmbeddingConfig().model)  # or the bot would embed it all anew
            await database.write(lambda c: c.execute(known))


async def measure(silent: int, active: int, messages: int) -> None:
    """Prints one row of the table."""
    async with answering(active, more=(lambda path: add_silent(path, silent)) if silent else None) as bot:
        await _idle(bot.pid)  # the night of each silent owner, and the menu of his chat
        began, spent, threads = time.perf_counter(), cpu_seconds(bot.pid), _thread_seconds(bot.pid)
        await bot.telegram.converse(bot.users, messages)
        took, spent = time.perf_counter() - began, cpu_seconds(bot.pid) - spent
        busiest = max(seconds - threads.get(thread, 0.0) for thread, seconds in _thread_seconds(bot.pid).items())
        waits = sorted(wait for found in bot.telegram.waits.values() for wait in found[-messages:])
        count = active * messages
        print(
            f"| {silent + active:,} | {active} | {count / took:.1f} | {_at(waits, 0.5):.2f} | {_at(waits, 0.99):.2f} "
            f"| {spent / count * 1e3:.1f} | {busiest / took:.0%} | {_resident(bot.pid):.0f} |",
            flush=True,
        )


async def _idle(pid: int) -> None:
    """Waits until the process does next to nothing."""
    before = -1.0
    while (spent := cpu_seconds(pid)) - before > _IDLE_S:
        before = spent
        await asyncio.sleep(1)


def _at(waits: Sequence[float], share: float) -> float:
    return waits[min(len(waits) - 1, int(len(waits) * share))]


def _thread_seconds(pid: int) -> dict[str, float]:
    """Processor time of each thread of a process, by its id."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        nanoseconds = (task / "schedstat").read_text(encoding="ascii").split()[0]
        found[task.name] = int(nanoseconds) / 1e9
    return found


def _resident(pid: int) -> float:
    """Memory in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="Many owners on one process.")
    parser.add_argument("--owners", type=int, default=10_000)
    parser.add_argument("--active", type=int, default=100)
    parser.add_argument("--messages", type=int, default=20, help="of each active owner")
    options = parser.parse_args()
    print(circumstances())
    print("| owners | active | messages/s | wait p50, s | p99, s | processor a message, ms | busiest thread | MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for silent in (0, options.owners - options.active):
        asyncio.run(measure(silent, options.active, options.messages))


if __name__ == "__main__":
    main()
