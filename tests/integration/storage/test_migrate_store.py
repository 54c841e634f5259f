"""A store moves into another, from file to server and back: the same rows, nothing doubled by a kill, nothing lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, update
from support.stores.migrate_store_stage import fill, moment, tell_nobody
from support.stores.store_hash import logical_hash
from support.stores.stores import POSTGRESQL, store, where

from internal.errors import Refused, StorageError
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import changes, events, leases, messages, settings, users, vectors
from internal.storage.transfer import row_copy
from internal.storage.transfer.migrate_store import (
    CopyResult,
    copy_store,
    forget_move,
    is_half,
    nothing_kept,
    refuse_half,
)
from internal.storage.transfer.row_copy import batches, carried_tables, delete_all_rows, numbered_by


@pytest.fixture
async def origin(tmp_path: Path) -> AsyncIterator[Database]:
    """A file with rows in some tables."""
    async with Database.open(tmp_path / "origin.db") as opened:
        await opened.exclusive(migrate)
        await opened.write(partial(fill, tables=[users, settings, messages, events, vectors, changes]))
        yield opened


@pytest.fixture
async def full(origin: Database) -> Database:
    """A file whose every table has rows."""
    await origin.write(delete_all_rows)
    await origin.write(fill)
    return origin


@pytest.fixture
async def target(tmp_path: Path) -> AsyncIterator[Database]:
    """An empty store of the engine that is tested."""
    async with Database.open(where(tmp_path / "target")) as opened:
        await opened.exclusive(migrate)
        yield opened
        await opened.write(forget_move)


@pytest.fixture
async def third(tmp_path: Path) -> AsyncIterator[Database]:
    """An empty file."""
    async with Database.open(tmp_path / "third.db") as opened:
        yield opened


@pytest.fixture
def short_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of two rows: a table has several."""
    monkeypatch.setattr(row_copy, "FIRST_ROWS", 2)
    monkeypatch.setattr(row_copy, "next_limit", lambda batch: 2)


async def moved(
    source: Database,
    into: Database,
    *,
    name: str = "origin",
    force: bool = False,
    keep: Callable[[], Awaitable[object]] = nothing_kept,
) -> CopyResult:
    return await copy_store(source, into, name=name, progress=tell_nobody, force=force, keep=keep)


class Killed(Exception):
    """Stands for the end of the process right after a commit."""


async def killed_after(count: int, source: Database, into: Database) -> None:
    """A move that ends as soon as so many batches were committed."""
    committed = 0

    def told(what: str, done: int, total: int) -> None:
        nonlocal committed
        committed += what == "moving"
        if committed == count:
            raise Killed

    with pytest.raises(Killed):
        await copy_store(source, into, name="origin", progress=told)


def all_rows(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Every row as it is stored: the texts of JSON too."""
    found = {}
    for table in carried_tables():
        found[table.name] = sorted((row for batch in batches(connection, table) for row in batch.rows), key=repr)
    return found


def drawn(connection: Connection) -> dict[str, int]:
    """The numbers that new rows get."""
    event = {"id": "new", "user_id": None, "timestamp": moment(1), "event_type": "x", "source": "s", "payload": {}}
    change = {"user_id": 1, "kind": "k", "id": "new", "op": "put"}
    event_number = connection.execute(insert(events).values(event).returning(events.c.seq)).scalar_one()
    return {
        "events": event_number,
        "changes": connection.execute(insert(changes).values(change).returning(changes.c.seq)).scalar_one(),
    }


async def test_every_row_arrives_and_comes_back(full: Database, target: Database, third: Database) -> None:
    """Out and back, both content hashes are the same and so is each row as it is stored, `null` and no value apart."""
    there = await moved(full, target)
    back = await moved(target, third)
    wanted = await full.read(logical_hash)
    assert (there.differing, back.differing) == ([], [])
    assert wanted == there.source.logical == there.target.logical == back.target.logical
    assert wanted == await target.read(logical_hash) == await third.read(logical_hash)
    assert await third.read(all_rows) == await full.read(all_rows)
    assert not await target.read(is_half)


@pytest.mark.usefixtures("short_batches")
@pytest.mark.parametrize("count", [1, 9, 20])
async def test_killed_move_goes_on(origin: Database, target: Database, count: int) -> None:
    """Whenever a move is killed, the next one carries only what was missing, and the content is the same."""
    await killed_after(count, origin, target)
    with pytest.raises(StorageError, match="interrupted"):
        await target.read(refuse_half)
    done = await moved(origin, target)
    assert done.differing == []
    assert (done.before > 0, done.begun_anew) == (True, False)
    assert done.before + done.rows == sum(len(rows) for rows in (await origin.read(all_rows)).values())
    assert await target.read(logical_hash) == await origin.read(logical_hash)


@pytest.mark.usefixtures("short_batches")
async def test_changed_source_begins_anew(origin: Database, target: Database) -> None:
    """What was carried of a source that changed since is thrown away, and the caller is told."""
    await killed_after(9, origin, target)
    await origin.write(lambda c: c.execute(update(users).values(name="Другое имя")))
    done = await moved(origin, target)
    assert (done.begun_anew, done.before, done.differing) == (True, 0, [])
    assert await target.read(logical_hash) == await origin.read(logical_hash)


async def test_target_with_content_is_refused(origin: Database, target: Database) -> None:
    """A store that holds something is left alone; by force it is kept first, then replaced."""
    await target.write(partial(fill, rows=1))
    before = await target.read(logical_hash)
    with pytest.raises(Refused, match="--force"):
        await moved(origin, target)
    kept: list[str] = []

    async def keep() -> None:
        kept.append(await target.read(logical_hash))

    assert (await moved(origin, target, force=True, keep=keep)).differing == []
    assert kept == [before]
    assert await target.read(logical_hash) == await origin.read(logical_hash)


@pytest.mark.usefixtures("short_batches")
async def test_half_of_another_source_is_refused(origin: Database, target: Database) -> None:
    """A target that another source was being moved into is not mixed with it."""
    await killed_after(3, origin, target)
    with pytest.raises(Refused, match="--force"):
        await moved(origin, target, name="another")
    assert (await moved(origin, target, name="another", force=True)).differing == []


async def test_half_a_store_is_no_source(origin: Database, target: Database, third: Database) -> None:
    """What was moved in part is not moved on."""
    await killed_after(3, origin, target)
    with pytest.raises(StorageError, match="interrupted"):
        await moved(target, third)


async def test_numbers_go_on_behind_the_highest_ever(origin: Database, target: Database, third: Database) -> None:
    """A number that was given to a row is given to no other after a move, also if the row is gone."""
    for table in (events, changes):
        await origin.write(lambda c: c.execute(insert(table).values(_numbered(table, 5_000))))  # noqa: B023 - awaited here
        await origin.write(lambda c: c.execute(delete(table).where(table.c.seq == 5_000)))  # noqa: B023 - awaited here
    await moved(origin, target)
    await moved(target, third)
    assert await target.write(drawn) == await third.write(drawn) == {"events": 5_001, "changes": 5_001}


def _numbered(table: Any, seq: int) -> dict[str, Any]:
    if table is changes:
        return {"seq": seq, "user_id": 1, "kind": "k", "id": "i", "op": "put"}
    told = {"timestamp": moment(1), "event_type": "x", "source": "s", "payload": {}}
    return told | {"seq": seq, "id": "i", "user_id": None}


async def test_empty_tables_begin_at_one(target: Database, third: Database) -> None:
    """A store without a row moves, and its numbers begin where they would have."""
    await third.exclusive(migrate)
    assert (await moved(third, target)).rows == 0
    assert await target.write(drawn) == {"events": 1, "changes": 1}


async def test_characters_that_an_engine_lacks_are_counted(origin: Database, target: Database) -> None:
    """PostgreSQL keeps no NUL character: how many were left out is told, and all else is the same."""
    await origin.write(lambda c: c.execute(update(messages).values(content="а\0б\0")))
    count = len((await origin.read(all_rows))["messages"])
    done = await moved(origin, target)
    on_server = store() == POSTGRESQL
    assert (done.differing, done.nul_lost) == ([], 2 * count if on_server else 0)
    found = await target.read(lambda c: c.execute(select(messages.c.content).distinct()).scalars().all())
    assert found == ["аб" if on_server else "а\0б\0"]


async def test_difference_is_found(origin: Database, target: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that did not arrive as it was is named by its table, and the target stays marked as half a store."""
    put = row_copy.put_batch

    def spoil(connection: Connection, table: Any, batch: Any) -> int:
        lost = put(connection, table, batch)
        if table is changes:
            connection.execute(update(changes).values(op="spoilt"))
        return lost

    monkeypatch.setattr(row_copy, "put_batch", spoil)
    assert (await moved(origin, target)).differing == ["changes"]
    assert await target.read(is_half)


async def test_schema_must_be_of_this_program(origin: Database, third: Database, target: Database) -> None:
    """A source without tables or of an older program is refused, with what to do."""
    with pytest.raises(StorageError, match="no store of Laplaced"):
        await moved(third, target)
    await origin.write(lambda c: c.exec_driver_sql("UPDATE alembic_version SET version_num = '0006'"))
    with pytest.raises(StorageError, match="start the bot on it once"):
        await moved(origin, target)


async def test_leases_stay_where_they_are(origin: Database, target: Database) -> None:
    """Who works on a store does not work on its copy."""
    await origin.write(lambda c: c.execute(insert(leases).values(name="clock", holder="w1", until=1)))
    assert (await moved(origin, target)).differing == []
    assert (await target.read(lambda c: c.execute(select(leases)).all())) == []


def test_every_growing_table_is_known() -> None:
    """The tables that number their rows are those that SQLite was told never to number twice."""
    numbered = {table.name for table in carried_tables() if numbered_by(table) is not None}
    assert numbered == {"inbox", "events", "outbox", "runs", "people", "changes", "model_calls"}
