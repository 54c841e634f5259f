"""PostgreSQL: several processes write, and each unit of work still runs as if it were alone.

Every writing transaction is SERIALIZABLE. One that conflicts with another is run again, so a unit of work may read,
decide and write as it does on SQLite, which runs one writer at a time. A lost connection is opened again; if it was
lost during a COMMIT, the server is asked what became of the transaction before anything is repeated.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import random
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NoReturn, TypeVar

import psycopg
from psycopg.types.string import StrDumper
from sqlalchemy import URL, Connection, NullPool, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from internal.errors import StorageError
from internal.storage.engine.driver import cause_of, to_json
from internal.storage.engine.owner_scope import EVERYONE
from internal.storage.engine.repeated_statements import RepeatingConnection
from internal.storage.engine.statement_cache import StatementCache

log = logging.getLogger(__name__)

T = TypeVar("T")

CHANNEL: Final = "laplaced"
"""The channel notified after a commit, so that other workers look at once."""

_ANOTHER_CAME_FIRST: Final = frozenset({"40001", "40P01"})
"""SQLSTATE of a serialization failure and of a deadlock: nothing was done, and it can be retried."""

_GOING_DOWN: Final = frozenset({"57P01", "57P02", "57P03", "53300", "25P03", "57P05"})
"""SQLSTATE of a server that stops, starts, has no free connection, or waited too long for us, inside a transaction
or between two.
"""

_XID: Final = "laplaced_xid"

_NEVER_IDLE: Final = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
"""Ends the transaction of a paused worker after this time, and with it its locks, including those of leases."""

_MOST_ATTEMPTS: Final = 100
_PATIENCE_S: Final = 60.0
"""Seconds to wait for a server that is away: a restart with recovery takes some."""

_START_ATTEMPTS: Final = 7
"""The number of attempts to reach a server at start, over some seconds: it may be starting together with us."""

_SOON_READY: Final = ("starting up", "shutting down", "recovery", "too many", "remaining connection slots")
"""Words in a server's refusal of a connection that mean a state that passes."""

_CONNECT_TIMEOUT_S: Final = 5

KEEPALIVE: Final[dict[str, Any]] = {
    "connect_timeout": _CONNECT_TIMEOUT_S,
    "keepalives_idle": 30,
    "tcp_user_timeout": 20_000,  # ms; otherwise TCP retransmits for minutes to a server without power
}
"""Parameters by which a connection finds out that its other end is gone."""

_PREPARED_AFTER: Final = 3
_MOST_PREPARED: Final = 300
"""Executions after which a direct connection prepares a statement (the server then takes half of the time for a
message), and the most that it keeps prepared.
"""

_TELL_EVERY_S: Final = 0.02
_BELLS: Final = 100
"""The most bells in one message, which holds 8,000 bytes."""

_LOOK_EVERY_S: Final = 1.0
"""Seconds between looks of a worker that hears nothing: a transaction-level pooler forgets LISTEN."""

DIALECT_OPTIONS: Final[dict[str, Any]] = {
    "json_serializer": to_json,
    "hide_parameters": True,  # they are people's words, and errors end up in logs
    "use_native_hstore": False,
    "paramstyle": "format",  # as RepeatingConnection gives its values
    "execution_options": {"preserve_rowcount": True},  # of an INSERT too, which otherwise has none here
}
"""SQLAlchemy's options for the server, for all code that opens connections."""

_STATEMENTS: Final = StatementCache()


class WithoutNul(StrDumper):
    """A text without NUL characters, which PostgreSQL cannot store. SQLite can, and people never mean it."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "") if "\0" in obj else obj)


class _PostgresLink:
    """A SQLAlchemy connection with a thread of its own, opened again after it was lost."""

    def __init__(self, url: URL) -> None:
        self._thread = ThreadPoolExecutor(1, "postgres")
        self._engine = create_engine(
            url,
            poolclass=NullPool,
            **DIALECT_OPTIONS,
            connect_args={**KEEPALIVE, "application_name": "laplaced", "prepare_threshold": None},
        )
        self._sql: Connection | None = None

    async def run(self, function: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, function)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
        self._thread.shutdown()

    def _run(self, function: Callable[[Connection], T]) -> T:
        if self._sql is not None and is_cut(self._sql):
            self._drop()
        if self._sql is None:
            opened = _STATEMENTS.connect(self._engine, RepeatingConnection)
            self._sql = opened.execution_options(isolation_level="AUTOCOMMIT")
            raw = _raw(self._sql)
            raw.adapters.register_dumper(str, WithoutNul)
            if _is_direct(raw):
                raw.prepare_threshold, raw.prepared_max = _PREPARED_AFTER, _MOST_PREPARED
        return function(self._sql)

    def _drop(self) -> None:
        if self._sql is not None:
            with contextlib.suppress(SQLAlchemyError):
                self._sql.close()
        self._sql = None
        self._engine.dispose()


class PostgresEngine:
    """A server that many workers write to at once."""

    path = None

    def __init__(self, url: URL) -> None:
        self._url = url
        self._commits_to_announce = asyncio.Event()
        self._heard = asyncio.Event()
        self._to_ring: set[str] = set()
        self._rung: set[str] = set()
        self._token = f"{random.getrandbits(64):016x}"
        self._bell = [
            asyncio.create_task(self._over_a_connection(self._tell), name="postgres-tell"),
            asyncio.create_task(self._over_a_connection(self._hear), name="postgres-hear"),
        ]

    @classmethod
    async def prepared(cls, where: str) -> PostgresEngine:
        """Raises StorageError for an invalid address."""
        return cls(url_of(where))

    async def writer(self) -> _PostgresLink:
        return await self._opened()

    async def reader(self) -> _PostgresLink:
        return await self._opened()

    def direct_reader(self) -> None:
        return None

    async def _opened(self) -> _PostgresLink:
        link, attempt = _PostgresLink(self._url), 0
        while True:
            try:
                await link.run(lambda connection: connection.exec_driver_sql("SELECT 1"))
            except SQLAlchemyError as error:
                attempt += 1
                if attempt < _START_ATTEMPTS and not _is_refused(error) and await self.once_more(error, attempt):
                    continue
                await link.close()
                raise StorageError(f"cannot use the database: {' '.join(cause_of(error).split())}") from error
            else:
                return link

    def begin(self, connection: Connection, alone: str | None) -> None:
        scope = "" if alone is None else f"; {_scoped(alone)}"
        number = "SELECT pg_current_xact_id()::text"  # asked for here, it costs no round trip
        begun = _at_once(connection, f"BEGIN ISOLATION LEVEL SERIALIZABLE; {_NEVER_IDLE}{scope}; {number}")
        while begun.nextset():
            pass
        (connection.info[_XID],) = begun.fetchall()[0]

    def commit(self, connection: Connection) -> None:
        xid = connection.info[_XID]
        try:
            _at_once(connection, "COMMIT")
        except DBAPIError as error:
            if not _is_away(error) or not self._was_committed(xid):
                raise

    def _was_committed(self, xid: str) -> bool:
        """Asks what became of a transaction whose COMMIT got no answer. Raises when the server stays away.

        One in progress ends when its server process notices the lost client; a guess before could repeat or lose it.
        """
        waited = 0.0
        while True:
            try:
                with psycopg.connect(_dsn(self._url), autocommit=True, **KEEPALIVE) as asking:
                    row = asking.execute("SELECT pg_xact_status(%s::xid8)", (xid,), prepare=False).fetchone()
                status = row[0] if row else None
            except psycopg.OperationalError:
                if waited > _PATIENCE_S:
                    raise
                status = "in progress"
            if status != "in progress":
                log.warning("commit_cut", extra={"outcome": str(status)})
                return status == "committed"
            pause = 0.1 + waited / 4
            waited += pause
            time.sleep(pause)

    def begin_reading(self, connection: Connection, scope: str) -> None:
        _at_once(connection, f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_scoped(scope)}")

    def enter_scope(self, connection: Connection, scope: str) -> None:
        _at_once(connection, _scoped(scope))

    def at_once(self, connection: Connection, statement: str) -> None:
        _at_once(connection, statement)

    def short_transaction(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        _at_once(connection, f"BEGIN ISOLATION LEVEL READ COMMITTED; {_NEVER_IDLE}")
        try:
            result = work(connection)
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            with contextlib.suppress(SQLAlchemyError):
                connection.exec_driver_sql("ROLLBACK")
            raise
        return result

    def is_lost(self, connection: Connection, error: DBAPIError) -> bool:
        return _is_away(error) or _state_of(error) in _ANOTHER_CAME_FIRST

    async def once_more(self, error: SQLAlchemyError, attempt: int) -> bool:
        if not isinstance(error, DBAPIError) or attempt > _MOST_ATTEMPTS:
            return False
        if _state_of(error) in _ANOTHER_CAME_FIRST:
            await asyncio.sleep(random.uniform(0, min(0.002 * 2**attempt, 0.25)))
            return True
        if not _is_away(error) or _pause(attempt) * attempt > _PATIENCE_S:
            return False
        log.warning("database_away", extra={"attempt": attempt, "cause": cause_of(error)})
        await asyncio.sleep(_pause(attempt))
        return True

    def announce_commit(self) -> None:
        self._commits_to_announce.set()

    def ring(self, bell: str) -> None:
        self._to_ring.add(bell)
        self._commits_to_announce.set()

    def is_shared(self) -> bool:
        return True

    async def until_announced(self) -> frozenset[str]:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_EVERY_S):
                await self._heard.wait()
        self._heard.clear()
        rung, self._rung = frozenset(self._rung), set()
        return rung

    async def close(self) -> None:
        for task in self._bell:
            task.cancel()
        await asyncio.gather(*self._bell, return_exceptions=True)

    async def _tell(self, connection: psycopg.AsyncConnection[Any]) -> None:
        while True:
            await self._commits_to_announce.wait()
            self._commits_to_announce.clear()
            bells = set(itertools.islice(self._to_ring, _BELLS))
            self._to_ring -= bells
            try:
                await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, " ".join([self._token, *bells])))
            except psycopg.Error:  # it is sent over the next connection
                self._to_ring |= bells
                self._commits_to_announce.set()
                raise
            if self._to_ring:
                self._commits_to_announce.set()
            await asyncio.sleep(_TELL_EVERY_S)

    async def _hear(self, connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute(f"LISTEN {CHANNEL}")
        async for notice in connection.notifies():
            token, *bells = notice.payload.split()
            if token != self._token:
                self._rung.update(bells)
                self._heard.set()

    async def _over_a_connection(self, talk: Callable[[psycopg.AsyncConnection[Any]], Awaitable[None]]) -> NoReturn:
        """Runs `talk` over a connection, and over a new one each time the last was lost."""
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                async with await psycopg.AsyncConnection.connect(
                    _dsn(self._url), autocommit=True, prepare_threshold=None, **KEEPALIVE
                ) as connection:
                    await talk(connection)
            await asyncio.sleep(1)


def url_of(where: str) -> URL:
    """The address as SQLAlchemy takes it, with the driver. Raises StorageError."""
    try:
        return make_url(where).set(drivername="postgresql+psycopg")
    except ArgumentError as error:
        raise StorageError("storage.url is no address of a database") from error


def is_cut(connection: Connection) -> bool:
    return connection.closed or connection.invalidated or bool(_raw(connection).closed)


def _raw(connection: Connection) -> psycopg.Connection[Any]:
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, psycopg.Connection)
    return raw


def _is_direct(raw: psycopg.Connection[Any]) -> bool:
    """Whether the other end is the server's own process.

    A prepared statement belongs to that process, and a pooler, which shows clients a number of its own, changes it.
    """
    found = raw.execute("SELECT pg_backend_pid()").fetchone()
    return found is not None and found[0] == raw.info.backend_pid


def _dsn(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _scoped(scope: str) -> str:
    """The setting that makes the tables' policies admit this scope, until the transaction or its savepoint ends."""
    if scope not in ("", EVERYONE) and not scope.lstrip("-").isdigit():
        raise ValueError(f"no scope: {scope}")
    return f"SET LOCAL laplaced.owner = '{scope}'"


def _at_once(connection: Connection, statements: str) -> psycopg.Cursor[Any]:
    """Sends several statements in one message: a unit of work costs no further round trip for its scope."""
    try:
        return _raw(connection).execute(statements.encode(), prepare=False)
    except psycopg.Error as error:
        raise _as_sqlalchemy(error) from error


def _as_sqlalchemy(error: psycopg.Error) -> DBAPIError:
    """Returns the driver's error as the rest of a unit of work would raise it."""
    kind = InterfaceError if isinstance(error, psycopg.InterfaceError) else OperationalError
    return kind(None, None, error)


def _state_of(error: DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)


def _is_away(error: DBAPIError) -> bool:
    """Whether the connection or the server is gone, rather than the statement refused."""
    state = _state_of(error)
    if state is not None:
        return state in _GOING_DOWN or state.startswith("08")
    return error.connection_invalidated or isinstance(error.orig, psycopg.OperationalError | psycopg.InterfaceError)


def _is_refused(error: SQLAlchemyError) -> bool:
    """Whether the server refuses this login: waiting does not mend a wrong password."""
    said = cause_of(error)
    return "FATAL:" in said and not any(state in said for state in _SOON_READY)


def _pause(attempt: int) -> float:
    return float(min(0.05 * 2**attempt, 2.0))
