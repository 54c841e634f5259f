"""The interface of an engine for `Database`: connections on their own threads, and how a transaction runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import orjson
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from internal.errors import StorageError

_AS_JSON: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME

T = TypeVar("T")


class ThreadConnection(Protocol):
    """A connection to the database that lives on a thread of its own."""

    async def run(self, function: Callable[[Connection], T]) -> T:
        """Runs `function` over the connection on its thread and raises what it raises."""

    async def close(self) -> None: ...


class Engine(Protocol):
    """Everything in which SQLite and PostgreSQL differ for `Database`."""

    @property
    def path(self) -> Path | None:
        """The database file, where there is one."""

    async def writer(self) -> ThreadConnection:
        """Opens a connection that may write. Raises StorageError when there is no usable database."""

    async def reader(self) -> ThreadConnection:
        """Opens a read-only connection. Raises what `writer` raises."""

    def direct_reader(self) -> Connection | None:
        """Opens a read-only connection of the calling thread itself, where reads are that fast."""

    def begin(self, connection: Connection, alone: str | None) -> None:
        """Begins a transaction that sees and changes the store as if it ran alone.

        `alone` is the scope of its only unit of work.
        """

    def commit(self, connection: Connection) -> None:
        """Ends the transaction. When it returns, the transaction is on disk."""

    def begin_reading(self, connection: Connection, scope: str) -> None:
        """Begins a transaction over one snapshot of the store, limited to `scope`."""

    def enter_scope(self, connection: Connection, scope: str) -> None:
        """Limits what follows to the rows of `scope`, until the next scope or the end of the transaction."""

    def at_once(self, connection: Connection, statement: str) -> None:
        """Runs a statement that begins or ends something and returns nothing."""

    def short_transaction(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        """Runs `work` in a transaction each of whose statements sees the store as it is then, and commits."""

    def is_lost(self, connection: Connection, error: DBAPIError) -> bool:
        """Whether the error ended the whole transaction, savepoints included."""

    async def once_more(self, error: SQLAlchemyError, attempt: int) -> bool:
        """Whether work that failed with `error` is to be run again. Waits before it returns True.

        True only if nothing of it was committed. `attempt` counts from 1.
        """

    def announce_commit(self) -> None:
        """Announces a commit to other processes, if the store can have any."""

    def is_shared(self) -> bool:
        """Whether other processes write into the store too."""

    def ring(self, bell: str) -> None:
        """Rings a bell, a word without spaces, in every other process. Does nothing where there can be none."""

    async def until_announced(self) -> frozenset[str]:
        """Waits until another process commits or rings. Returns the bells that rang."""

    async def close(self) -> None: ...


def cause_of(error: SQLAlchemyError) -> str:
    """The driver's own words without the statement and its parameters, which hold what people said."""
    return str(error.orig) if isinstance(error, DBAPIError) else type(error).__name__


def refusal(error: SQLAlchemyError) -> StorageError:
    """A refusal of the database (full disk, lock, standby), without what people said."""
    failure = StorageError(f"the database refused: {cause_of(error)}")
    failure.__cause__ = error
    return failure


def to_json(value: Any) -> str:
    try:
        return orjson.dumps(value, option=_AS_JSON).decode()
    except TypeError:  # a larger number, another key than a text, half a character; or what is no JSON, which raises
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
