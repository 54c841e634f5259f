"""Backs a PostgreSQL store up into a SQLite file, one consistent snapshot, verified, and puts a file in its place."""

import contextlib
import sqlite3
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, MetaData, StaticPool, Table, create_engine

from internal.errors import StorageError
from internal.storage.backup import backup
from internal.storage.backup.backup import KEPT, Backup
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import current_revision, head_revision, migrate, migrate_to
from internal.storage.transfer import row_copy
from internal.storage.transfer.content_hash import content_of
from internal.storage.transfer.migrate_store import Carrier, forget_move

_NO_TABLES_OF_OURS = row_copy.STAYING | {"alembic_version", "sqlite_sequence"}


async def back_up(source: Database, folder: Path, now: datetime, *, keep: int = KEPT) -> Backup:
    """Backs a store on any engine up into the folder and deletes all but the newest `keep` backups.

    Writers continue meanwhile. Raises StorageError; then, or when cancelled, nothing is left in the folder.
    """
    with backup.new_in(folder, now, keep=keep) as making:
        return making.finished(await write_file(source, making.draft))


async def back_up_to(source: Database, target: Path, now: datetime) -> Backup:
    """Backs a store up into the file `target`. Raises Refused if it exists, and what `back_up` raises."""
    with backup.new_at(target, now) as making:
        return making.finished(await write_file(source, making.draft))


async def write_file(source: Database, draft: Path) -> str:
    """Writes one snapshot of the store into a new SQLite file of the same schema. Returns the schema revision.

    The file is durable and holds the same content as the store. Raises StorageError.
    """
    with acting_for_everyone():
        async with source.snapshot() as snapshot, Database.open(draft) as file:
            await snapshot.read(row_copy.without_haste)
            revision = await snapshot.read(current_revision)
            if revision is None:
                raise StorageError("there is nothing to back up: the database has no tables yet")
            tables = await file.exclusive(lambda c: _tables_of(c, revision))
            await Carrier(snapshot, file).carry_all(tables)
            meant = await snapshot.read(lambda c: content_of(c, tables))
            if differing := meant.differences(await file.read(lambda c: content_of(c, tables))):
                raise StorageError(f"the copy does not say the same as the database: {', '.join(differing)}")
    return backup.closed_up(draft)


def _tables_of(connection: Connection, revision: str) -> list[Table]:
    """Creates the tables of that revision in an empty file: before a migration a store has an older schema."""
    if revision == head_revision():
        migrate(connection)
        return row_copy.carried_tables()
    migrate_to(connection, revision)
    found = MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name not in _NO_TABLES_OF_OURS]


def replace_with(connection: Connection, file: Path) -> None:
    """Replaces every row of the store by those of the file, a closed database of this program's schema.

    The caller acts for everyone. Nothing changes unless both hold the same content afterwards. Raises StorageError.
    """
    row_copy.without_haste(connection)
    tables = row_copy.carried_tables()
    with contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as raw:
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, hide_parameters=True)
        with engine.connect() as source:
            row_copy.delete_all_rows(connection)
            forget_move(connection)
            for table in tables:
                for batch in row_copy.batches(source, table):
                    row_copy.put_batch(connection, table, batch)
            row_copy.go_on_behind(connection, tables, row_copy.highest_given(source, tables))
            meant = content_of(source, tables, without_nul=connection.dialect.name == "postgresql")
        engine.dispose()
    if differing := meant.differences(content_of(connection, tables)):
        raise StorageError(f"the store would not say the same as the file: {', '.join(differing)}")
