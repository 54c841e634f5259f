"""Brings a database to the schema of this program: on start, in one transaction, and never backwards."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection
from sqlalchemy.dialects import registry
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

import migrations
from internal.errors import SchemaTooNew, StorageError
from internal.storage.database import Database
from internal.storage.engine.commit_order import keep_order
from internal.storage.engine.driver import cause_of
from internal.storage.engine.owner_scope import EVERYONE
from internal.storage.engine.row_policies import SETTING, raise_walls
from internal.storage.row_ids import stands_on
from internal.storage.tables import metadata

_MIGRATION_LOCK: Final = 0x6C61_706C_6163_6564
"""The advisory lock that a migration holds: "laplaced" in ASCII."""


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def current_revision(connection: Connection) -> str | None:
    """The schema revision a database is at; None if it holds no schema yet."""
    return MigrationContext.configure(connection).get_current_revision()


def head_revision() -> str:
    return _head_of(str(alembic_config().get_main_option("script_location")))


@cache
def _head_of(scripts: str) -> str:
    head = ScriptDirectory(scripts).get_current_head()
    if head is None:
        raise RuntimeError("the program ships no migrations")
    return head


def migrate(connection: Connection, *, before: Callable[[], object] | None = None) -> bool:
    """Upgrades to the newest revision and says whether anything was done. Raises SchemaTooNew.

    A new database gets the tables as they are now, an older one what was changed since. A connection outside any
    transaction is expected; a failing migration changes nothing. `before` is called when a database that holds data
    is about to change (its backup is made there); what it raises stops the migration.
    """
    current, head = current_revision(connection), head_revision()
    if current == head:
        return False
    refuse_newer(current)
    if current is not None and before is not None:
        before()
    _begin_alone(connection)
    try:
        if (current := current_revision(connection)) is None:
            _create(connection, head)
        elif current != head:
            _upgrade(connection, head)
        if connection.dialect.name == "postgresql":
            raise_walls(connection)  # around tables that a migration made or made anew, too
            keep_order(connection)
    except BaseException:
        with contextlib.suppress(SQLAlchemyError):  # a connection that was cut has nothing to undo
            connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")
    return True


async def bring_up_to_date(database: Database) -> None:
    """`migrate` on an open store. Raises SchemaTooNew, and StorageError where the database refuses: in one line."""
    try:
        await database.exclusive(migrate)
    except SQLAlchemyError as error:
        why, _, _ = cause_of(error).partition("\n")  # behind it stands the statement
        raise StorageError(f"the database's tables cannot be made or brought up to date: {why}") from error


def _begin_alone(connection: Connection) -> None:
    """A transaction that no other migration runs beside: several workers may start at once."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    connection.exec_driver_sql("BEGIN")
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
    connection.exec_driver_sql(f"SET LOCAL {SETTING} = '{EVERYONE}'")


def _create(connection: Connection, head: str) -> None:
    for statement in _statements(connection.dialect.name):
        connection.exec_driver_sql(statement)
    MigrationContext.configure(connection).stamp(ScriptDirectory.from_config(alembic_config()), head)


def migrate_to(connection: Connection, revision: str) -> None:
    """Makes a new database as the program of that revision had it. Outside any transaction."""
    _begin_alone(connection)
    try:
        _upgrade(connection, revision)
    except BaseException:
        with contextlib.suppress(SQLAlchemyError):  # a connection that was cut has nothing to undo
            connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")


def _upgrade(connection: Connection, revision: str) -> None:
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


@cache
def _statements(dialect: str) -> tuple[str, ...]:
    """What makes every table and index of the program."""
    spoken = registry.load(dialect)()
    tables = metadata.sorted_tables
    named = [index for table in tables for index in sorted(table.indexes, key=lambda index: str(index.name))]
    indexes = [index for index in named if stands_on(index, dialect)]
    made: list[ExecutableDDLElement] = [*map(CreateTable, tables), *map(CreateIndex, indexes)]
    return tuple(str(one.compile(dialect=spoken)) for one in made)


def refuse_newer(current: str | None) -> None:
    """Raises SchemaTooNew for a revision that this program does not know."""
    if current is None:
        return
    try:
        ScriptDirectory.from_config(alembic_config()).get_revision(current)
    except CommandError as error:
        raise SchemaTooNew from error
