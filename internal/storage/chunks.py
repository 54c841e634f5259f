"""Splits values into lists short enough for one statement, and runs statements for any number of values."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, Executable, Select, Table, delete

CHUNK: Final = 500
"""Most values of one IN list."""

V = TypeVar("V")


def chunks(values: Iterable[V], size: int = CHUNK) -> Iterator[list[V]]:
    """The values in their order, in lists of at most `size`."""
    left = iter(values)
    while chunk := list(islice(left, size)):
        yield chunk


def rows_with(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]
) -> list[Any]:
    """The rows of a query whose column has one of these values."""
    return [row for part in chunks(values) for row in connection.execute(query.where(column.in_(part)))]


def rows_of(connection: Connection, statement: Executable, values: Iterable[Any], **asked: Any) -> list[Any]:
    """The rows of a prepared statement whose parameter `ids` takes the values; `asked` are its other parameters."""
    return [row for part in chunks(values) for row in connection.execute(statement, {**asked, "ids": part})]


def delete_with(
    connection: Connection, table: Table, user_id: int, column: ColumnElement[Any], values: Iterable[Any]
) -> None:
    """Deletes an owner's rows whose column has one of these values."""
    for part in chunks(values):
        connection.execute(delete(table).where(table.c.user_id == user_id, column.in_(part)))
