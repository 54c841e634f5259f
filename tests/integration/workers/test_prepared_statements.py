"""Repeated statements are prepared on a connection to PostgreSQL itself, and never behind a pooler."""

import asyncio
from pathlib import Path

from sqlalchemy import Connection, bindparam, select
from support.faults.fleet import server

from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import users

_NAME = select(users.c.name).where(users.c.user_id == bindparam("owner"))


def ask_often(connection: Connection) -> int:
    """Asks the same ten times. Returns how many statements this connection has prepared."""
    for owner in range(10):
        connection.execute(_NAME, {"owner": owner}).all()
    return connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar_one()


async def test_the_server_itself_keeps_what_is_asked_again(two: tuple[Database, Database]) -> None:
    """Both what writes and what reads."""
    assert await two[0].write(ask_often) > 0
    assert await two[0].read(ask_often) > 0


async def test_behind_a_pooler_nothing_is_prepared(tmp_path: Path) -> None:
    """Its connections go from one client to another, who would meet statements that the other has or lacks."""
    with server(tmp_path / "pooler") as both:
        async with Database.open(both.pooled) as first, Database.open(both.pooled) as second:
            await first.exclusive(migrate)
            for _ in range(5):
                answers = await asyncio.gather(*(one.write(ask_often) for one in (first, second, first, second)))
                assert answers == [0, 0, 0, 0]
