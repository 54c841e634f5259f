"""Rows as objects."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, Result, Row, Table, bindparam, select

T = TypeVar("T")


def reader(
    kind: type[T], columns: Mapping[str, str] | None = None, /, **converted: Callable[[Any], Any]
) -> Callable[[Row[Any]], T]:
    """Returns a function that makes an object of this dataclass from a row, whose columns have the fields' names.

    `columns` names the column of each field with another name. `converted` has functions from the column's value to the
    field's, such as a member of an enumeration.
    """
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    values_of = attrgetter(*((columns or {}).get(name, name) for name in names))
    positions = [(names.index(name), convert) for name, convert in converted.items()]

    def read(row: Row[Any]) -> T:
        values = list(values_of(row))
        for position, convert in positions:
            values[position] = convert(values[position])
        return kind(*values)

    return read


def read_one(found: Result[Any], read: Callable[[Row[Any]], T]) -> T | None:
    """The object of the one row that was found, if any."""
    row = found.one_or_none()
    return None if row is None else read(row)


def owner_lookup(table: Table) -> Callable[[Connection, Any], int | None]:
    """Returns a function that finds a row's owner by the row's id, unique across the store; None without a row."""
    query = select(table.c.user_id).where(table.c.id == bindparam("row"))
    return lambda connection, id: connection.execute(query, {"row": id}).scalar_one_or_none()
