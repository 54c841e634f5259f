"""What an engine of the store offers to `Database`: connections on threads of their own, and how a transaction runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

T = TypeVar("T")


class Link(Protocol):
    """A connection to the database that lives on a thread of its own."""

    async def run(self, function: Callable[[Connection], T]) -> T:
        """Runs `function` over the connection, on its thread; what it raises is raised here."""
        ...

    async def close(self) -> None: ...


class Engine(Protocol):
    """What differs between the databases."""

    @property
    def path(self) -> Path | None:
        """The file, where the database is one."""
        ...

    async def writer(self) -> Link:
        """A connection that may write. Raises StorageError when there is no usable database."""
        ...

    async def reader(self) -> Link:
        """A connection that cannot write. Raises as `writer`."""
        ...

    def begin(self, connection: Connection) -> None:
        """Begins a transaction that sees and changes the store as if no other were running."""
        ...

    def commit(self, connection: Connection) -> None:
        """Ends it; after a return it is on disk."""
        ...

    def begin_reading(self, connection: Connection, scope: str) -> None:
        """Begins a transaction over one snapshot of the store, as far as `scope` sees it."""
        ...

    def savepoint(self, connection: Connection, scope: str) -> None:
        """Opens the savepoint `unit` of a unit of work that reaches the rows of `scope`."""
        ...

    def in_short(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        """Runs `work` in a transaction each of whose statements sees the store as it is then, and commits."""
        ...

    def is_lost(self, connection: Connection, error: DBAPIError) -> bool:
        """Whether the error took the whole transaction with it, savepoints included."""
        ...

    async def once_more(self, error: SQLAlchemyError, attempt: int) -> bool:
        """Whether what failed with `error` is to be run again; waits as long as is proper before that.

        True only if nothing of it was committed. `attempt` counts from 1.
        """
        ...

    def told(self) -> None:
        """Tells other processes, if the store can have any, that something was committed."""
        ...

    def moves(self) -> bool:
        """Whether others write into the store too, so that only the store itself knows what is in it."""
        ...

    def ring(self, bell: str) -> None:
        """Rings a bell, a word without spaces, in every other process; nothing where there can be none."""
        ...

    async def until_told(self) -> frozenset[str]:
        """Waits until another process has committed or rung; the bells that rang. For ever where there can be none."""
        ...

    async def close(self) -> None: ...


def cause_of(error: SQLAlchemyError) -> str:
    """The driver's own words, without the statement and its parameters: those hold what people said."""
    return str(error.orig) if isinstance(error, DBAPIError) else type(error).__name__


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
