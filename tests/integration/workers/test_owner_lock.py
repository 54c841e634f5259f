"""Two processes that write about one owner wait one behind the other, and never each for the other."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, select, text

from internal.access import repository as access
from internal.access.model import Role, User, UserState
from internal.events import repository as events
from internal.storage.database import Database
from internal.storage.owner_counters import next_rev, next_seq
from internal.storage.tables import users
from internal.testing import FIRST_MOMENT

OWNER = 7
WAITS = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
    " WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted AND objid = :owner"
)


def tell(connection: Connection) -> None:
    events.append(connection, "told", source="test", now=FIRST_MOMENT, user_id=OWNER)


@pytest.mark.parametrize(
    "touch",
    [
        lambda c: next_rev(c, OWNER),
        lambda c: next_seq(c, OWNER),
        lambda c: access.change(c, OWNER, tz="Europe/Kyiv"),
    ],
    ids=["rev", "seq", "change"],
)
async def test_the_owners_lock_comes_before_his_row(
    two: tuple[Database, Database], touch: Callable[[Connection], object]
) -> None:
    """One has numbered an event and wants the row; the other, who wants both too, does not have the row yet."""
    owner = User(OWNER, Role.MEMBER, UserState.ACTIVE, "Olena", None, "en", "UTC", True, FIRST_MOMENT)
    await two[0].write(lambda c: access.add(c, owner))
    told, waits = threading.Event(), []

    def event_first(connection: Connection) -> None:
        tell(connection)
        told.set()
        deadline = time.monotonic() + 20
        while not connection.execute(WAITS, {"owner": OWNER}).scalar_one() and time.monotonic() < deadline:
            time.sleep(0.01)
        waits.append(connection.execute(WAITS, {"owner": OWNER}).scalar_one())
        connection.execute(select(users.c.user_id).where(users.c.user_id == OWNER).with_for_update(nowait=True))
        touch(connection)

    def row_first(connection: Connection) -> None:
        touch(connection)
        tell(connection)

    first = asyncio.create_task(two[0].write(event_first))
    await asyncio.to_thread(told.wait, 20)
    await two[1].write(row_first)
    await first
    assert waits == [1]
    assert len(await two[0].read(lambda c: events.listing(c, OWNER, event_type="told"))) == 2
