"""Keys of what owners have lead with the owner on PostgreSQL: a distributed one spreads its tables by that."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import pytest
import pytest_asyncio
from sqlalchemy import Connection, insert, select, text
from support.stores import stores

from internal.storage.database import Database
from internal.storage.tables import changes, events, metadata
from internal.storage.transfer.row_copy import read_batch
from internal.testing import FIRST_MOMENT

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(stores.wanted() == stores.SQLITE, reason="SQLite is never spread over machines"),
]

LOCAL: Final = {"agent_state", "console_links", "console_sessions", "inbox"}
"""Tables of the house that have an owner as a column, and stay on one machine."""

_UNIQUE = """
SELECT t.relname AS of, i.relname AS name, a.attname AS leading
FROM pg_index x
JOIN pg_class t ON t.oid = x.indrelid AND t.relnamespace = 'public'::regnamespace
JOIN pg_class i ON i.oid = x.indexrelid
LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
WHERE x.indisunique
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.fixturenames.append("store")
    metafunc.parametrize("store", [stores.POSTGRESQL])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def database(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with Database.open(stores.where(tmp_path_factory.mktemp("keys"))) as opened:
        yield opened


async def test_every_unique_index_leads_with_the_owner(database: Database) -> None:
    """Read from the catalogue: the primary keys, the constraints, and the indexes that are unique by themselves."""
    spread = {table.name for table in metadata.sorted_tables if "user_id" in table.c} - LOCAL
    found = await database.read(lambda c: c.execute(text(_UNIQUE)).all())
    assert {row.of for row in found} >= spread
    assert [(row.of, row.name) for row in found if row.of in spread and row.leading != "user_id"] == []


async def test_every_table_of_owners_has_a_primary_key_without_null(database: Database) -> None:
    """A row is put on a machine by its owner, so each has one: 0 is the house."""
    query = (
        "SELECT table_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND column_name = 'user_id' AND is_nullable = 'YES'"
    )
    nullable = set(await database.read(lambda c: c.execute(text(query)).scalars().all()))
    assert nullable == {"agent_state", "console_sessions", "inbox"}


async def test_what_is_nobodys_is_the_houses(database: Database) -> None:
    """An event of the house is stored under 0, told without an owner, and numbered like any other."""

    def work(connection: Connection) -> tuple[list[int | None], list[int]]:
        told = {"timestamp": FIRST_MOMENT, "event_type": "t", "source": "system:t", "payload": {}}
        for n, owner in enumerate((None, 7, None)):
            connection.execute(insert(events).values(id=f"e{n}", user_id=owner, **told))
        owners = connection.execute(select(events.c.user_id).order_by(events.c.seq)).scalars().all()
        stored = connection.execute(text("SELECT user_id FROM events ORDER BY seq")).scalars().all()
        return list(owners), list(stored)

    assert await database.write(work) == ([None, 7, None], [0, 7, 0])


async def test_what_is_carried_is_read_along_the_key(database: Database) -> None:
    """Batches go on behind the owner and the number, so that each is read from the index of the key."""

    def work(connection: Connection) -> list[list[object]]:
        for owner in (9, 8, 9, 8):
            connection.execute(insert(changes).values(user_id=owner, kind="k", id="i", op="put"))
        places, after = [], None
        while (batch := read_batch(connection, changes, after, 1)).rows:
            after = batch.last
            places.append(after)
        return places

    places = await database.write(work)
    assert [place[0] for place in places] == [8, 8, 9, 9]
    assert places == sorted(places)
