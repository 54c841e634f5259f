"""Brings a database to this program's schema: at start, in one transaction, and never backwards."""

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
from internal.storage.engine.row_policies import SETTING, create_policies
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
    """Upgrades to the newest revision and returns whether anything changed. Raises SchemaTooNew.

    A new database gets the current tables, an older one the changes since its revision. Expects a connection outside
    any transaction; a failing migration changes nothing. `before` is called when a database with data is about to
    change (to back it up); an error it raises stops the migration.
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
            create_policies(connection)  # around tables that a migration made, too
            keep_order(connection)
    except BaseException:
        with contextlib.suppress(SQLAlchemyError):  # a connection that was cut has nothing to undo
            connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")
    return True


async def bring_up_to_date(database: Database) -> None:
    """Runs `migrate` on an open store. Raises SchemaTooNew, and StorageError in one line where the database refuses."""
    try:
        await database.exclusive(migrate)
    except SQLAlchemyError as error:
        why, _, _ = cause_of(error).partition("\n")  # the statement follows it
        raise StorageError(f"the database's tables cannot be made or brought up to date: {why}") from error


def _begin_alone(connection: Connection) -> None:
    """Begins a transaction beside which no other migration runs: several workers may start at once."""
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
    """Creates a new database with the schema of that revision. Expects to be outside any transaction."""
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
    """The statements that create every table and index."""
    spoken = registry.load(dialect)()
    tables = metadata.sorted_tables
    named = [index for table in tables for index in sorted(table.indexes, key=lambda index: str(index.name))]
    indexes = [index for index in named if stands_on(index, dialect)]
    made: list[ExecutableDDLElement] = [*map(CreateTable, tables), *map(CreateIndex, indexes)]
    return tuple(str(one.compile(dialect=spoken)) for one in made)


def refuse_newer(current: str | None) -> None:
    """Raises SchemaTooNew for a revision unknown to this program."""
    if current is None:
        return
    try:
        ScriptDirectory.from_config(alembic_config()).get_revision(current)
    except CommandError as error:
        raise SchemaTooNew from error
