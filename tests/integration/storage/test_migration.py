"""Migrations lead to exactly the tables of the program, from nothing and from every earlier schema."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert

from internal.errors import SchemaTooNew
from internal.storage.engine import Database
from internal.storage.migration import alembic_config, current_revision, head_revision, migrate
from internal.storage.tables import metadata, settings

REVISIONS = [script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()]


def upgrade_to(revision: str, connection: Connection) -> None:
    """What a program of that time did on start."""
    config = alembic_config()
    config.attributes["connection"] = connection
    connection.exec_driver_sql("BEGIN")
    command.upgrade(config, revision)
    connection.exec_driver_sql("COMMIT")


def schema(connection: Connection) -> dict[str, list[str]]:
    """Every table and index by name, as SQLite keeps its text, without Alembic's own table."""
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: parts(sql) for name, sql in rows if name not in {"alembic_version", "sqlite_sequence"}}


def parts(sql: str) -> list[str]:
    """The statement cut at its top-level commas; a table's parts in any order, since only their order may differ."""
    text = re.sub(r"\s+", " ", sql.replace('"', "")).strip()
    if not text.startswith("CREATE TABLE"):
        return [text]
    head, body = text.split("(", 1)
    found = re.findall(r"(?:[^,()]|\([^()]*\))+", body.rsplit(")", 1)[0])
    return [head.strip(), *sorted(part.strip() for part in found)]


def differences(connection: Connection) -> list[object]:
    """What Alembic would change to get from the database to the tables of the program."""
    return list(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata))


async def wanted_schema(path: Path) -> dict[str, list[str]]:
    async with Database.open(path) as database:
        await database.exclusive(metadata.create_all)
        return await database.read(schema)


async def test_empty_database_gets_exactly_the_tables(empty: Database, tmp_path: Path) -> None:
    """From nothing, the migrations make every table, column, index and constraint of the program, and no other."""
    assert await empty.exclusive(migrate)
    assert await empty.exclusive(differences) == []
    assert await empty.read(schema) == await wanted_schema(tmp_path / "wanted.db")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_earlier_schema_is_brought_up_to_date(empty: Database, tmp_path: Path, revision: str) -> None:
    """A database of any earlier program ends at the same schema, with its rows."""
    await empty.exclusive(lambda connection: upgrade_to(revision, connection))
    row = insert(settings).values(key="kept", value="row")
    await empty.write(lambda connection: connection.execute(row))
    await empty.exclusive(migrate)
    assert await empty.exclusive(differences) == []
    assert await empty.read(schema) == await wanted_schema(tmp_path / "wanted.db")
    kept = "SELECT value FROM settings WHERE key = 'kept'"
    assert await empty.read(lambda connection: connection.exec_driver_sql(kept).scalar_one()) == '"row"'


async def test_comparison_would_see_a_difference(database: Database, tmp_path: Path) -> None:
    """A missing index is found by both comparisons: they are not blind."""
    await database.write(lambda connection: connection.exec_driver_sql("DROP INDEX idx_messages_user_time"))
    assert len(await database.exclusive(differences)) == 1
    assert await database.read(schema) != await wanted_schema(tmp_path / "wanted.db")


async def test_second_start_changes_nothing(database: Database) -> None:
    """A database that is up to date is left alone."""
    assert await database.exclusive(migrate) is False
    assert await database.read(current_revision) == head_revision()


async def test_newer_schema_is_refused_untouched(database: Database) -> None:
    """What a newer program wrote is not touched by an older one, which says what to do."""
    newer = "UPDATE alembic_version SET version_num = '9999'"
    await database.write(lambda connection: connection.exec_driver_sql(newer))
    before = await database.read(schema)
    with pytest.raises(SchemaTooNew, match="newer version of Laplaced"):
        await database.exclusive(migrate)
    assert (await database.read(schema), await database.read(current_revision)) == (before, "9999")


async def test_failing_migration_changes_nothing(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration that breaks half-way leaves the database as it found it, and the next start can try again."""
    upgrade = command.upgrade

    def break_after(config: object, revision: str) -> None:
        upgrade(config, revision)  # type: ignore[arg-type]  # passed through
        raise RuntimeError("the lights went out")

    with monkeypatch.context() as broken:
        broken.setattr(command, "upgrade", break_after)
        with pytest.raises(RuntimeError, match="lights"):
            await empty.exclusive(migrate)
    assert await empty.read(schema) == {}
    assert await empty.exclusive(migrate)
    assert await empty.exclusive(differences) == []
