"""The primary key of rows that the store numbers itself, on each engine.

On PostgreSQL it leads with the owner, so that a distributed server can spread owners over machines. SQLite numbers
only a key of one column, and is never spread.
"""

from typing import Any, Final, TypeVar

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table
from sqlalchemy.ext.compiler import compiles

_ENGINE: Final = "engine"

Indexed = TypeVar("Indexed", bound=Index)


class NumberedKey(PrimaryKeyConstraint):
    """The number alone on SQLite, `user_id` and the number on PostgreSQL."""


@compiles(NumberedKey, "postgresql")
def _behind_the_owner(key: NumberedKey, compiler: Any, **how: Any) -> str:
    columns = ", ".join(compiler.preparer.quote(column.name) for column in key_of(key.table, "postgresql"))
    return f"CONSTRAINT {compiler.preparer.format_constraint(key)} PRIMARY KEY ({columns})"


def key_of(table: Table, engine: str) -> list[Column[Any]]:
    """The columns of a table's primary key on this engine, in their order."""
    columns = list(table.primary_key.columns)
    led = engine == "postgresql" and isinstance(table.primary_key, NumberedKey)
    return [table.c.user_id, *columns] if led else columns


def only_on(engine: str, index: Indexed) -> Indexed:
    """Marks an index that only one engine has; the other has a key in its place."""
    index.info[_ENGINE] = engine
    index.ddl_if(dialect=engine)
    return index


def stands_on(index: Index, engine: str) -> bool:
    """Whether this engine has the index."""
    return bool(index.info.get(_ENGINE, engine) == engine)
