"""Copies rows from one store into another, batch by batch, as they are stored, decoding only where needed.

A batch is read in key order behind the last row of the one before, so a table of any length is copied without being
held in memory. JSON texts are copied unchanged: a number in one stays the same number, and a stored JSON `null` stays
different from no value.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Table,
    Text,
    cast,
    func,
    select,
    tuple_,
    type_coerce,
)
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql import JSONB

from internal.storage.engine.driver import to_json
from internal.storage.row_ids import key_of
from internal.storage.tables import metadata, settings
from internal.storage.transfer.content_hash import VOLATILE_SETTINGS
from internal.storage.types import OwnerOrSystem, Timestamp

Row = tuple[Any, ...]
Key = list[Any]
"""The primary key of a row: integers and texts."""

STAYING: Final = frozenset({"leases"})
"""Tables of the processes that work on a store, which are not part of its content."""

_POSTGRES: Final[Dialect] = registry.load("postgresql")()

MOST_ROWS: Final = 1_000
FIRST_ROWS: Final = 100
_BATCH_BYTES: Final = 8_000_000
"""Bytes of one table in memory at once, about: model prompts are long, links between memories short."""


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows of a table with its columns in table order, and the key of the last row."""

    rows: list[Row]
    last: Key


def carried_tables() -> list[Table]:
    """The copied tables, those that others refer to first."""
    return [table for table in metadata.sorted_tables if table.name not in STAYING]


def batches(connection: Connection, table: Table, after: Key | None = None) -> Iterator[RowBatch]:
    """All rows behind that key, batch by batch. A table without any yields nothing."""
    limit = FIRST_ROWS
    while (batch := read_batch(connection, table, after, limit)).rows:
        yield batch
        if len(batch.rows) < limit:
            return
        after, limit = batch.last, next_limit(batch)


def read_batch(connection: Connection, table: Table, after: Key | None, limit: int = FIRST_ROWS) -> RowBatch:
    """At most `limit` rows behind that key, None for the first."""
    keys = key_of(table, connection.dialect.name)
    query = select(*(_as_stored(column, connection.dialect) for column in table.c)).order_by(*keys).limit(limit)
    if after is not None:
        query = query.where(_rows_after(keys, after))
    numbers = [isinstance(column.type, JSON) for column in table.c] if connection.dialect.name == "sqlite" else []
    rows = [_with_json_numbers(row, numbers) for row in connection.execute(query)]
    indexes = [list(table.c).index(key) for key in keys]
    return RowBatch(rows, [rows[-1][index] for index in indexes] if rows else [])


def next_limit(batch: RowBatch) -> int:
    """The number of rows of this kind to read next, from 10 to MOST_ROWS."""
    size = sum(len(value) for row in batch.rows for value in row if isinstance(value, str | bytes))
    return max(10, min(MOST_ROWS, _BATCH_BYTES * len(batch.rows) // max(size, 1)))


def put_batch(connection: Connection, table: Table, batch: RowBatch) -> int:
    """Stores the rows. Returns how many NUL characters their texts lost, which PostgreSQL cannot hold."""
    if not batch.rows:
        return 0
    columns = list(zip(*batch.rows, strict=True))
    lost = 0
    if connection.dialect.name == "postgresql":
        cleaned = [_without_nul(values) for values in columns]
        lost = sum(count for _, count in cleaned)
        connection.exec_driver_sql(_unnesting(table, connection.dialect), tuple(values for values, _ in cleaned))
    else:
        pairs = zip(table.c, columns, strict=True)
        plain = [_plain_json(values) if _is_binary_json(column) else values for column, values in pairs]
        connection.exec_driver_sql(_inserting(table), list(zip(*plain, strict=True)))
    return lost


def without_haste(connection: Connection) -> None:
    """Lets this transaction stay idle on a server, because each batch is processed before the next is read."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")


def row_counts(connection: Connection, tables: Iterable[Table]) -> dict[str, int]:
    return {table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables}


def is_empty(connection: Connection) -> bool:
    """Whether nothing was ever put into this store except what a start and a health check write."""
    for table in carried_tables():
        query = select(*table.primary_key.columns)
        if table is settings:
            query = query.where(settings.c.key.not_in(VOLATILE_SETTINGS))
        if connection.execute(query.limit(1)).first() is not None:
            return False
    return True


def delete_all_rows(connection: Connection) -> None:
    """Deletes every row of the copied tables."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"TRUNCATE {', '.join(table.name for table in carried_tables())}")
        return
    for table in carried_tables():
        connection.exec_driver_sql(f"DELETE FROM {table.name}")


def highest_given(connection: Connection, tables: Iterable[Table]) -> dict[str, int]:
    """The highest number that each self-numbered table ever gave to a row, by the table's name."""
    found = {}
    for table in tables:
        number = numbered_by(table)
        if number is not None:
            stored = connection.execute(select(func.max(number))).scalar_one()
            found[table.name] = max(stored or 0, _counter(connection, table, number))
    return found


def go_on_behind(connection: Connection, tables: Iterable[Table], highest: dict[str, int]) -> None:
    """Continues each table's numbers behind the highest ever given, also if that row is gone."""
    for table in tables:
        number, reached = numbered_by(table), highest.get(table.name, 0)
        if number is None:
            continue
        if connection.dialect.name == "postgresql":
            sequence = f"pg_get_serial_sequence('{table.name}', '{number.name}')"
            connection.exec_driver_sql(f"SELECT setval({sequence}, %s, %s)", (max(reached, 1), reached > 0))
            continue
        connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (table.name,))
        if reached:
            connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table.name, reached))


def numbered_by(table: Table) -> Column[Any] | None:
    """The column by which the store itself numbers a table's rows."""
    known = metadata.tables.get(table.name)  # a table read from a store has no `autoincrement`
    keys = [] if known is None else list(known.primary_key.columns)
    return table.c.get(keys[0].name) if len(keys) == 1 and keys[0].autoincrement is True else None


def _counter(connection: Connection, table: Table, number: Column[Any]) -> int:
    if connection.dialect.name == "postgresql":
        sequence = connection.exec_driver_sql("SELECT pg_get_serial_sequence(%s, %s)", (table.name, number.name))
        value, used = connection.exec_driver_sql(f"SELECT last_value, is_called FROM {sequence.scalar_one()}").one()
        return int(value) if used else 0
    query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
    return int(connection.exec_driver_sql(query, (table.name,)).scalar_one_or_none() or 0)


def _as_stored(column: Column[Any], dialect: Dialect) -> ColumnElement[Any]:
    if isinstance(column.type, JSON):
        return cast(column, Text) if dialect.name == "postgresql" else type_coerce(column, Text)
    return _plain(column)


def _plain(column: Column[Any]) -> ColumnElement[Any]:
    return type_coerce(column, BigInteger) if isinstance(column.type, Timestamp | OwnerOrSystem) else column


def _with_json_numbers(row: Sequence[Any], json_columns: Sequence[bool]) -> Row:
    """The row with every JSON value as text: SQLite stores a bare number as a number."""
    if not json_columns:
        return tuple(row)
    pairs = zip(row, json_columns, strict=True)
    return tuple(to_json(value) if is_json and isinstance(value, int | float) else value for value, is_json in pairs)


def _rows_after(keys: Sequence[Column[Any]], after: Key) -> ColumnElement[bool]:
    plain = [_plain(key) for key in keys]
    found: ColumnElement[bool] = tuple_(*plain) > tuple_(*after, types=[key.type for key in plain])
    return found if len(plain) > 1 else plain[0].__gt__(after[0])


def _is_binary_json(column: Column[Any]) -> bool:
    """Whether PostgreSQL stores this column as JSONB, which forgets how its text was written."""
    return isinstance(column.type.dialect_impl(_POSTGRES), JSONB)


def _plain_json(values: Row) -> list[Any]:
    return [None if value is None else to_json(json.loads(value)) for value in values]


def _without_nul(values: Row) -> tuple[list[Any], int]:
    """The values as PostgreSQL can hold them, and how many characters they lost. JSON holds NUL as an escape."""
    lost = sum(value.count("\0") for value in values if isinstance(value, str))
    if not lost:
        return list(values), 0
    return [value.replace("\0", "") if isinstance(value, str) else value for value in values], lost


@cache
def _inserting(table: Table) -> str:
    names = [column.name for column in table.c]
    return f"INSERT INTO {table.name} ({_quoted(names)}) VALUES ({', '.join('?' * len(names))})"


def _unnesting(table: Table, dialect: Dialect) -> str:
    """An INSERT with one list for each column, twice as fast as one with many rows of values."""
    # A list has no collation; the column that it goes into has its own.
    types = [column.type.compile(dialect).partition(" COLLATE ")[0] for column in table.c]
    lists = ", ".join(f"%s::{name}[]" for name in types)
    return f"INSERT INTO {table.name} ({_quoted(column.name for column in table.c)}) SELECT * FROM unnest({lists})"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
