"""Messages per second through the whole path, and the time each spends in our code.

    python -m benchmarks.messages.throughput [--messages 500] [--people 20] [--without-pause]

Update -> inbox -> turn -> people recalled -> model -> outbox -> sent. The bot is a real process with its database on
disk; Telegram and a model that answers at once by script are another, all over HTTP on loopback. Every user knows some
people, so that a message costs the enricher, an embedding, a search, the reranker and the responder: four calls of the
model. Nothing is grouped, and Telegram's budgets are lifted. A user writes the next message when the last is answered,
at once or after a pause. Without a pause this is the most that the bot can do, and with 50 users nearly all of the wait
is spent in the queue. With a pause it is daily life.

The ratio compares with a bare loop of single-row commits (SQLite, WAL, synchronous=FULL) on the same disk, measured
before and after. A wait runs from the update to the arrival of sendMessage; "ours" leaves out the three chat calls of
the model, as the bot itself recorded them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances, cpu_seconds, environment, running
from benchmarks.shared.fake_telegram import TOKEN, InstantTelegram
from internal.access import service as access
from internal.access.model import Author
from internal.people import service as people
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import migrate
from internal.testing import ScriptedModel

BOT = (sys.executable, "-m", "benchmarks.shared.unlimited_bot")
CASES = ((1, 0.0), (50, 0.0), (50, 5.0))
"""Users, and the pause of each before the next message in seconds."""

FIRST_USER = 5_000
BARE_SECONDS = 2.0
WARM_UP = 3
"""First messages of each user that are not counted: connections are opened, people are read for the first time."""

ANSWERS: dict[str, str | dict[str, Any]] = {
    "responder": "Вы говорили, что релиз перенесли на март.",
    "reranker": {"people": []},
    "enricher": {"query": "Петров: что он сказал про релиз?"},
}
SETTINGS = {
    "TELEGRAM__TOKEN": TOKEN,
    "TELEGRAM__GROUP_WINDOW": "0s",
    "ACCESS__MESSAGES_PER_MINUTE": "0",
    "RAG__RETRIEVAL__PEOPLE_THRESHOLD": "-1",
    "EMBEDDING__DIMENSIONS": "256",
    "RAG__RETRIEVAL__DICTIONARIES": "",  # made once for an installation, by a process of its own
    **{f"AGENTS__{agent.upper()}__MODEL": f"instant/{agent}" for agent in ANSWERS},
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Rates are a second; waits are seconds; CPU is seconds of the bot's processor time a message."""

    users: int
    pause: float
    messages: int
    rate: float
    bare: float
    waits: Sequence[float]
    ours: Sequence[float]
    cpu: float
    load_cpu: float
    calls: float


async def measure(users: int, pause: float, messages: int, known: int) -> Measured:
    with tempfile.TemporaryDirectory() as name:
        folder, ids = Path(name), range(FIRST_USER, FIRST_USER + users)
        database = folder / "data/laplaced.db"
        await acquaint(database, ids, known)
        before = bare_commits(folder / "before.db")
        async with ScriptedModel(piece=1000) as model, InstantTelegram() as telegram:
            for agent, answer in ANSWERS.items():
                model.always(f"instant/{agent}", answer)
            given = {"TELEGRAM__API_BASE": telegram.url, "LLM__BASE_URL": model.url}
            allowed = {"ACCESS__ALLOWED_USER_IDS": json.dumps(list(ids))}
            async with running(BOT, environment(folder / "data", settings=SETTINGS | given | allowed)) as bot:
                await telegram.converse(ids, WARM_UP)
                spent, own = cpu_seconds(bot.pid), cpu_seconds(os.getpid())
                took = await telegram.converse(ids, messages // users, pause)
                spent, own = cpu_seconds(bot.pid) - spent, cpu_seconds(os.getpid()) - own
                calls = sum(telegram.calls.values())
        count = messages // users * users
        asked = _model_seconds(database)
        ours = [
            wait - spent_asking
            for user, waits in telegram.waits.items()
            for wait, spent_asking in zip(waits, asked[user][WARM_UP:], strict=True)
        ]
        return Measured(
            users=users,
            pause=pause,
            messages=count,
            rate=count / took,
            bare=(before + bare_commits(folder / "after.db")) / 2,
            waits=[wait for waits in telegram.waits.values() for wait in waits],
            ours=ours,
            cpu=spent / count,
            load_cpu=own / count,
            calls=calls / count,
        )


async def acquaint(path: Path | str, ids: Sequence[int], known: int) -> None:
    """The users, each with so many people."""
    if isinstance(path, Path):
        path.parent.mkdir(mode=0o700, exist_ok=True)
    with acting_for_everyone():
        async with Database.open(path) as database:
            await database.exclusive(migrate)
            for user in ids:
                await database.write(partial(add_user, user=user, known=known))


def add_user(connection: Connection, user: int, known: int) -> None:
    now = datetime.now(UTC)
    access.admit(connection, Author(user, f"User {user}", language_code="ru"), allowed=[user], admit_all=False, now=now)
    for number in range(known):
        sender = people.TelegramAccount(1_000_000 + number, f"Имя{number} Фамилия{number}")
        people.from_metadata(connection, user, sender, seen_at=now, now=now)


def _model_seconds(path: Path) -> dict[int, list[float]]:
    """For each user, what the chat calls of each turn took, in the order of the turns."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT t.user_id, sum(c.duration_s) FROM turns t "
            "JOIN model_calls c ON json_extract(c.links, '$.turn') = t.id GROUP BY t.user_id, t.id ORDER BY t.first_seq"
        ).fetchall()
    finally:
        connection.close()
    seconds: dict[int, list[float]] = {}
    for user, spent in rows:
        seconds.setdefault(user, []).append(spent)
    return seconds


def bare_commits(path: Path) -> float:
    """Single-row commits a second, in a loop that does nothing else."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("CREATE TABLE rows(n INTEGER PRIMARY KEY, content TEXT NOT NULL)")
        done, began = 0, time.perf_counter()
        while (took := time.perf_counter() - began) < BARE_SECONDS:
            connection.execute("INSERT INTO rows(content) VALUES (?)", ("А что сказал Петров про релиз?",))
            done += 1
        return done / took
    finally:
        connection.close()


def _row(found: Measured) -> str:
    cells = [
        f"{found.users:>6}", f"{found.pause:>9.0f}", f"{found.messages:>9}", f"{found.rate:>10.1f}",
        f"{found.bare:>11.0f}", f"{found.rate / found.bare:>8.4f}",
        _milliseconds(found.waits), _milliseconds(found.ours),
        f"{found.cpu * 1e3:>8.1f}", f"{found.load_cpu * 1e3:>9.1f}", f"{found.calls:>7.1f}",
    ]  # fmt: skip
    return "".join(cells)


def _milliseconds(waits: Sequence[float]) -> str:
    hundredths = statistics.quantiles(waits, n=100)
    return f"{hundredths[49] * 1e3:>10.1f}{hundredths[98] * 1e3:>10.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Messages a second through the whole path, against bare commits.")
    parser.add_argument("--messages", type=int, default=500)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--without-pause", action="store_true", help="only users who never pause")
    options = parser.parse_args()
    print(circumstances())
    columns = ("users", 6), ("pause, s", 9), ("messages", 9), ("per s", 10), ("commits/s", 11), ("ratio", 8)
    waits = ("wait p50", 10), ("p99, ms", 10), ("ours p50", 10), ("p99, ms", 10)
    rest = ("CPU, ms", 8), ("load, ms", 9), ("calls", 7)
    print("".join(f"{name:>{width}}" for name, width in (*columns, *waits, *rest)))
    for users, pause in CASES:
        if pause and options.without_pause:
            continue
        measured = asyncio.run(measure(users, pause, options.messages, options.people))
        print(_row(measured), flush=True)
        if not pause:
            figures.keep(f"bare commits in the time of a message, {users} users", measured.bare / measured.rate)


if __name__ == "__main__":
    main()
