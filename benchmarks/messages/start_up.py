"""From nothing to ready: the command line, the imports, and the bot until `/readyz` says 200.

    python -m benchmarks.messages.start_up [--rounds 5] [--messages 10000]

Each round also starts and ends a bare Python for comparison; the medians are printed. The bot talks to a local Telegram
that already runs in another process; in the last row it starts one itself. The stored messages belong to 50 users and
none is archived, so that all of them return to the buffers.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from benchmarks.shared import figures
from benchmarks.shared.bot_process import ROOT, circumstances, environment, running
from bot.simulator.launch import LocalTelegram, start_local_telegram
from internal.access import service as access
from internal.access.model import Author
from internal.dialogue import repository as dialogue
from internal.storage.database import Database
from internal.storage.migration import migrate

USERS = 50
RUN = (sys.executable, "-m", "bot", "run")
SENTENCE = "Вчера обедал с Петровым, мы вместе работаем над проектом. Он сказал, что релиз перенесли на март."


async def _command(*arguments: str) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    if await process.wait():
        raise SystemExit(f"python {' '.join(arguments)} failed")
    return time.perf_counter() - began


async def _ready(telegram: LocalTelegram | None, filled: Path | None) -> float:
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        data_dir.mkdir(mode=0o700)
        if filled is not None:
            shutil.copyfile(filled, data_dir / "laplaced.db")
        async with running(RUN, environment(data_dir, telegram)) as bot:
            return bot.ready_after


async def _fill(path: Path, messages: int) -> None:
    """A database with so many messages; closed in order it has no WAL beside it and can be copied as one file."""
    async with Database.open(path) as database:
        await database.exclusive(migrate)
        for user_id in range(1, USERS + 1):
            await database.write(partial(_talk, user_id=user_id, messages=messages // USERS))
        await database.exclusive(lambda c: c.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)"))


def _talk(connection: Connection, user_id: int, messages: int) -> None:
    now = datetime.now(UTC)
    access.admit(connection, Author(user_id, f"User {user_id}"), allowed=[user_id], admit_all=False, now=now)
    for number in range(messages):
        dialogue.add(connection, user_id, "assistant" if number % 2 else "user", SENTENCE, now=now)
    dialogue.record_activity(connection, user_id, now)


async def measure(rounds: int, messages: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        filled = Path(folder) / "filled.db"
        await _fill(filled, messages)
        async with start_local_telegram(Path(folder) / "telegram") as telegram:
            cases: dict[str, Callable[[], Awaitable[float]]] = {
                "bare Python": lambda: _command("-c", "pass"),
                "laplaced --help": lambda: _command("-m", "bot", "--help"),
                "import bot.runtime.bot": lambda: _command("-c", "import bot.runtime.bot"),
                "ready, no data": lambda: _ready(telegram, None),
                f"ready, {messages:,} messages": lambda: _ready(telegram, filled),
                "ready, with a local Telegram of its own": lambda: _ready(None, None),
            }
            await _ready(telegram, None)  # the first start of all compiles and reads from the disk
            took: dict[str, list[float]] = {case: [] for case in cases}
            for _ in range(rounds):
                for case, run in cases.items():
                    took[case].append(await run())
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description="From nothing to ready, as a ratio to a bare Python.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=10_000)
    options = parser.parse_args()
    print(circumstances())
    took = asyncio.run(measure(options.rounds, options.messages))
    bare = statistics.median(took["bare Python"])
    print(f"{'':<42}{'median, s':>11}{'fastest, s':>12}{'ratio':>8}")
    for case, seconds in took.items():
        median = statistics.median(seconds)
        print(f"{case:<42}{median:>11.3f}{min(seconds):>12.3f}{median / bare:>8.1f}")
        figures.keep(case, min(seconds) / min(took["bare Python"]))


if __name__ == "__main__":
    main()
