"""Column types and identifiers shared by all tables."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import uuid_utils
from sqlalchemy import BigInteger, Column, ColumnElement, Dialect, Text as AnyText, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def one_of(column: Column[str], values: Sequence[str]) -> ColumnElement[bool]:
    """`column IN (values)` with the values in the statement itself.

    SQLite uses a partial index only where the statement says its condition word for word, not through parameters.
    """
    return column.in_(bindparam(None, [str(value) for value in values], expanding=True, literal_execute=True))


def new_id() -> str:
    """Returns a UUIDv7 as text, unique across the store. Order comes from `seq`, never from ids."""
    return str(uuid_utils.uuid7())


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970 in UTC. Raises ValueError for a naive time."""
    if moment.tzinfo is None:
        raise ValueError("a stored time needs a zone")
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


class Timestamp(TypeDecorator[datetime]):
    """An aware datetime kept as integer microseconds in UTC."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else to_micros(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        return None if value is None else from_micros(value)


class OwnerOrSystem(TypeDecorator[int]):
    """An owner's id, or None for rows of the system: stored as 0, since no key can hold NULL.

    Nobody has the id 0.
    """

    impl = BigInteger
    cache_ok = True
    coerce_to_is_types = ()

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int:
        return 0 if value is None else value

    def process_result_value(self, value: Any | None, dialect: Dialect) -> int | None:
        return None if value is None or value == 0 else int(value)


class OrderedText(AnyText):
    """Text ordered by code points like in SQLite, under any collation of the server.

    Keys are read in ranges, and pages continue behind a key.
    """


@compiles(OrderedText, "postgresql")
def _in_order_of_numbers(element: OrderedText, compiler: Any, **how: Any) -> str:
    return f'{compiler.visit_TEXT(element, **how)} COLLATE "C"'
