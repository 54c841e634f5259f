"""A store whose every table has rows, of values that are easily lost on the way to another engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import JSON, Boolean, Column, Connection, Float, Integer, LargeBinary, Table, Text, insert, null

from internal.storage.transfer.row_copy import carried_tables
from internal.storage.types import OwnerOrSystem, Timestamp, from_micros

LARGEST: Final = 2**63 - 1
TEXTS: Final = (
    "Канарейкин",
    "Олена 'Ї' \"quoted\" \\n",
    "🐦\u200d⬛ zero\u200bwidth",
    "",
    "line\r\nline\ttab",
    "{NULL,}",
)
JSONS: Final[tuple[Any, ...]] = (
    {"і": ["ё", None, True, 0.1, -0.0, 1e300, LARGEST, {}]},
    [],
    "NULL",
    {"нуль": "\0", "b": 2, "a": 1},
    -LARGEST,
    2.5,
)
FLOATS: Final = (0.1, -1e-300, 5e-324, 1.0, 123456789.12345679)


def tell_nobody(what: str, done: int, total: int) -> None:
    """Nobody looks on."""


def moment(n: int) -> datetime:
    """A moment for a column that asks for one."""
    return from_micros(n)


def fill(connection: Connection, *, rows: int = 7, tables: Sequence[Table] | None = None) -> None:
    """So many rows in every table, or in these; of the columns that may be NULL each is so in some of them."""
    for table in carried_tables() if tables is None else tables:
        for n in range(rows):
            connection.execute(insert(table).values(_row(table, n)))


def _row(table: Table, n: int) -> dict[str, Any]:
    return {column.name: _value(column, n + place) for place, column in enumerate(table.c)} | _apart(table, n)


def _apart(table: Table, n: int) -> dict[str, Any]:
    """The values that no two rows of a table share: its keys, and whatever else a unique index is over."""
    unique = [index.columns for index in table.indexes if index.unique]
    unique += [found.columns for found in table.constraints if hasattr(found, "columns")]
    names = {column.name for columns in unique for column in columns}
    return {name: _distinct(table.c[name], n) for name in names}


def _distinct(column: Column[Any], n: int) -> Any:
    if isinstance(column.type, OwnerOrSystem) and n % 3 == 0:
        return None
    if isinstance(column.type, Timestamp):
        return from_micros(n)
    if isinstance(column.type, Text):
        return f"{TEXTS[n % len(TEXTS)]}{n}"
    return n + 1 if isinstance(column.type, Integer) and column.name != "user_id" else LARGEST - n


def _value(column: Column[Any], n: int) -> Any:  # noqa: PLR0911 - a value for each type
    if column.nullable and n % 3 == 0:
        return null() if n % 2 else None  # of JSON two different things
    if isinstance(column.type, Timestamp):
        return from_micros(1_700_000_000_123_456) + timedelta(microseconds=n)
    if isinstance(column.type, JSON):
        return JSONS[n % len(JSONS)]
    if isinstance(column.type, Boolean):
        return n % 2 == 0
    if isinstance(column.type, LargeBinary):
        return bytes(range(256)) if n % 2 else b""
    if isinstance(column.type, Float):
        return FLOATS[n % len(FLOATS)]
    if isinstance(column.type, Text):
        return TEXTS[n % len(TEXTS)]
    return 2**31 - 1 - n if type(column.type) is Integer else -LARGEST + n
