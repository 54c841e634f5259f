"""Reads of a store: those that are asked for together share a snapshot and one crossing to a reader's thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from internal.storage.engine.driver import Engine, ThreadConnection
from internal.storage.engine.owner_scope import current_scope

T = TypeVar("T")

SLOW_READ_S = 0.02
"""Seconds after which a group's waiting reads go to another connection, and finished ones to their callers."""


@dataclass(slots=True, eq=False)
class _Asked(Generic[T]):
    work: Callable[[Connection], T]
    done: asyncio.Future[T]
    scope: str


@dataclass(slots=True)
class UnitOutcome:
    """The outcome of a unit of work, the bells that its commit rings, and the owners whose change log it extended."""

    result: Any = None
    error: Exception | None = None
    bells: Collection[str] = ()
    changed_owners: Collection[int] = ()


@dataclass(slots=True, eq=False)
class _Group:
    """Reads that share a snapshot and one crossing to a reader's thread, which takes them from `waiting`."""

    waiting: deque[_Asked[Any]]
    finished: deque[tuple[_Asked[Any], UnitOutcome]] = field(default_factory=deque)

    def hand_out(self) -> None:
        while self.finished:
            asked, outcome = self.finished.popleft()
            if asked.done.done():
                continue
            if outcome.error is None:
                asked.done.set_result(outcome.result)
            else:
                asked.done.set_exception(outcome.error)


class SharedReads:
    """The reading connections of a store. `judged` translates an error of the database for the caller."""

    def __init__(
        self, engine: Engine, readers: Sequence[ThreadConnection], judged: Callable[[Exception], Exception]
    ) -> None:
        self._engine, self._judged = engine, judged
        self._readers: asyncio.Queue[ThreadConnection] = asyncio.Queue()
        for reader in readers:
            self._readers.put_nowait(reader)
        self._asked: dict[str, deque[_Asked[Any]]] = {}
        self._reading: set[asyncio.Task[None]] = set()

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` over a snapshot that includes every finished write, and raises what it raises."""
        asked: _Asked[T] = _Asked(work, asyncio.get_running_loop().create_future(), current_scope())
        self._ask(asked)
        return await asked.done

    async def finish(self) -> None:
        """Waits for the reads that were asked for."""
        await asyncio.gather(*self._reading)

    def _ask(self, asked: _Asked[Any]) -> None:
        waiting = self._asked.setdefault(asked.scope if self._engine.is_shared() else "", deque())
        waiting.append(asked)
        if len(waiting) == 1:  # what else is asked for in this turn of the event loop joins it
            task = asyncio.create_task(self._read_together(asked.scope), name="database-reader")
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _read_together(self, scope: str) -> None:
        reader, attempt = await self._readers.get(), 0
        group = _Group(self._asked.pop(scope if self._engine.is_shared() else ""))
        relief = asyncio.get_running_loop().call_later(SLOW_READ_S, self._relieve, group)
        try:
            while group.waiting:
                try:
                    await reader.run(lambda connection: self._read(connection, group, scope))
                except Exception as error:  # handed to the callers
                    attempt += 1
                    again = isinstance(error, SQLAlchemyError) and await self._engine.once_more(error, attempt)
                    if not again and group.waiting:
                        group.finished.append((group.waiting.popleft(), UnitOutcome(error=self._judged(error))))
        finally:
            relief.cancel()
            self._readers.put_nowait(reader)
            group.hand_out()

    def _relieve(self, group: _Group) -> None:
        """Gives the reads behind a slow one of their group to another connection."""
        group.hand_out()
        while True:
            try:
                self._ask(group.waiting.popleft())
            except IndexError:  # the reader's thread takes from there too
                return

    def _read(self, connection: Connection, group: _Group, scope: str) -> None:
        self._engine.begin_reading(connection, scope)
        try:
            while True:
                try:
                    asked = group.waiting.popleft()
                except IndexError:
                    return
                if asked.done.cancelled():
                    continue
                try:
                    outcome = UnitOutcome(result=asked.work(connection))
                except SQLAlchemyError:  # it may have ended the transaction, and may be worth another attempt
                    group.waiting.appendleft(asked)
                    raise
                except Exception as error:  # handed to the caller of read()
                    outcome = UnitOutcome(error=error)
                group.finished.append((asked, outcome))
        finally:
            roll_back(self._engine, connection)


def roll_back(engine: Engine, connection: Connection) -> None:
    """Rolls a transaction back; after a cut connection or a failed COMMIT there is nothing to roll back."""
    with contextlib.suppress(SQLAlchemyError):
        engine.at_once(connection, "ROLLBACK")
