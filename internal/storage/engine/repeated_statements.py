"""Statements that are executed again and again are compiled once, then given to the driver itself.

On SQLite, on a quiet machine with warm caches, SQLAlchemy takes 15 to 19 us to run the smallest compiled statement,
the driver 5 to 6; a message needs eighty statements.
A statement object that comes a second time was built once by its module. SQLAlchemy runs everything else, and
everything while an event listener is registered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final
from weakref import ReferenceType, ref

from sqlalchemy import Connection, Delete, Dialect, Insert, Select, Update
from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

Parameters = Mapping[str, Any] | list[Mapping[str, Any]] | None
Processor = Callable[[Any], Any]

MOST_LISTED: Final = 512
"""Most values of an IN; SQLAlchemy runs longer lists. Each power of two has a form, filled by repeated values."""

MOST_TOGETHER: Final = 50
"""Most rows that one INSERT writes. More rows are written one by one, which is as fast and needs no long statement."""

_AT_ONCE: Final = 256
"""Rows fetched at once; the reader fetches the rest."""

_VALUES: Final = re.compile(r" VALUES (\((?:\?|%s)[^()]*\))$")
_MARK: Final = "_laplaced_forms"


@dataclass(slots=True)
class StatementForms:
    """The forms of an executed statement. A statement made from it inherits this object by mistake; `of` shows that."""

    of: ReferenceType[Any]
    forms: dict[tuple[Any, ...], _Form | None]
    lists: tuple[str, ...] = ()
    """The statement's parameters that are lists of an IN: each length has a form of its own."""


@dataclass(frozen=True, slots=True)
class _Value:
    """The origin of a value of the statement: a parameter (its `position` in a list, if it is one), or itself."""

    key: str
    position: int | None
    own: Any
    required: bool
    processor: Processor | None

    def of(self, parameters: Mapping[str, Any]) -> Any:
        if self.key in parameters:
            value = parameters[self.key]
            value = value if self.position is None else value[min(self.position, len(value) - 1)]
        elif self.required:
            raise KeyError(self.key)
        else:
            value = self.own
        return value if self.processor is None else self.processor(value)


class WrittenRows:
    """The result of a statement that returns no rows."""

    __slots__ = ("rowcount",)

    def __init__(self, rowcount: int) -> None:
        self.rowcount = rowcount


class FoundRows(IteratorResult[Any]):
    """The result of a statement that returns rows: those at hand, and the rest that is still to be fetched."""

    def __init__(self, metadata: SimpleResultMetaData, rows: Sequence[Any], rest: Iterable[Any] = ()) -> None:
        super().__init__(metadata, chain(rows, rest))
        self.rowcount = len(rows)


class _Form:
    """A statement compiled for parameters of one shape."""

    __slots__ = ("_dialect", "_metadata", "_reads", "_result", "_sql", "_together", "_values")

    def __init__(
        self, sql: str, values: Sequence[_Value], result: Sequence[TypeEngine[Any]], dialect: Dialect, *, reads: bool
    ) -> None:
        self._sql, self._values, self._result, self._reads, self._dialect = sql, values, result, reads, dialect
        self._metadata: SimpleResultMetaData | None = None
        self._together = _VALUES.search(sql)

    def run(self, raw: Any, parameters: Mapping[str, Any]) -> Any:
        cursor = raw.execute(self._sql, [value.of(parameters) for value in self._values])
        if cursor.description is None:
            return WrittenRows(cursor.rowcount)
        if self._metadata is None:
            columns = list(zip(self._result, cursor.description, strict=True))
            processors: Any = [kind.result_processor(self._dialect, column[1]) for kind, column in columns]
            names = [column[0] for _, column in columns]
            self._metadata = SimpleResultMetaData(names, _processors=processors if any(processors) else None)
        if not self._reads:
            return FoundRows(self._metadata, cursor.fetchall())
        rows = cursor.fetchmany(_AT_ONCE)
        return FoundRows(self._metadata, rows, cursor if len(rows) == _AT_ONCE else ())

    def run_many(self, raw: Any, rows: Sequence[Mapping[str, Any]]) -> WrittenRows:
        values = ([value.of(row) for value in self._values] for row in rows)
        if self._together is None or len(rows) > MOST_TOGETHER:
            cursor = raw.cursor()
            cursor.executemany(self._sql, values)
            return WrittenRows(cursor.rowcount)
        sql = self._sql + f", {self._together[1]}" * (len(rows) - 1)
        return WrittenRows(raw.execute(sql, list(chain.from_iterable(values))).rowcount)


class RepeatingConnection(Connection):
    """A connection that runs repeated statements by the driver."""

    def execute(self, statement: Any, parameters: Any = None, **options: Any) -> Any:
        form = None
        if not options and not self._has_events and not self.engine._has_events:
            form = _form_of(statement, parameters, self.dialect)
        if form is None:
            return super().execute(statement, parameters, **options)
        raw: Any = self.connection.dbapi_connection
        try:
            if isinstance(parameters, list):
                return form.run_many(raw, parameters)
            return form.run(raw, parameters or {})
        except self.dialect.loaded_dbapi.Error as error:
            kind = self.dialect.loaded_dbapi.Error
            failure = DBAPIError.instance(form._sql, None, error, kind, hide_parameters=True)
            raise failure from error


def _form_of(statement: Any, parameters: Parameters, dialect: Dialect) -> _Form | None:
    """The statement's form for these parameters; None if it has none, or is executed for the first time."""
    if not isinstance(statement, Select | Insert | Update | Delete):
        return None
    taken: StatementForms | None = statement.__dict__.get(_MARK)
    if taken is None or taken.of() is not statement:
        statement.__dict__[_MARK] = StatementForms(ref(statement), {})
        return None
    if isinstance(parameters, list):
        if not parameters or any(row.keys() != parameters[0].keys() for row in parameters):
            return None
        shape: tuple[Any, ...] = (dialect.name, list, *parameters[0])
    else:
        shape = (dialect.name, *(parameters or ()))
        if taken.lists:
            shape += tuple(_length(len((parameters or {}).get(key, ()))) for key in taken.lists)
    try:
        return taken.forms[shape]
    except KeyError:
        form = taken.forms[shape] = _compiled(statement, parameters, dialect, taken)
        return form


def _compiled(statement: Any, parameters: Parameters, dialect: Dialect, taken: StatementForms) -> _Form | None:
    many = isinstance(parameters, list)
    given: Any = parameters[0] if isinstance(parameters, list) else parameters or {}
    if statement._execution_options:
        return None
    try:
        # Compiled for many rows: for one row, PostgreSQL would be asked for the key that it made.
        of_many = isinstance(statement, Insert) and not statement._returning
        compiled = statement.compile(dialect=dialect, column_keys=list(given) or None, for_executemany=of_many)
        lists = [one.key for one in compiled.binds.values() if one.expanding and one.key in given]
        if not all(_is_plain(given[key]) for key in lists):
            return None
        if lists and not taken.lists:
            taken.lists = tuple(lists)
            return None  # the next time the shape contains their lengths
        filled = {key: _filled(value) if key in lists else value for key, value in given.items()}
        expanded = compiled.construct_expanded_state(filled)
    except SQLAlchemyError:  # it says what is wrong when it executes the statement
        return None
    if compiled.insert_prefetch or compiled.update_prefetch or (many and (compiled.effective_returning or lists)):
        return None
    positions = {
        name: (whole, position)
        for whole, names in expanded.parameter_expansion.items()
        for position, name in enumerate(names)
    }
    values = [_value(compiled, positions.get(name, (name, None)), dialect) for name in expanded.positiontup or ()]
    result = [column.type.dialect_impl(dialect) for column in statement.exported_columns]
    return _Form(expanded.statement, values, result, dialect, reads=isinstance(statement, Select))


def _length(values: int) -> int:
    """The length of the list that holds this number of values."""
    return 1 << (values - 1).bit_length() if values else 0


def _filled(values: Sequence[Any]) -> list[Any]:
    return [*values, *[values[-1]] * (_length(len(values)) - len(values))] if values else []


def _is_plain(values: Any) -> bool:
    if not isinstance(values, list | tuple) or len(values) > MOST_LISTED:
        return False
    return not any(isinstance(value, list | tuple) for value in values)


def _value(compiled: SQLCompiler, where: tuple[str, int | None], dialect: Dialect) -> _Value:
    bind, position = compiled.binds[where[0]], where[1]
    processor = bind.type.dialect_impl(dialect).bind_processor(dialect)
    own = None if bind.required else bind.effective_value
    own = own if position is None or own is None else own[position]
    return _Value(bind.key, position, own, bind.required, processor)
