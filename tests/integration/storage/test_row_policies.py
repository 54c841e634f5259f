"""The policies of PostgreSQL: what a statement without a condition reaches, and who could take them away."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextvars import Context
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    Float,
    LargeBinary,
    Table,
    Text as AnyText,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError
from support.stores import stores

from internal.errors import Refused
from internal.graph import store
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone, current_scope, narrow_to
from internal.storage.engine.postgres_server import read_server
from internal.storage.engine.row_policies import SYSTEM_ROWS, across_owners, tables_with_policy
from internal.storage.migration import migrate
from internal.storage.tables import graph_nodes, metadata
from internal.storage.types import Timestamp

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(stores.wanted() == stores.SQLITE, reason="SQLite has no such wall"),
]

ALICE, BOB, NOBODY = 1, 2, None
NOW = datetime(2026, 2, 8, 12, tzinfo=UTC)

_numbers = itertools.count(1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.fixturenames.append("store")
    metafunc.parametrize("store", [stores.POSTGRESQL])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def database(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    """A store in which Alice and Bob have a row in every table that has an owner, and the house where it may."""
    async with Database.open(stores.where(tmp_path_factory.mktemp("walls"))) as opened:
        await opened.exclusive(migrate)
        with acting_for_everyone():
            await opened.write(_fill)
        yield opened


def _fill(connection: Connection) -> None:
    for table in tables_with_policy():
        for owner in (ALICE, BOB, *([NOBODY] if table.name in SYSTEM_ROWS else [])):
            connection.execute(insert(table).values(row(table, owner)))


def row(table: Table, owner: int | None) -> dict[str, Any]:
    """A row that says nothing, and nothing that another row says."""
    return {
        column.name: owner if column.name == "user_id" else _value(column.type)
        for column in table.c
        if column.name == "user_id" or not column.nullable
    }


def _value(kind: Any) -> Any:
    n = next(_numbers)
    plain = {JSON: {}, Boolean: False, Float: 0.5, LargeBinary: b"", Timestamp: NOW, AnyText: f"text {n}"}
    return next((value for one, value in plain.items() if isinstance(kind, one)), n)


def owners(connection: Connection, table: Table) -> set[int | None]:
    """Whose rows a statement without a condition reaches."""
    return set(connection.execute(select(table.c.user_id)).scalars())


class _Undone(Exception):
    """What a unit of work raises to leave nothing behind."""


async def test_an_owner_reaches_his_own_rows(database: Database) -> None:
    """Every table shows Bob his rows alone, neither Alice's nor those of the house."""
    with acting_for(BOB):
        seen = await database.read(lambda c: {table.name: owners(c, table) for table in tables_with_policy()})
    assert {name for name, found in seen.items() if found != {BOB}} == set()


async def test_the_house_reaches_all(database: Database) -> None:
    """Work for everyone sees the rows of both, and those that are nobody's."""
    with acting_for_everyone():
        seen = await database.read(lambda c: {table.name: owners(c, table) for table in tables_with_policy()})
    house = {name for name, found in seen.items() if NOBODY in found}
    assert house == SYSTEM_ROWS.keys()
    assert all({ALICE, BOB} <= found for found in seen.values())


async def test_whoever_was_not_told_for_whom_reaches_nothing(database: Database) -> None:
    """Without a scope every table is empty, and takes no row of anybody."""

    def work(connection: Connection) -> dict[str, set[int | None]]:
        for table in tables_with_policy():
            for owner in (ALICE, NOBODY) if table.name in SYSTEM_ROWS else (ALICE,):
                _expect_refused(connection, insert(table).values(row(table, owner)))
        return {table.name: owners(connection, table) for table in tables_with_policy()}

    seen = await asyncio.create_task(database.write(work), context=Context())
    assert {name for name, found in seen.items() if found} == set()


async def test_a_forgotten_where_changes_ones_own_rows_alone(database: Database) -> None:
    """What Bob updates or deletes without a condition is his; Alice's rows and the house's are as they were."""

    def work(connection: Connection) -> None:
        with across_owners(connection):
            before = {table.name: _others(connection, table) for table in tables_with_policy()}
        for table in tables_with_policy():
            assert connection.execute(update(table).values(user_id=table.c.user_id)).rowcount == 1
            assert connection.execute(delete(table)).rowcount == 1
        with across_owners(connection):
            assert {table.name: _others(connection, table) for table in tables_with_policy()} == before
        raise _Undone

    with acting_for(BOB), pytest.raises(_Undone):
        await database.write(work)


async def test_nobody_writes_for_another(database: Database) -> None:
    """Bob can neither add a row for Alice or the house, nor make one of his hers, in any table."""

    def work(connection: Connection) -> None:
        for table in tables_with_policy():
            for owner in (ALICE, NOBODY) if table.name in SYSTEM_ROWS else (ALICE,):
                _expect_refused(connection, insert(table).values(row(table, owner)))
                _expect_refused(connection, update(table).values(user_id=owner))

    with acting_for(BOB):
        await database.write(work)


async def test_one_looks_across_as_long_as_one_says_so(database: Database) -> None:
    """The few questions about several owners reach all; behind them the wall stands again, after a failure too."""
    users = metadata.tables["users"]

    def work(connection: Connection) -> None:
        with across_owners(connection):
            with across_owners(connection):
                assert owners(connection, users) == {ALICE, BOB}
            assert owners(connection, users) == {ALICE, BOB}
        assert owners(connection, users) == {BOB}
        with pytest.raises(ValueError, match="stop"), across_owners(connection):
            raise ValueError("stop")
        assert owners(connection, users) == {BOB}
        with pytest.raises(DBAPIError), connection.begin_nested(), across_owners(connection):
            connection.exec_driver_sql("SELECT 1/0")
        assert owners(connection, users) == {BOB}

    with acting_for(BOB):
        await database.write(work)


async def test_who_acts_for_nobody_looks_across_nothing(database: Database) -> None:
    """A unit of work that was not told for whom it is done does not get around that."""

    def work(connection: Connection) -> set[int | None]:
        with across_owners(connection):
            return owners(connection, metadata.tables["users"])

    assert await asyncio.create_task(database.read(work), context=Context()) == set()


async def test_units_of_one_commit_keep_their_own_scope(database: Database) -> None:
    """Work of several owners that is committed together reaches each one's own rows, also after one that failed."""
    users = metadata.tables["users"]

    def failing(connection: Connection) -> set[int | None]:
        connection.exec_driver_sql("SELECT 1/0")
        raise AssertionError

    async def begun(owner: int, work: Any) -> Any:
        with acting_for(owner):
            return await database.write(work)

    waiting = [begun(ALICE, lambda c: owners(c, users)), begun(BOB, failing), begun(BOB, lambda c: owners(c, users))]
    first, failed, last = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(failed, DBAPIError)
    assert (first, last) == ({ALICE}, {BOB})


async def test_the_role_cannot_look_over_the_wall(database: Database) -> None:
    """It is no superuser, cannot become one or bypass policies, and to switch them off only makes statements fail."""

    def work(connection: Connection) -> None:
        role = read_server(connection)
        assert not role.superuser
        assert not role.bypasses_policies
        for order in ("SET ROLE postgres", "ALTER ROLE CURRENT_USER BYPASSRLS", "ALTER ROLE CURRENT_USER SUPERUSER"):
            with pytest.raises(DBAPIError), connection.begin_nested():
                connection.exec_driver_sql(order)
        connection.exec_driver_sql("SET LOCAL row_security = off")
        with pytest.raises(DBAPIError, match="row-level security"):
            owners(connection, metadata.tables["users"])
        raise _Undone

    with acting_for(BOB), pytest.raises(_Undone):
        await database.write(work)


async def test_every_table_of_the_database_is_walled(database: Database) -> None:
    """What the server itself says: policies hold the tables' owner too, wherever there is a `user_id`."""
    with_owner = (
        "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class JOIN pg_attribute a ON a.attrelid = oid"
        " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attname = 'user_id'"
    )
    found: dict[str, bool] = await database.read(lambda c: dict(list(c.exec_driver_sql(with_owner))))
    assert found == {table.name: True for table in tables_with_policy()}


async def test_the_owners_indexes_are_used_behind_the_wall(database: Database) -> None:
    """A policy does not keep the planner from looking an owner up in an index that begins with him."""
    asked = {
        "messages": "user_id = 2 AND seq BETWEEN 5 AND 9",
        "graph_edges": "user_id = 2 AND source = 'n' AND type = 't'",
        "facts": "user_id = 2 AND claim_id = 'c'",
        "events": "user_id = 2 AND seq > 5",
        "notifications": "user_id = 2 AND dedupe = 'd'",
    }

    def work(connection: Connection) -> dict[str, str]:
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        connection.exec_driver_sql("SET LOCAL enable_bitmapscan = off")
        plans = {}
        for table, condition in asked.items():
            lines = connection.exec_driver_sql(f"EXPLAIN SELECT * FROM {table} WHERE {condition}").scalars()
            plans[table] = next((line for line in lines if "Index Cond" in line), "")
        return plans

    with acting_for(BOB):
        plans = await database.read(work)
    assert {table for table, plan in plans.items() if "user_id = 2" not in plan} == set()


async def test_an_id_that_somebody_else_has_is_taken(database: Database) -> None:
    """Bob cannot see Alice's node, nor have one of the same id: nodes are asked for by their id alone too."""
    with acting_for_everyone():
        hers = select(graph_nodes.c.id).where(graph_nodes.c.user_id == ALICE).limit(1)
        node_id = await database.read(lambda c: c.execute(hers).scalar_one())
    with acting_for(BOB), pytest.raises(Refused, match="already"):
        await database.write(lambda c: store.add_node(c, BOB, "Entity", {"name": "x"}, now=NOW, node_id=node_id))


async def test_a_scope_ends_with_its_block() -> None:
    """Whoever becomes known inside a block is acted for until its end."""
    before = current_scope()
    with acting_for(BOB):
        assert current_scope() == "2"
        narrow_to(ALICE)
        assert current_scope() == "1"
    assert current_scope() == before


def _expect_refused(connection: Connection, statement: Any) -> None:
    with pytest.raises(DBAPIError, match="row-level security"), connection.begin_nested():
        connection.execute(statement)


def _others(connection: Connection, table: Table) -> int:
    kept = (table.c.user_id == ALICE) | (table.c.user_id == NOBODY)
    return connection.execute(select(func.count()).select_from(table).where(kept)).scalar_one()
