"""Leases: by the database's clock one worker has a thing at a time, and who lost it writes nothing in its name."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta

import pytest
from sqlalchemy import Connection, insert, select
from support.patience import PATIENCE_S

from internal.dialogue.mailbox.inbox import Inbox
from internal.errors import LeaseLost
from internal.scheduling.leases import Leases
from internal.storage import tables
from internal.storage.database import Database
from internal.storage.engine.write_guard import with_check
from internal.testing import FrozenClock

SHORT = timedelta(seconds=3)
LONG = timedelta(seconds=60)
NAME = "thing"


async def lapsed(database: Database) -> None:
    """As if its whole length had passed."""
    await database.write_separately(lambda c: c.execute(tables.leases.update().values(until=0)).rowcount)


def note(connection: Connection) -> None:
    connection.execute(insert(tables.settings).values(key="written", value=True))


async def written(database: Database) -> bool:
    return bool(await database.read(lambda c: c.execute(select(tables.settings.c.key)).all()))


class Held:
    """A unit of work that stops in its midst until it is let go."""

    def __init__(self, *, asked_first: bool) -> None:
        self.asked_first, self.tries = asked_first, 0
        self.begun, self.let_go = threading.Event(), threading.Event()

    def work(self, connection: Connection) -> None:
        self.tries += 1
        if not self.asked_first:
            connection.execute(select(tables.settings.c.key)).all()
        self.begun.set()
        self.let_go.wait(20)
        note(connection)


async def test_one_has_it_until_it_runs_out(two: tuple[Database, Database]) -> None:
    """Taken, renewed, refused to another, lost after its length, and not to be renewed when another has it."""
    one, other = Leases(two[0], "one"), Leases(two[1], "other")
    assert await one.take(NAME, LONG)
    assert not await other.take(NAME, LONG)
    assert await one.renew(NAME, LONG)
    assert not await other.renew(NAME, LONG)
    assert await one.held(NAME)
    await lapsed(two[1])
    assert not await one.held(NAME)
    assert await other.take(NAME, LONG)
    assert not await one.renew(NAME, LONG)
    assert await other.standing("th") == {NAME: "other"}
    await one.release(NAME)
    assert await other.held(NAME)
    await other.release_all()
    assert await one.take(NAME, LONG)


async def test_whoever_hangs_in_the_midst_of_renewing_is_cut_off(two: tuple[Database, Database]) -> None:
    """A machine that lost its power there would keep the rows, and nobody could take over, for as long as TCP waits."""
    patience = "SHOW idle_in_transaction_session_timeout"
    assert await two[0].write_separately(lambda c: c.exec_driver_sql(patience).scalar_one()) == "10s"


async def test_who_lost_it_writes_nothing(two: tuple[Database, Database]) -> None:
    """Whoever sleeps through his lease and wakes up after another has taken it."""
    one, other = Leases(two[0], "one"), Leases(two[1], "other")
    assert await one.take(NAME, LONG)
    with with_check(one.fence(NAME)):
        await two[0].write(lambda connection: None)
    await lapsed(two[1])
    assert await other.take(NAME, LONG)
    with with_check(one.fence(NAME)), pytest.raises(LeaseLost):
        await two[0].write(note)
    assert not await written(two[1])


async def test_what_began_before_a_takeover_and_asks_after_it(two: tuple[Database, Database]) -> None:
    """A transaction whose snapshot still shows the lease as ours is refused, too."""
    one, other = Leases(two[0], "one"), Leases(two[1], "other")
    assert await one.take(NAME, LONG)
    held, fence = Held(asked_first=False), one.fence(NAME)

    def stale(connection: Connection) -> None:
        held.work(connection)
        fence(connection)

    writing = asyncio.create_task(two[0].write(stale))
    await asyncio.to_thread(held.begun.wait, 20)
    await lapsed(two[1])
    assert await other.take(NAME, LONG)
    held.let_go.set()
    with pytest.raises(LeaseLost):
        await writing
    assert not await written(two[1])


async def test_nobody_takes_it_from_under_a_write(two: tuple[Database, Database]) -> None:
    """A lease that ran out is not taken while something is being written in its name; renewing does not wait."""
    one, other = Leases(two[0], "one"), Leases(two[1], "other")
    assert await one.take(NAME, LONG)
    held = Held(asked_first=True)
    with with_check(one.fence(NAME)):
        writing = asyncio.create_task(two[0].write(held.work))
    await asyncio.to_thread(held.begun.wait, 20)
    assert await one.renew(NAME, LONG)
    await lapsed(two[1])
    assert not await other.take(NAME, LONG)
    held.let_go.set()
    await writing
    assert held.tries == 1
    assert await written(two[1])
    assert await other.take(NAME, LONG)


async def test_a_kept_lease_is_handed_on(two: tuple[Database, Database]) -> None:
    """Renewed as long as the body runs, and the next has it soon after; a lost one cancels the body."""
    one, other = Leases(two[0], "one"), Leases(two[1], "other")
    order: list[str] = []

    async def second() -> None:
        async with other.kept(NAME, SHORT):
            order.append("other")
            await asyncio.sleep(60)

    async with one.kept(NAME, SHORT):
        waiting = asyncio.create_task(second())
        await asyncio.sleep(1)
        assert await one.held(NAME)
        order.append("one")
    while len(order) < 2:  # noqa: ASYNC110 - what is waited for happens in a database
        await asyncio.sleep(0.02)
    assert order == ["one", "other"]
    await two[0].write(lambda c: c.execute(tables.leases.update().values(holder="thief")).rowcount)
    with pytest.raises(LeaseLost):
        await asyncio.wait_for(waiting, PATIENCE_S)


async def test_a_poller_that_was_overtaken_stores_nothing(two: tuple[Database, Database]) -> None:
    """What it had asked for is the other's to store and to confirm: it is refused, and so its offset stays."""
    one, other = Leases(two[0], "one"), Leases(two[1], "other")
    assert await one.take(NAME, LONG)
    inbox = Inbox(two[0], FrozenClock(), 7)
    with with_check(one.fence(NAME)):
        assert len(await inbox.store([(1, "{}")])) == 1
        await lapsed(two[1])
        assert await other.take(NAME, LONG)
        with pytest.raises(LeaseLost):
            await inbox.store([(2, "{}")])
    with with_check(other.fence(NAME)):
        assert len(await Inbox(two[1], FrozenClock(), 7).store([(1, "{}"), (2, "{}")])) == 1
