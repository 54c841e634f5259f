"""The one door to the database: a unit of work is a plain function that runs whole on the database's own thread.

Measured: a statement costs 340-520 us when every call crosses to the thread, 21 us when the whole unit of work does.
So repositories are synchronous functions over a SQLAlchemy connection, and `write`/`read` hop once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

import aiosqlite
from sqlalchemy import Connection, Engine, StaticPool, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from internal.errors import StorageDamaged, StorageError
from internal.storage.crash import crash_if_asked
from internal.storage.damage import words_of_damage
from internal.storage.permissions import PRIVATE_FOLDER, private_database

T = TypeVar("T")
Work = Callable[[Connection], T]

GROUP = 256
"""Most units of work that share one commit: bounds how long the first of them waits."""

READERS = 2
BUSY_TIMEOUT_MS = 10_000
"""Only a foreign tool (a backup, a shell) can hold the file's lock; it gets this long."""


@dataclass(slots=True)
class _Pending(Generic[T]):
    work: Work[T]
    done: asyncio.Future[T]
    point: str | None


@dataclass(slots=True)
class _Outcome:
    result: Any = None
    error: Exception | None = None


async def _on_thread_of(raw: aiosqlite.Connection, function: Callable[[], T]) -> T:
    """aiosqlite has no public way to run a whole function on its thread; a contract test holds this one."""
    execute: Callable[[Callable[[], T]], Awaitable[T]] = raw._execute
    return await execute(function)


class _SqliteConnection:
    """A SQLAlchemy connection that lives on aiosqlite's thread."""

    def __init__(self, raw: aiosqlite.Connection, engine: Engine, connection: Connection) -> None:
        self._raw, self._engine, self.sql = raw, engine, connection

    @classmethod
    async def open(cls, path: Path, *pragmas: str) -> _SqliteConnection:
        try:
            raw = await aiosqlite.connect(path, isolation_level=None, cached_statements=512)
        except sqlite3.Error as error:
            raise StorageError(f"cannot open the database {path.name}: {error}") from error
        engine = create_engine(
            "sqlite+pysqlite://",
            creator=lambda: raw._conn,
            poolclass=StaticPool,
            json_serializer=to_json,
            hide_parameters=True,  # they are people's words, and errors end up in logs
        )

        def connect() -> Connection:
            connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            try:
                for pragma in pragmas:
                    connection.exec_driver_sql(f"PRAGMA {pragma}")
            except BaseException:
                connection.close()  # here, on its own thread: the garbage collector would do it on another one
                raise
            return connection

        try:
            return cls(raw, engine, await _on_thread_of(raw, connect))
        except SQLAlchemyError as error:
            await raw.close()
            raise StorageError(f"cannot use the database {path.name}: {_cause(error)}") from error

    async def run(self, function: Callable[[Connection], T]) -> T:
        return await _on_thread_of(self._raw, lambda: function(self.sql))

    async def close(self) -> None:
        await _on_thread_of(self._raw, self._dispose)
        await self._raw.close()

    def _dispose(self) -> None:
        # On the connection's own thread: left to the garbage collector, SQLAlchemy would reset it from another one.
        self.sql.close()
        self._engine.dispose()


class Database:
    """SQLite behind one writing connection (`BEGIN IMMEDIATE`, WAL, synchronous=FULL) and readers beside it.

    Units of work that wait while another is being written share the next commit, each behind its own savepoint:
    one that raises is undone alone. A result is returned only after its commit is durable.
    """

    def __init__(self, path: Path, writer: _SqliteConnection, readers: list[_SqliteConnection]) -> None:
        self.path = path
        self._writer = writer
        self._readers: asyncio.Queue[_SqliteConnection] = asyncio.Queue()
        self._all_readers = readers
        for reader in readers:
            self._readers.put_nowait(reader)
        self._pending: deque[_Pending[Any]] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._closed = False
        self._commits = 0
        self._committed = asyncio.Event()
        self._damage: asyncio.Future[StorageDamaged] = asyncio.get_running_loop().create_future()

    @property
    def commits(self) -> int:
        """Grows with every commit: while it stands still, what was read before is still what is stored.

        True because one process owns the file and all its writes go through here.
        """
        return self._commits

    async def committed(self, since: int) -> None:
        """Waits until there was a commit after `since`, a value of `commits`."""
        while self._commits == since:
            await self._committed.wait()

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Database]:
        """Opens (and creates) the file, closed to other users. Raises StorageError when it is no usable database."""
        try:
            path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot use the folder {path.parent}: {error.strerror}") from error
        try:
            private_database(path)
        except OSError as error:
            raise StorageError(f"cannot open the database {path.name}: {error.strerror}") from error
        common = (f"busy_timeout={BUSY_TIMEOUT_MS}", "foreign_keys=ON", "temp_store=MEMORY")
        writer = await _SqliteConnection.open(path, *common, "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON")
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(writer.close)
            readers = []
            for _ in range(READERS):
                reader = await _SqliteConnection.open(path, *common, "query_only=ON", "wal_autocheckpoint=0")
                stack.push_async_callback(reader.close)
                readers.append(reader)
            database = cls(path, writer, readers)
            stack.push_async_callback(database._finish)
            yield database

    async def write(self, work: Work[T], *, point: str | None = None) -> T:
        """Runs `work` in a transaction and returns its result once that is on disk.

        `point` names the commit point (C1..C13) for crash tests. Whatever `work` raises undoes it and is raised
        here; a failing disk raises StorageError, a damaged file StorageDamaged. Work that waits is skipped if its
        caller is cancelled; work that has begun is finished.
        """
        if self._closed:
            raise StorageError("the database is closed")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._pending.append(_Pending(work, done, point))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_pending(), name="database-writer")
        return await done

    async def read(self, work: Work[T]) -> T:
        """Runs `work` over one consistent snapshot that holds every finished write; it cannot change anything.

        Raises as `write`.
        """
        reader = await self._readers.get()
        try:
            return await reader.run(lambda connection: _read(connection, work))
        except DBAPIError as error:
            raise self._judged(error) from error
        finally:
            self._readers.put_nowait(reader)

    async def exclusive(self, function: Callable[[Connection], T]) -> T:
        """Runs `function` on the writing connection outside any transaction (migrations, checkpoints)."""
        return await self._writer.run(function)

    async def until_damaged(self) -> NoReturn:
        """Waits for as long as the file is sound. Raises StorageDamaged: what goes on over a damaged file spoils more.

        Whoever met the damage was told too, but he may be a background job that tries again for ever.
        """
        raise await self._damage

    def _judged(self, error: Exception) -> Exception:
        """A failure of the database itself (a full disk, a lock, damage) in the product's words; any other as it is."""
        words = words_of_damage(error)
        if words is None:
            return _translated(error)
        damage = StorageDamaged(f"the database {self.path} is damaged ({words})")
        damage.__cause__ = error
        if not self._damage.done():
            self._damage.set_result(damage)
        return damage

    async def _write_pending(self) -> None:
        while self._pending:
            group = [self._pending.popleft() for _ in range(min(GROUP, len(self._pending)))]
            group = [item for item in group if not item.done.cancelled()]
            if group:
                await self._write_group(group)

    async def _write_group(self, group: list[_Pending[Any]]) -> None:
        try:
            outcomes = await self._writer.run(lambda connection: _commit_together(connection, group))
        except SQLAlchemyError as error:
            failure = self._judged(error)
            if not isinstance(failure, StorageError):
                failure = StorageError(f"the database refused a commit: {_cause(error)}")
                failure.__cause__ = error
            outcomes = [_Outcome(error=failure)] * len(group)
        self._commits += 1
        self._committed.set()
        self._committed = asyncio.Event()
        for item, outcome in zip(group, outcomes, strict=True):
            if item.done.done():
                continue
            if outcome.error is None:
                item.done.set_result(outcome.result)
            else:
                item.done.set_exception(self._judged(outcome.error))

    async def _finish(self) -> None:
        self._closed = True
        if self._writing is not None:
            await self._writing


def _commit_together(connection: Connection, group: list[_Pending[Any]]) -> list[_Outcome]:
    points = [item.point for item in group if item.point]
    crash_if_asked(points, "before")
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        outcomes = [_run_savepoint(connection, item.work) for item in group]
        crash_if_asked(points, "during")
        connection.exec_driver_sql("COMMIT")
    except BaseException:
        with contextlib.suppress(SQLAlchemyError):  # a failed COMMIT may have ended the transaction already
            connection.exec_driver_sql("ROLLBACK")
        raise
    crash_if_asked(points, "after")
    return outcomes


def _run_savepoint(connection: Connection, work: Work[Any]) -> _Outcome:
    connection.exec_driver_sql("SAVEPOINT unit")
    try:
        outcome = _Outcome(result=work(connection))
    except Exception as error:  # handed to the caller of write(), who alone knows what it means
        if isinstance(error, DBAPIError) and _transaction_lost(connection):
            raise
        connection.exec_driver_sql("ROLLBACK TO unit")
        outcome = _Outcome(error=error)
    connection.exec_driver_sql("RELEASE unit")
    return outcome


def _translated(error: Exception) -> Exception:
    """A refusal of the database (a full disk, a lock) as StorageError; any other error as it is."""
    if not isinstance(error, OperationalError):
        return error
    failure = StorageError(f"the database refused: {_cause(error)}")
    failure.__cause__ = error
    return failure


def _transaction_lost(connection: Connection) -> bool:
    """A full disk or an I/O error makes SQLite roll back the whole transaction, savepoints included."""
    raw = connection.connection.dbapi_connection
    return not (isinstance(raw, sqlite3.Connection) and raw.in_transaction)


def _read(connection: Connection, work: Work[T]) -> T:
    connection.exec_driver_sql("BEGIN")
    try:
        return work(connection)
    finally:
        connection.exec_driver_sql("ROLLBACK")


def _cause(error: SQLAlchemyError) -> str:
    """The driver's own words, without the statement and its parameters: those hold what people said."""
    return str(error.orig) if isinstance(error, DBAPIError) else type(error).__name__


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
