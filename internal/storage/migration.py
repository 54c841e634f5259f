"""Brings a database to the schema of this program: on start, in one transaction, and never backwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

import migrations
from internal.errors import SchemaTooNew


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def current_revision(connection: Connection) -> str | None:
    """The schema revision a database is at; None if it holds no schema yet."""
    return MigrationContext.configure(connection).get_current_revision()


def head_revision() -> str:
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    if head is None:
        raise RuntimeError("the program ships no migrations")
    return head


def migrate(connection: Connection, *, before: Callable[[], object] | None = None) -> bool:
    """Upgrades to the newest revision and says whether anything was done. Raises SchemaTooNew.

    A connection outside any transaction is expected; a failing migration changes nothing. `before` is called when a
    database that holds data is about to change (its backup is made there); what it raises stops the migration.
    """
    current, head = current_revision(connection), head_revision()
    if current == head:
        return False
    refuse_newer(current)
    if current is not None and before is not None:
        before()
    config = alembic_config()
    config.attributes["connection"] = connection
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        command.upgrade(config, head)
    except BaseException:
        connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")
    return True


def refuse_newer(current: str | None) -> None:
    """Raises SchemaTooNew for a revision that this program does not know."""
    if current is None:
        return
    try:
        ScriptDirectory.from_config(alembic_config()).get_revision(current)
    except CommandError as error:
        raise SchemaTooNew from error
