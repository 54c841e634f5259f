"""The one door to the database: shared commits, lone failures, snapshots, a full disk, an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError
from support.long import examples
from support.stores.stores import where

from internal.errors import StorageError
from internal.storage.database import GROUP, READERS, Database, Work
from internal.storage.engine import shared_reads


def add(word: str) -> Work[str]:
    def work(connection: Connection) -> str:
        connection.execute(text("INSERT INTO notes VALUES (:word)"), {"word": word})
        return word

    return work


def failing(word: str) -> Work[str]:
    def work(connection: Connection) -> str:
        add(word)(connection)
        raise RuntimeError(word)

    return work


def broken_read(_: Connection) -> str:
    raise RuntimeError("read")


def words(connection: Connection) -> set[str]:
    return set(connection.exec_driver_sql("SELECT word FROM notes").scalars())


def on_disk(folder: Path) -> set[str]:
    """What another program sees: only what is committed."""
    store, query = where(folder), "SELECT word FROM notes"
    if isinstance(store, str):
        with psycopg.connect(store) as server:
            return {word for (word,) in server.execute(query)}
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as other:
        return {word for (word,) in other.execute(query)}


class Gate:
    """A write that holds the database thread until it is opened, so that other writes have to wait together."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._entered, self._opened = threading.Event(), threading.Event()

    async def __aenter__(self) -> Gate:
        self._held = asyncio.create_task(self._database.write(self._wait))
        await asyncio.to_thread(self._entered.wait, 10)
        return self

    def _wait(self, _: Connection) -> None:
        self._entered.set()
        self._opened.wait(10)

    async def __aexit__(self, *_: object) -> None:
        self._opened.set()
        await self._held


def commits(database: Database) -> int:
    """How many transactions were written: the WAL's frames that end one carry the size of the database."""
    wal = database.path.with_name(f"{database.path.name}-wal").read_bytes()
    page_size = int.from_bytes(wal[8:12], "big")
    frames = range(32, len(wal), 24 + page_size)
    salt = wal[16:24]
    return sum(1 for at in frames if wal[at + 8 : at + 16] == salt and int.from_bytes(wal[at + 4 : at + 8], "big") > 0)


async def test_result_is_returned_once_it_is_on_disk(notes: Database, tmp_path: Path) -> None:
    """A finished write is seen by another program at once."""
    assert await notes.write(add("one")) == "one"
    assert on_disk(tmp_path) == {"one"}


async def test_writes_that_wait_share_one_commit(notes: Database, tmp_path: Path) -> None:
    """However many wait while one is written, the disk is asked once for all of them."""
    before = commits(notes)
    async with Gate(notes):
        waiting = [asyncio.create_task(notes.write(add(str(n)))) for n in range(50)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*waiting) == [str(n) for n in range(50)]
    assert commits(notes) == before + 1
    assert len(on_disk(tmp_path)) == 50


async def test_group_is_bounded(notes: Database) -> None:
    """More than one group's worth of writes takes as many commits as it has groups."""
    before = commits(notes)
    async with Gate(notes):
        waiting = [asyncio.create_task(notes.write(add(str(n)))) for n in range(GROUP + 1)]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert commits(notes) == before + 2


async def test_writes_keep_their_order(notes: Database) -> None:
    """Who asked first is written first, shared commit or not."""
    order: list[int] = []
    async with Gate(notes):
        waiting = [asyncio.create_task(notes.write(lambda _, n=n: order.append(n))) for n in range(20)]  # type: ignore[misc]  # mypy cannot see a lambda's default
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert order == list(range(20))


async def test_work_that_raises_is_undone_alone(notes: Database, tmp_path: Path) -> None:
    """Its neighbours in the same commit are kept, and its own error reaches its own caller."""
    async with Gate(notes):
        waiting = [asyncio.create_task(notes.write(work)) for work in (add("a"), failing("b"), add("c"))]
        await asyncio.sleep(0)
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [results[0], results[2]] == ["a", "c"]
    assert isinstance(results[1], RuntimeError)
    assert on_disk(tmp_path) == {"a", "c"}


async def test_broken_rule_is_undone_alone_too(notes: Database, tmp_path: Path) -> None:
    """A constraint that SQLite itself refuses costs nobody else their write."""
    await notes.write(add("twice"))
    async with Gate(notes):
        waiting = [asyncio.create_task(notes.write(work)) for work in (add("x"), add("twice"), add("y"))]
        await asyncio.sleep(0)
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(results[1], IntegrityError)
    assert on_disk(tmp_path) == {"twice", "x", "y"}


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=st.lists(st.booleans(), max_size=30))
async def test_any_mixture_keeps_exactly_what_succeeded(notes: Database, plan: list[bool]) -> None:
    """Whichever of the works in a group fail, the store holds those that did not."""
    before = await notes.read(words)
    names = [f"{len(before)}-{n}" for n in range(len(plan))]
    works = [add(name) if good else failing(name) for name, good in zip(names, plan, strict=True)]
    results = await asyncio.gather(*(notes.write(work) for work in works), return_exceptions=True)
    assert [result == name for result, name in zip(results, names, strict=True)] == plan
    assert await notes.read(words) == before | {name for name, good in zip(names, plan, strict=True) if good}


async def test_cancelled_while_waiting_is_skipped(notes: Database, tmp_path: Path) -> None:
    """Work that has not begun is not done for a caller who no longer waits."""
    async with Gate(notes):
        doomed, kept = asyncio.create_task(notes.write(add("doomed"))), asyncio.create_task(notes.write(add("kept")))
        await asyncio.sleep(0)
        doomed.cancel()
        await asyncio.wait({doomed})
    await kept
    assert doomed.cancelled()
    assert on_disk(tmp_path) == {"kept"}


async def test_cancelled_while_running_is_finished(notes: Database, tmp_path: Path) -> None:
    """Work that has begun is committed whole, and its neighbour does not notice."""
    entered, opened = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        add("begun")(connection)
        entered.set()
        opened.wait(10)

    begun = asyncio.create_task(notes.write(slow))
    await asyncio.to_thread(entered.wait, 10)
    begun.cancel()
    following = asyncio.create_task(notes.write(add("next")))
    opened.set()
    assert await following == "next"
    assert begun.cancelled()
    assert on_disk(tmp_path) == {"begun", "next"}


async def test_reader_sees_every_finished_write(notes: Database) -> None:
    """A read that starts after a write's end holds it."""
    for n in range(20):
        await notes.write(add(str(n)))
        assert str(n) in await notes.read(words)


async def test_glance_sees_every_finished_write_and_cannot_write(notes: Database, tmp_path: Path) -> None:
    """What is read at hand, without another thread, is what a reader would have read, and nothing more is allowed."""
    await notes.write(add("one"))
    assert await notes.read_quickly(words) == {"one"}
    with pytest.raises(Exception, match=r"read-?only"):
        await notes.read_quickly(add("two"))
    await notes.write(add("three"))
    assert await notes.read_quickly(words) == {"one", "three"}
    with pytest.raises(RuntimeError, match="read"):
        await notes.read_quickly(broken_read)


async def test_reader_keeps_one_snapshot(notes: Database) -> None:
    """A read sees the same store from beginning to end, whatever is written meanwhile."""
    entered, opened = threading.Event(), threading.Event()

    def twice(connection: Connection) -> tuple[set[str], set[str]]:
        first = words(connection)
        entered.set()
        opened.wait(10)
        return first, words(connection)

    reading = asyncio.create_task(notes.read(twice))
    await asyncio.to_thread(entered.wait, 10)
    await notes.write(add("meanwhile"))
    opened.set()
    assert await reading == (set(), set())
    assert await notes.read(words) == {"meanwhile"}


async def test_reader_cannot_write(notes: Database, tmp_path: Path) -> None:
    """A read that tries to change something is refused and changes nothing."""
    with pytest.raises(Exception, match=r"read-?only"):
        await notes.read(add("sneaked"))
    assert on_disk(tmp_path) == set()


async def test_more_readers_than_connections_take_turns(notes: Database) -> None:
    """A failing read gives its connection back; everybody is served."""
    await notes.write(add("one"))
    broken = await asyncio.gather(*(notes.read(broken_read) for _ in range(READERS * 4)), return_exceptions=True)
    assert {type(result) for result in broken} == {RuntimeError}
    assert await asyncio.gather(*(notes.read(words) for _ in range(READERS * 4))) == [{"one"}] * READERS * 4


async def test_reads_that_are_asked_for_together_share_a_snapshot(
    notes: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One crossing to one connection: none sees another state than its neighbour, and one that fails fails alone."""
    monkeypatch.setattr(shared_reads, "SLOW_READ_S", 60.0)
    places: list[int] = []

    def place(connection: Connection) -> set[str]:
        places.append(threading.get_ident())
        return words(connection)

    def refused(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT word FROM nowhere")

    await notes.write(add("one"))
    asked = (place, refused, place, broken_read, place)
    found = await asyncio.gather(*(notes.read(work) for work in asked), return_exceptions=True)
    assert [found[n] for n in (0, 2, 4)] == [{"one"}] * 3
    assert "nowhere" in str(found[1])
    assert isinstance(found[3], RuntimeError)
    assert len(set(places)) == 1


async def test_a_slow_read_holds_up_nobody_who_asked_with_it(notes: Database) -> None:
    """The reads before it are handed out, those behind it go to another connection."""
    opened = threading.Event()
    before, slow, behind = [asyncio.create_task(notes.read(work)) for work in (words, lambda _: opened.wait(30), words)]
    assert await asyncio.gather(before, behind) == [set(), set()]
    assert not slow.done()
    opened.set()
    await slow


async def test_full_disk_is_told_and_survived(notes: Database, tmp_path: Path) -> None:
    """A write for which there is no room raises StorageError; once there is room, the next one works."""

    def limit(connection: Connection, pages: int) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    await notes.write(add("before"))
    await notes.exclusive(lambda connection: limit(connection, 1))
    with pytest.raises(StorageError, match="full") as raised:
        await notes.write(add("much " * 100_000))
    assert "much" not in str(raised.value)
    await notes.exclusive(lambda connection: limit(connection, 1_000_000))
    await notes.write(add("after"))
    assert on_disk(tmp_path) == {"before", "after"}


async def test_full_disk_fails_the_whole_group_honestly(notes: Database, tmp_path: Path) -> None:
    """When SQLite takes the transaction back, no neighbour is told that his write was kept."""
    await notes.exclusive(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count=1"))
    async with Gate(notes):
        waiting = [asyncio.create_task(notes.write(work)) for work in (add("small"), add("big " * 100_000))]
        await asyncio.sleep(0)
    results = await asyncio.gather(*waiting, return_exceptions=True)
    kept = {result for result in results if isinstance(result, str)}
    assert on_disk(tmp_path) == kept
    assert any(isinstance(result, StorageError) for result in results)


async def test_close_finishes_what_waits(tmp_path: Path) -> None:
    """Writes that were asked for before the end are on disk after it."""
    async with Database.open(where(tmp_path, empty=True)) as database:
        await database.exclusive(lambda c: c.exec_driver_sql("CREATE TABLE notes (word TEXT PRIMARY KEY)"))
        waiting = [asyncio.create_task(database.write(add(str(n)))) for n in range(30)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*waiting) == [str(n) for n in range(30)]
    assert len(on_disk(tmp_path)) == 30


async def test_closed_database_takes_nothing(tmp_path: Path) -> None:
    """A write after the end is refused instead of waiting for ever."""
    async with Database.open(where(tmp_path, empty=True)) as database:
        pass
    with pytest.raises(StorageError, match="closed"):
        await database.write(add("late"))


async def test_close_leaves_no_log_behind(tmp_path: Path) -> None:
    """An orderly end checkpoints: the one file is the whole database."""
    async with Database.open(tmp_path / "laplaced.db") as database:
        await database.exclusive(lambda c: c.exec_driver_sql("CREATE TABLE notes (word TEXT PRIMARY KEY)"))
        await database.write(add("one"))
    assert os.listdir(tmp_path) == ["laplaced.db"]


async def test_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    """Another file in the database's place is a nameable failure and stays as it is."""
    (tmp_path / "laplaced.db").write_text("dear diary " * 100, encoding="utf-8")
    with pytest.raises(StorageError, match=r"laplaced\.db: file is not a database"):
        async with Database.open(tmp_path / "laplaced.db"):
            pass
    assert (tmp_path / "laplaced.db").read_text(encoding="utf-8").startswith("dear diary")


async def test_folder_that_cannot_hold_it_is_told(tmp_path: Path) -> None:
    """A path that leads through a file is a nameable failure."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StorageError):
        async with Database.open(tmp_path / "file" / "laplaced.db"):
            pass


async def test_writes_are_durable_and_deletes_thorough(notes: Database) -> None:
    """The settings that durability and forgetting rest on are really on."""
    pragmas = ["journal_mode", "synchronous", "secure_delete", "foreign_keys"]
    found = await notes.exclusive(
        lambda connection: [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in pragmas]
    )
    assert found == ["wal", 2, 1, 1]
