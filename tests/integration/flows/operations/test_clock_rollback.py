"""The clock is set back: what waited for a moment waits for no longer than before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection, insert, select
from support.stores.stores import where

from internal.access import service as access
from internal.access.model import Author
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.flows.operations.clock_rollback import ClockRollback
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import dialogue_state, outbox
from internal.testing import FrozenClock

USER, DAY, MINUTE = 7, timedelta(days=1), timedelta(minutes=1)


class World:
    """A stored reply that waits, an active dialogue, and two clocks: one that can be set, one that only counts."""

    def __init__(self, database: Database) -> None:
        self.database, self.clock, self.passed = database, FrozenClock(), 0.0

    def watch(self, **more: timedelta) -> ClockRollback:
        return ClockRollback(self.database, self.clock, monotonic=lambda: self.passed, **more)

    def live(self, seconds: float) -> None:
        self.passed += seconds
        self.clock.advance(seconds)

    async def wait_until(self, due_at: datetime, active: datetime) -> None:
        now = self.clock.now()

        def work(connection: Connection) -> None:
            access.admit(connection, Author(USER, "Olena"), allowed={USER}, admit_all=False, now=now)
            row = mailbox.enqueue(connection, Outgoing(USER, 1, USER, "Hi", "key"), now)
            mailbox.postpone(connection, USER, row or "", due_at, "429")
            connection.execute(insert(dialogue_state).values(user_id=USER, is_active=True, last_activity=active))

        await self.database.write(work)

    async def waits(self) -> timedelta:
        due_at: datetime = await self.database.read(lambda c: c.execute(select(outbox.c.due_at)).scalar_one())
        return due_at - self.clock.now()

    async def silent(self) -> timedelta:
        query = select(dialogue_state.c.last_activity)
        last: datetime = await self.database.read(lambda c: c.execute(query).scalar_one())
        return self.clock.now() - last


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with Database.open(where(tmp_path)) as database:
        await database.exclusive(migrate)
        yield World(database)


async def test_what_waits_comes_nearer_by_what_the_clock_went_back(world: World) -> None:
    """Of ten minutes to wait, one has passed: nine are left, not a day and nine minutes."""
    watch = world.watch()
    await watch.look()
    await world.wait_until(world.clock.now() + 10 * MINUTE, world.clock.now())
    world.live(60)
    world.clock.advance(-DAY)
    await watch.look()
    assert await world.waits() == 9 * MINUTE
    assert await world.silent() == MINUTE


async def test_what_was_due_is_due(world: World) -> None:
    """What the old clock had called due is due by the new one, and who was silent then is silent now."""
    watch = world.watch()
    await watch.look()
    await world.wait_until(world.clock.now() + MINUTE, world.clock.now())
    world.live(300)
    world.clock.advance(-DAY)
    await watch.look()
    assert await world.waits() == -4 * MINUTE
    assert await world.silent() == 5 * MINUTE


@pytest.mark.parametrize("jump", [timedelta(0), DAY, -timedelta(seconds=4)])
async def test_any_other_clock_changes_nothing(world: World, jump: timedelta) -> None:
    """One that goes right, one set forward, and one that is corrected by a little."""
    watch = world.watch()
    await watch.look()
    await world.wait_until(world.clock.now() + 10 * MINUTE, world.clock.now())
    world.live(60)
    world.clock.advance(jump)
    await watch.look()
    assert await world.waits() == 9 * MINUTE - jump


@pytest.mark.parametrize(("waits", "left"), [(DAY, timedelta(0)), (MINUTE, MINUTE)])
async def test_a_clock_set_back_between_two_runs_is_noticed_at_the_start(
    world: World, waits: timedelta, left: timedelta
) -> None:
    """Nothing that a right clock stored waits for a day; what waits for a minute goes on waiting."""
    await world.wait_until(world.clock.now() + waits, world.clock.now() + waits)
    await world.watch().look()
    assert await world.waits() == left
    assert await world.silent() == timedelta(0)


async def test_a_pause_that_was_configured_is_kept(world: World) -> None:
    """`runs.retry_max` may be longer than an hour."""
    await world.wait_until(world.clock.now() + 3 * 60 * MINUTE, world.clock.now())
    await world.watch(longest=4 * 60 * MINUTE).look()
    assert await world.waits() == 3 * 60 * MINUTE


async def test_what_another_process_made_up_for_is_not_made_up_for_again(world: World) -> None:
    """Two see the same clock go back: the one that keeps it looks, the other forgets, and takes over afterwards."""
    keeper, other = world.watch(), world.watch()
    await keeper.look()
    await other.look()
    await world.wait_until(world.clock.now() + 10 * MINUTE, world.clock.now())
    world.clock.advance(-3 * MINUTE)
    await keeper.look()
    other.forget()
    await other.look()
    await other.look()
    assert await world.waits() == 10 * MINUTE
