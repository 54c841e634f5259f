"""SQLite: one process owns the file, one connection writes it (`BEGIN IMMEDIATE`, WAL, synchronous=FULL)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import aiosqlite
import orjson
from sqlalchemy import Connection, Engine as SqlEngine, StaticPool, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from internal.errors import StorageError
from internal.storage.engine.driver import cause_of, to_json
from internal.storage.engine.repeated_statements import RepeatingConnection
from internal.storage.engine.statement_cache import StatementCache
from internal.storage.files.permissions import PRIVATE_FOLDER, private_database

T = TypeVar("T")

BUSY_TIMEOUT_MS: Final = 10_000
"""Milliseconds to wait for the file's lock, which only a foreign tool (a backup, a shell) can hold."""

_COMMON: Final = (f"busy_timeout={BUSY_TIMEOUT_MS}", "foreign_keys=ON", "temp_store=MEMORY")

_READING: Final = ("query_only=ON", "wal_autocheckpoint=0")

_LONG_NUMBER: Final = re.compile(r"\d{19}")

_STATEMENTS: Final = StatementCache()


async def _on_thread_of(raw: aiosqlite.Connection, function: Callable[[], T]) -> T:
    """Runs a function on aiosqlite's thread, which has no public way to do so; a contract test guards this one."""
    execute: Callable[[Callable[[], T]], Awaitable[T]] = raw._execute
    return await execute(function)


def from_json(text: str) -> Any:
    if not _LONG_NUMBER.search(text):  # which orjson would round
        with contextlib.suppress(orjson.JSONDecodeError):  # NaN or half a character
            return orjson.loads(text)
    return json.loads(text)


def _engine_over(raw: Callable[[], sqlite3.Connection]) -> SqlEngine:
    return create_engine(
        "sqlite+pysqlite://",
        creator=raw,
        poolclass=StaticPool,
        json_serializer=to_json,
        json_deserializer=from_json,
        hide_parameters=True,  # they are people's words, and errors end up in logs
    )


def _connected(engine: SqlEngine, *pragmas: str) -> Connection:
    connection = _STATEMENTS.connect(engine, RepeatingConnection).execution_options(isolation_level="AUTOCOMMIT")
    try:
        for pragma in pragmas:
            connection.exec_driver_sql(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()  # here, on its own thread: the garbage collector would do it on another one
        raise
    return connection


class _SqliteLink:
    """A SQLAlchemy connection that lives on aiosqlite's thread."""

    def __init__(self, raw: aiosqlite.Connection, engine: SqlEngine, connection: Connection) -> None:
        self._raw, self._engine, self._sql = raw, engine, connection

    @classmethod
    async def open(cls, path: Path, *pragmas: str) -> _SqliteLink:
        try:
            raw = await aiosqlite.connect(path, isolation_level=None, cached_statements=512)
        except sqlite3.Error as error:
            raise StorageError(f"cannot open the database {path.name}: {error}") from error
        engine = _engine_over(lambda: raw._conn)
        try:
            return cls(raw, engine, await _on_thread_of(raw, lambda: _connected(engine, *pragmas)))
        except SQLAlchemyError as error:
            await raw.close()
            raise StorageError(f"cannot use the database {path.name}: {cause_of(error)}") from error

    async def run(self, function: Callable[[Connection], T]) -> T:
        return await _on_thread_of(self._raw, lambda: function(self._sql))

    async def close(self) -> None:
        await _on_thread_of(self._raw, self._dispose)
        await self._raw.close()

    def _dispose(self) -> None:
        # On the connection's own thread: left to the garbage collector, SQLAlchemy would reset it from another one.
        self._sql.close()
        self._engine.dispose()


class SqliteEngine:
    """A file that one process owns; an owner's rows are guarded by the repositories alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def prepared(cls, path: Path) -> SqliteEngine:
        """Creates the file and its folder, closed to other users. Raises StorageError."""
        try:
            path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot use the folder {path.parent}: {error.strerror}") from error
        try:
            private_database(path)
        except OSError as error:
            raise StorageError(f"cannot open the database {path.name}: {error.strerror}") from error
        return cls(path)

    async def writer(self) -> _SqliteLink:
        return await _SqliteLink.open(self.path, *_COMMON, "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON")

    async def reader(self) -> _SqliteLink:
        return await _SqliteLink.open(self.path, *_COMMON, *_READING)

    def direct_reader(self) -> Connection | None:
        raw = sqlite3.connect(self.path, isolation_level=None, cached_statements=512)
        return _connected(_engine_over(lambda: raw), *_READING, "busy_timeout=0")

    def begin(self, connection: Connection, alone: str | None) -> None:
        self.at_once(connection, "BEGIN IMMEDIATE")

    def commit(self, connection: Connection) -> None:
        self.at_once(connection, "COMMIT")

    def begin_reading(self, connection: Connection, scope: str) -> None:
        self.at_once(connection, "BEGIN")

    def enter_scope(self, connection: Connection, scope: str) -> None:
        pass

    def at_once(self, connection: Connection, statement: str) -> None:
        """Executes by the driver itself: SQLAlchemy takes ten times as long, and a message needs dozens."""
        raw = connection.connection.dbapi_connection
        assert raw is not None
        try:
            raw.execute(statement)
        except sqlite3.Error as error:
            raise DBAPIError.instance(None, None, error, sqlite3.Error) from error

    def short_transaction(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        raise NotImplementedError("a file has one writer")

    def is_lost(self, connection: Connection, error: DBAPIError) -> bool:
        """A full disk or an I/O error makes SQLite roll back the whole transaction, savepoints included."""
        raw = connection.connection.dbapi_connection
        return not (isinstance(raw, sqlite3.Connection) and raw.in_transaction)

    async def once_more(self, error: SQLAlchemyError, attempt: int) -> bool:
        return False

    def announce_commit(self) -> None:
        pass

    def is_shared(self) -> bool:
        return False

    def ring(self, bell: str) -> None:
        pass

    async def until_announced(self) -> frozenset[str]:
        await asyncio.Event().wait()
        return frozenset()

    async def close(self) -> None:
        pass


def remove_with_log(path: Path) -> None:
    """Deletes an unused database with the files SQLite may have left beside it."""
    for ending in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
