"""Numbered rows of two workers on one PostgreSQL: no reader misses what becomes visible late."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, Table, insert, select
from support.patience import PATIENCE_S
from support.stores.stores import where_postgresql

from bot.web.http.live_stream import following
from internal.events import repository as events, timeline_repository as timeline
from internal.storage import tables
from internal.storage.change_log import record_change
from internal.storage.database import Database
from internal.storage.engine.commit_order import ReadPosition, position_at, read_on
from internal.testing import FIRST_MOMENT

OWNER, STRANGER = 1, 2
LOOK_S = 0.2
Add = Callable[[Connection, int, str], object]


def add_event(connection: Connection, user_id: int, name: str) -> str:
    return events.append(connection, name, source="system:tests", now=FIRST_MOMENT, user_id=user_id)


def add_change(connection: Connection, user_id: int, name: str) -> None:
    record_change(connection, user_id, "kind", name)


ADDED = ((tables.events, tables.events.c.event_type, add_event), (tables.changes, tables.changes.c.id, add_change))


@pytest.fixture
async def workers(tmp_path: Path) -> AsyncIterator[tuple[Database, Database]]:
    """Two processes' doors to one store with two owners."""
    address = where_postgresql(tmp_path)
    async with Database.open(address) as one, Database.open(address) as other:
        row = {"role": "member", "state": "active", "name": "", "lang": "en", "tz": "UTC", "created_at": FIRST_MOMENT}
        users = [row | {"user_id": user_id, "settings": {}} for user_id in (OWNER, STRANGER)]
        await one.write(lambda c: c.execute(insert(tables.users), users).rowcount)
        yield one, other


@asynccontextmanager
async def unfinished(database: Database, add: Add, user_id: int, name: str) -> AsyncIterator[None]:
    """A unit of work that has its number and is committed when the context is left."""
    numbered, go_on = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        add(connection, user_id, name)
        numbered.set()
        go_on.wait(20)

    writing = asyncio.create_task(database.write(work))
    await asyncio.to_thread(numbered.wait, 20)
    try:
        yield
    finally:
        go_on.set()
        await writing


async def stays_waiting(work: Awaitable[object]) -> asyncio.Future[object]:
    """The work, which is not done a moment later."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=LOOK_S)
    assert not task.done()
    return task


@pytest.mark.parametrize(("table", "name", "add"), ADDED)
async def test_rows_of_one_owner_become_visible_in_the_order_of_their_numbers(
    workers: tuple[Database, Database], table: Table, name: object, add: Add
) -> None:
    """Whoever writes second waits for the first; an owner's cursor that reads between them misses neither."""
    one, other = workers

    def behind(connection: Connection, position: int) -> list[tuple[str, int]]:
        query = select(name, table.c.seq).where(table.c.user_id == OWNER, table.c.seq > position)  # type: ignore[call-overload]
        return [tuple(row) for row in connection.execute(query.order_by(table.c.seq))]

    async with unfinished(one, add, OWNER, "first"):
        second = await stays_waiting(other.write(lambda c: add(c, OWNER, "second")))
        assert await other.read(lambda c: behind(c, 0)) == []
    await second
    read = await other.read(lambda c: behind(c, 0))
    assert [found for found, _ in read] == ["first", "second"]
    await one.write(lambda c: add(c, OWNER, "third"))
    assert [found for found, _ in await other.read(lambda c: behind(c, read[-1][1]))] == ["third"]


@pytest.mark.parametrize(("table", "name", "add"), ADDED)
async def test_owners_do_not_wait_for_one_another_and_none_is_missed(
    workers: tuple[Database, Database], table: Table, name: object, add: Add
) -> None:
    """A number that was skipped is looked for again, also by who began to read when it was skipped already."""
    one, other = workers

    def look(connection: Connection, since: ReadPosition) -> tuple[list[str], ReadPosition]:
        fresh, here = read_on(connection, table, since)
        return list(connection.execute(select(name).where(fresh).order_by(table.c.seq)).scalars()), here  # type: ignore[call-overload]

    before = await other.read(lambda c: position_at(c, table))
    async with unfinished(one, add, OWNER, "late"):
        await other.write(lambda c: add(c, STRANGER, "early"))
        found, there = await other.read(lambda c: look(c, before))
        assert found == ["early"]
        between = await other.read(lambda c: position_at(c, table))
        assert await other.read(lambda c: look(c, between)) == ([], between)
    for since in (there, between):
        found, here = await other.read(lambda c, since=since: look(c, since))  # type: ignore[misc]
        assert found == ["late"]
        assert await other.read(lambda c, here=here: look(c, here)) == ([], here)  # type: ignore[misc]
    found, _ = await other.read(lambda c: look(c, before))
    assert found == ["late", "early"]


async def test_who_read_earlier_is_told_again_what_may_have_come_since(workers: tuple[Database, Database]) -> None:
    """A page was read while an event was under way; the stream from its last event on tells that too."""
    one, other = workers
    async with unfinished(one, add_event, OWNER, "late"):
        await other.write(lambda c: add_event(c, STRANGER, "early"))
        [read_position] = await other.read(lambda c: timeline.events_before(c, timeline.Wanted(None), None, limit=10))
    since = await other.read(lambda c: position_at(c, tables.events, read_position.position, again=10))
    found, _ = await other.read(lambda c: timeline.new_since(c, timeline.Wanted(None), since, limit=10))
    assert [one.event.event_type for one in found] == ["late", "early"]


async def test_a_stream_of_everybody_tells_what_is_late(workers: tuple[Database, Database]) -> None:
    """By a limit of one event a look, each is told once."""
    one, other = workers
    stopping, told = asyncio.Event(), asyncio.Queue[str]()
    since = await other.read(lambda c: position_at(c, tables.events))

    async def admitted() -> bool:
        return True

    def look(
        wanted: timeline.Wanted, since: ReadPosition, connection: Connection
    ) -> tuple[Sequence[str], ReadPosition]:
        found, here = timeline.new_since(connection, wanted, since, limit=1)
        return [one.event.event_type for one in found], here

    async def read() -> None:
        async for one in following(other, stopping, admitted, since, partial(look, timeline.Wanted(None))):
            if one is not None:
                told.put_nowait(one)

    reading = asyncio.create_task(read())
    async with asyncio.timeout(PATIENCE_S):
        async with unfinished(one, add_event, OWNER, "late"):
            for name in ("early", "next"):
                await other.write(lambda c, name=name: add_event(c, STRANGER, name))  # type: ignore[misc]
            assert [await told.get(), await told.get()] == ["early", "next"]
        assert await told.get() == "late"
        stopping.set()
        await reading
    assert told.empty()
