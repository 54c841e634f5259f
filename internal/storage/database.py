"""The database: a unit of work is a plain function that runs whole on a connection's own thread.

Measured: a statement costs 340-520 us when every call crosses to the thread, 21 us when the whole unit of work does.
So repositories are synchronous functions over a SQLAlchemy connection, and `write`/`read` hop once. What SQLite and
PostgreSQL do differently is in `Engine`; everything else is here and in the repositories.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError, SQLAlchemyError

from internal.errors import StorageDamaged, StorageError
from internal.storage.change_log import CHANGED_OWNERS
from internal.storage.crash_points import crash_if_asked
from internal.storage.engine.choice import engine_of
from internal.storage.engine.corruption import words_of_damage
from internal.storage.engine.driver import Engine, ThreadConnection, refusal
from internal.storage.engine.owner_scope import current_scope
from internal.storage.engine.shared_reads import SharedReads, UnitOutcome, roll_back
from internal.storage.engine.write_guard import Fence, current_fence, wrap_work

T = TypeVar("T")
Work = Callable[[Connection], T]

GROUP = 256
"""Most units of work that share one commit: bounds how long the first of them waits."""

READERS = 2

_BELLS = "laplaced_bells"


@dataclass(slots=True)
class _CacheVersion:
    """The value that `cache_version` returns within `one_cache_version`, until this process hears of a change.

    `heard`: the owner, his last change by this process, and the number of commits of others that were announced.
    """

    heard: tuple[int, int, int] = (0, -1, -1)
    asked: int = 0
    over: bool = False


_cache_version: ContextVar[_CacheVersion | None] = ContextVar("laplaced_moment", default=None)


def ring_after(connection: Connection, bell: str, word: object) -> None:
    """Rings a bell in other processes, like `Database.ring`, once the surrounding unit of work is committed."""
    if connection.dialect.name != "sqlite":
        connection.info.setdefault(_BELLS, set()).add(f"{bell}:{word}")


class ReadSnapshot:
    """One consistent state of a store, for as long as it is read."""

    def __init__(self, link: ThreadConnection, judged: Callable[[Exception], Exception]) -> None:
        self._link, self._judged = link, judged

    async def read(self, work: Work[T]) -> T:
        """Runs `work` over it. After an error the snapshot may be gone and must not be read again."""
        try:
            return await self._link.run(work)
        except SQLAlchemyError as error:
            raise self._judged(error) from error


@dataclass(slots=True)
class _Pending(Generic[T]):
    work: Work[T]
    done: asyncio.Future[T]
    point: str | None
    scope: str
    fence: Fence | None


class Database:
    """A store with one writing connection and several readers.

    Units of work that wait while another is being written share the next commit. If one of them raises, all are undone
    and run again, each behind its own savepoint, so that only that one stays undone. A result is returned only after
    its commit is durable. So a unit of work may run more than once before it is committed once, and may change nothing
    but the store.
    Reads that are asked for together share a snapshot.
    """

    def __init__(self, engine: Engine, writer: ThreadConnection, readers: Sequence[ThreadConnection]) -> None:
        self.path = engine.path
        self._engine = engine
        self._writer = writer
        self._beside: ThreadConnection | None = None
        self._opening = asyncio.Lock()
        self._reads = SharedReads(engine, readers, self._judged)
        self._direct_reader = engine.direct_reader()
        self._pending: deque[_Pending[Any]] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._closed = False
        self._commits = self._commits_of_others = self._asked = 0
        self._changed_at: dict[int, int] = {}
        self._committed = asyncio.Event()
        self._hearing: dict[str, list[Callable[[str], None]]] = {}
        self._damage: asyncio.Future[StorageDamaged] = asyncio.get_running_loop().create_future()

    @property
    def shared(self) -> bool:
        """Whether other processes may write into the store at the same time."""
        return self._engine.is_shared()

    def cache_version(self, user_id: int) -> int:
        """A number that grows with every commit that extends this owner's change log; unchanged, caches are valid.

        If other processes write too, each call outside `one_cache_version` returns more, so caches look for changes.
        """
        if not self._engine.is_shared():
            return self._changed_at.get(user_id, 0)
        moment, heard = _cache_version.get(), (user_id, self._changed_at.get(user_id, 0), self._commits_of_others)
        if moment is not None and not moment.over and moment.heard == heard:
            return moment.asked
        self._asked += 1
        if moment is not None:
            moment.heard, moment.asked = heard, self._asked
        return self._asked

    @contextlib.contextmanager
    def one_cache_version(self) -> Iterator[None]:
        """Brings caches used inside up to date once, and again after each change that this process hears of."""
        moment, before = _CacheVersion(), _cache_version.get()
        _cache_version.set(moment)
        try:
            yield
        finally:
            moment.over = True  # tasks that were begun inside keep it
            _cache_version.set(before)

    @property
    def commits_seen(self) -> int:
        """The number of known commits, including those other processes announced: the argument of `committed`.

        With `cache_version` instead, two waiters would wake each other by asking.
        """
        return self._commits

    async def committed(self, since: int) -> None:
        """Waits for a commit after `since`, a value of `heard`."""
        while self._commits == since:
            await self._committed.wait()

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, where: Path | str) -> AsyncIterator[Database]:
        """Opens a SQLite file (created if absent, closed to other users) or a `postgresql://` address.

        Raises StorageError when the database cannot be used.
        """
        engine = await engine_of(where)
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(engine.close)
            writer = await engine.writer()
            stack.push_async_callback(writer.close)
            readers = []
            for _ in range(READERS):
                reader = await engine.reader()
                stack.push_async_callback(reader.close)
                readers.append(reader)
            database = cls(engine, writer, readers)
            stack.push_async_callback(database._finish)
            listening = asyncio.create_task(database._listen(), name="database-listener")
            try:
                yield database
            finally:
                listening.cancel()

    async def write(self, work: Work[T], *, point: str | None = None) -> T:
        """Runs `work` in a transaction and returns its result once that is on disk.

        `point` names the commit point (C1..C13) for crash tests. An error of `work` undoes it and is raised here; a
        failing disk raises StorageError, a damaged file StorageDamaged. Work that has not begun is skipped when its
        caller is cancelled; work that has begun is finished. It sees its caller's context variables.
        """
        if self._closed:
            raise StorageError("the database is closed")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        context, whole = copy_context(), wrap_work(work)
        self._pending.append(_Pending(lambda c: context.run(whole, c), done, point, current_scope(), current_fence()))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_pending(), name="database-writer")
        return await done

    async def read(self, work: Work[T]) -> T:
        """Runs `work` over one consistent, read-only snapshot that includes every finished write.

        Raises the same errors as `write`.
        """
        return await self._reads.read(work)

    async def read_quickly(self, work: Work[T]) -> T:
        """`read` for a few rows found by an index, each statement of which may see another state.

        On SQLite it runs on the caller's thread: crossing to another takes several times as long as the read.
        """
        if self._direct_reader is not None:
            await asyncio.sleep(0)  # a loop of reads yields to other tasks, as `read` does
            with contextlib.suppress(SQLAlchemyError):  # `read` waits for a lock and reports the error
                return work(self._direct_reader)
        return await self.read(work)

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[ReadSnapshot]:
        """Opens one snapshot of the store on a connection of its own until the block ends; writers continue meanwhile.

        Raises StorageError when there is no connection for it.
        """
        scope, link = current_scope(), await self._engine.reader()
        taken = ReadSnapshot(link, self._judged)
        try:
            await taken.read(lambda connection: self._engine.begin_reading(connection, scope))
            yield taken
        finally:
            await link.run(lambda connection: roll_back(self._engine, connection))
            await link.close()

    async def write_separately(self, work: Work[T]) -> T:
        """Runs `work` in a short transaction that waits for no other unit of work of this process and sees no snapshot.

        For leases, which must not expire during a long import. On SQLite it is a `write`. Raises the same errors.
        """
        if not self.shared:
            return await self.write(work)
        try:
            async with self._opening:
                if self._beside is None:
                    self._beside = await self._engine.writer()
            return await self._beside.run(lambda connection: self._engine.short_transaction(connection, work))
        except SQLAlchemyError as error:
            raise refusal(error) from error

    async def exclusive(self, function: Callable[[Connection], T]) -> T:
        """Runs `function` on the writing connection outside any transaction (migrations, checkpoints).

        It is run again if the server goes away meanwhile, so it must check how far it came. Raises what it raises.
        """
        attempt = 0
        while True:
            try:
                return await self._writer.run(function)
            except SQLAlchemyError as error:
                attempt += 1
                if not await self._engine.once_more(error, attempt):
                    raise

    async def until_damaged(self) -> NoReturn:
        """Waits while the file is sound. Raises StorageDamaged when it is not: more writes would damage it further.

        The caller that met the damage gets the error too, but it may be a background job that retries for ever.
        """
        raise await self._damage

    def _judged(self, error: Exception) -> Exception:
        """Translates a failure of the database itself (full disk, lock, damage); returns other errors unchanged."""
        words = words_of_damage(error)
        if words is None:
            return refusal(error) if isinstance(error, OperationalError | InternalError) else error
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
        outcomes = await self._outcomes(group)
        self._engine.announce_commit()
        for bell in chain.from_iterable(outcome.bells for outcome in outcomes):
            self._engine.ring(bell)
        self._mark_commit()
        for owner in chain.from_iterable(outcome.changed_owners for outcome in outcomes):
            self._changed_at[owner] = self._commits
        for item, outcome in zip(group, outcomes, strict=True):
            if item.done.done():
                continue
            if outcome.error is None:
                item.done.set_result(outcome.result)
            else:
                item.done.set_exception(self._judged(outcome.error))

    async def _outcomes(self, group: list[_Pending[Any]]) -> list[UnitOutcome]:
        attempt = 0
        while True:
            try:
                return await self._writer.run(lambda connection: self._commit_together(connection, group))
            except SQLAlchemyError as error:
                attempt += 1
                if await self._engine.once_more(error, attempt):
                    continue
                failure = self._judged(error)
                if not isinstance(failure, StorageError):
                    failure = refusal(error)
                return [UnitOutcome(error=failure)] * len(group)

    def _commit_together(
        self, connection: Connection, group: list[_Pending[Any]], *, savepoints: bool = False
    ) -> list[UnitOutcome]:
        points = [item.point for item in group if item.point]
        crash_if_asked(points, "before")
        alone = len(group) == 1 and not savepoints
        outcomes = list[UnitOutcome]()
        self._engine.begin(connection, group[0].scope if alone else None)
        try:
            for item in group:
                if not alone:
                    self._engine.enter_scope(connection, item.scope)
                outcomes.append((self._run_savepoint if savepoints else self._run)(connection, item))
                if outcomes[-1].error is None or savepoints:
                    continue
                roll_back(self._engine, connection)
                if alone and not self.shared:  # else only a transaction that commits surely saw no conflicting write
                    return outcomes
                return self._commit_together(connection, group, savepoints=True)
            crash_if_asked(points, "during")
            self._engine.commit(connection)
        except BaseException:
            roll_back(self._engine, connection)
            raise
        crash_if_asked(points, "after")
        return outcomes

    def _run_savepoint(self, connection: Connection, item: _Pending[Any]) -> UnitOutcome:
        self._engine.at_once(connection, "SAVEPOINT unit")
        outcome = self._run(connection, item)
        if outcome.error is not None:
            self._engine.at_once(connection, "ROLLBACK TO SAVEPOINT unit")
        self._engine.at_once(connection, "RELEASE SAVEPOINT unit")
        return outcome

    def _run(self, connection: Connection, item: _Pending[Any]) -> UnitOutcome:
        try:
            if item.fence is not None:
                item.fence(connection)
            info = connection.info
            info.pop(_BELLS, None)
            info.pop(CHANGED_OWNERS, None)
            result = item.work(connection)
            return UnitOutcome(result, None, info.pop(_BELLS, ()), info.pop(CHANGED_OWNERS, ()))
        except Exception as error:  # handed to the caller of write(), who alone knows what it means
            if isinstance(error, DBAPIError) and self._engine.is_lost(connection, error):
                raise
            return UnitOutcome(error=error)

    def _mark_commit(self) -> None:
        self._commits += 1
        self._committed.set()
        self._committed = asyncio.Event()

    def ring(self, bell: str, word: str = "") -> None:
        """Calls what other processes registered for this bell with `word`, which has no spaces.

        Frequent rings are merged into some dozen a second. A process that is away misses them: a hint, not a queue.
        """
        self._engine.ring(f"{bell}:{word}")

    def when_rung(self, bell: str, hear: Callable[[str], None]) -> None:
        """Registers `hear`, which is called with the word whenever another process rings this bell."""
        self._hearing.setdefault(bell, []).append(hear)

    async def _listen(self) -> None:
        while True:
            rung = await self._engine.until_announced()
            self._commits_of_others += 1
            self._mark_commit()
            for bell, _, word in (one.partition(":") for one in rung):
                for hear in self._hearing.get(bell, []):
                    hear(word)

    async def _finish(self) -> None:
        self._closed = True
        await self._reads.finish()
        if self._direct_reader is not None:
            self._direct_reader.close()
            self._direct_reader.engine.dispose()
        if self._writing is not None:
            await self._writing
        if self._beside is not None:
            await self._beside.close()
