"""From opening the database to ready: the time to restore the buffers of many users.

    python -m benchmarks.messages.buffer_recovery [--users 10000] [--messages 50] [--rounds 5]

Each user has one published fragment and `--messages` messages after it that belong to none. The benchmark measures what
a start does with the database: it opens it, checks the schema and restores every buffer. The standard library's sqlite3
reads the same numbers row by row for comparison. Then the whole bot is timed from the start of its process to `/readyz`
200, on this database and on an empty one, against a local Telegram that already runs. On a busy machine the processor
time says more than the wall clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances, cpu_seconds, environment, running
from bot.application.database import open_database
from bot.simulator.launch import LocalTelegram, start_local_telegram
from internal.dialogue import repository as dialogue
from internal.dialogue.buffers import DialogueBuffers
from internal.scheduling.clock import SystemClock
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import dialogue_state, messages, users
from internal.storage.types import new_id

RUN = (sys.executable, "-m", "bot", "run")
PUBLISHED = 10
SENTENCE = "Вчера обедал с Петровым, мы вместе работаем над проектом. Он сказал, что релиз перенесли на март."
AT_ONCE = 500
"""Users of one transaction while the database is filled."""


async def fill(path: Path, count: int, waiting: int) -> None:
    """A database of so many users; closed in order it has no WAL beside it and can be copied as one file."""
    async with Database.open(path) as database:
        await database.exclusive(migrate)
        for first in range(1, count + 1, AT_ONCE):
            ids = range(first, min(first + AT_ONCE, count + 1))
            await database.write(partial(_talk, ids=ids, waiting=waiting))


def _talk(connection: Connection, ids: Sequence[int], waiting: int) -> None:
    now, each = datetime.now(UTC), PUBLISHED + waiting
    said = [message for user_id in ids for message in _messages(user_id, each, now)]
    cursors = {one["user_id"]: one["id"] for one in said if one["seq"] == PUBLISHED}
    connection.execute(insert(users), [_user(user_id, each, now) for user_id in ids])
    connection.execute(insert(messages), said)
    connection.execute(
        insert(dialogue_state),
        [
            {"user_id": user_id, "last_published_message_id": cursors[user_id], "last_activity": now, "is_active": True}
            for user_id in ids
        ],
    )


def _user(user_id: int, said: int, now: datetime) -> dict[str, Any]:
    profile = {"role": "member", "state": "active", "name": f"User {user_id}", "lang": "ru", "tz": "Europe/Moscow"}
    counters = {"next_seq": said + 1, "next_rev": said + 1}
    return {"user_id": user_id, "settings": {}, "created_at": now} | profile | counters


def _messages(user_id: int, count: int, now: datetime) -> Iterable[dict[str, Any]]:
    for seq in range(1, count + 1):
        yield {
            "user_id": user_id,
            "seq": seq,
            "id": new_id(),
            "role": "user" if seq % 2 else "assistant",
            "content": SENTENCE,
            "timestamp": now,
            "bot_id": 4242,
            "chat_id": user_id,
            "tg_id": seq,
            "rev": seq,
            "episode_id": f"episode of {user_id}" if seq <= PUBLISHED else None,
        }


async def recover(path: Path) -> tuple[float, int, int]:
    """Seconds from open to ready, and how many dialogues and messages came back."""
    began = time.perf_counter()
    buffers = DialogueBuffers()
    async with open_database(path, path.parent / "backups", SystemClock()) as database:
        for state in await database.read(dialogue.restorable):
            buffers.restore(state)
        took = time.perf_counter() - began
    return took, len(buffers), sum(len(state.buffer) for state in buffers.states())


def bare_read(path: Path) -> float:
    """Seconds of a loop that reads the numbers of all waiting messages and does nothing else."""
    began = time.perf_counter()
    connection = sqlite3.connect(path)
    try:
        for _ in connection.execute("SELECT user_id, seq FROM messages WHERE episode_id IS NULL ORDER BY user_id, seq"):
            pass
    finally:
        connection.close()
    return time.perf_counter() - began


def _recover_alone(path: Path) -> None:
    """In a process of its own, so that its memory can be told."""
    took, dialogues, restored = asyncio.run(recover(path))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"took": took, "dialogues": dialogues, "restored": restored, "peak": peak}))


async def _in_a_process(path: Path) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.messages.buffer_recovery",
        "--recover",
        str(path),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    if process.returncode:
        raise SystemExit("the recovery failed")
    found: dict[str, float] = json.loads(output)
    return found


async def _start(telegram: LocalTelegram, filled: Path | None) -> tuple[float, float]:
    """Seconds until `/readyz` says 200, and seconds of the processor's that it took."""
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        data_dir.mkdir(mode=0o700)
        if filled is not None:
            shutil.copyfile(filled, data_dir / "laplaced.db")
            os.sync()  # the copy is not to be written to the disk while the start is measured
        async with running(RUN, environment(data_dir, telegram)) as bot:
            return bot.ready_after, cpu_seconds(bot.pid)


async def measure(count: int, waiting: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        filled, empty = Path(name) / "filled.db", Path(name) / "empty.db"
        await fill(filled, count, waiting)
        async with Database.open(empty) as database:
            await database.exclusive(migrate)
        print(f"{filled.stat().st_size / 1e6:.0f} MB")
        nobody = [await _in_a_process(empty) for _ in range(rounds)]
        found = [await _in_a_process(filled) for _ in range(rounds)]
        if {(one["dialogues"], one["restored"]) for one in found} != {(count, count * waiting)}:
            raise SystemExit("not every message came back")
        bare = statistics.median(bare_read(filled) for _ in range(rounds))
        print(f"{'':<44}{'median, s':>11}{'slowest, s':>12}{'ratio':>8}")
        _tell("bare read of the same numbers", [bare], bare)
        _tell("open to ready, nobody", [one["took"] for one in nobody], bare)
        _tell(f"open to ready, {count:,} users x {waiting}", [one["took"] for one in found], bare)
        async with start_local_telegram(Path(name) / "telegram") as telegram:
            await _start(telegram, None)  # the first start of all compiles and reads from the disk
            for case, data in (("nobody", None), ("all of them", filled)):
                starts = [await _start(telegram, data) for _ in range(rounds)]
                _tell(f"process to /readyz, {case}", [wall for wall, _ in starts], bare)
                _tell("  of which the processor's", [busy for _, busy in starts], bare)
        peaks = [statistics.median(one["peak"] for one in runs) for runs in (nobody, found)]
        print(f"memory at its peak: {peaks[0]:.0f} MB with nobody, {peaks[1]:.0f} MB with all of them")


def _tell(case: str, seconds: Sequence[float], bare: float) -> None:
    median = statistics.median(seconds)
    if median != bare:
        figures.keep(case.strip(), median / bare)
    print(f"{case:<44}{median:>11.3f}{max(seconds):>12.3f}{median / bare:>8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="How long the buffers of many users take to come back.")
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--recover", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.recover is not None:
        return _recover_alone(options.recover)
    print(circumstances())
    asyncio.run(measure(options.users, options.messages, options.rounds))
    return None


if __name__ == "__main__":
    main()
