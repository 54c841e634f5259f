"""Replaces the content of a server's database by that of a database file, in one transaction."""

import contextlib
import sqlite3
from pathlib import Path

from sqlalchemy import Connection, StaticPool, create_engine

from internal.errors import StorageError
from internal.storage.transfer.content_hash import content_of
from internal.storage.transfer.migrate_store import forget_move
from internal.storage.transfer.row_copy import (
    batches,
    carried_tables,
    empty,
    go_on_behind,
    highest_given,
    put_batch,
    without_haste,
)


def replace_with(connection: Connection, file: Path) -> None:
    """Replaces every row of the store by those of the file, a closed database of this program's schema.

    The caller acts for everyone. Nothing changes unless both hold the same content afterwards. Raises StorageError.
    """
    without_haste(connection)
    tables = carried_tables()
    with contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as raw:
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, hide_parameters=True)
        with engine.connect() as source:
            empty(connection)
            forget_move(connection)
            for table in tables:
                for batch in batches(source, table):
                    put_batch(connection, table, batch)
            go_on_behind(connection, tables, highest_given(source, tables))
            meant = content_of(source, tables, without_nul=connection.dialect.name == "postgresql")
        engine.dispose()
    if differing := meant.differences(content_of(connection, tables)):
        raise StorageError(f"the store would not say the same as the file: {', '.join(differing)}")
