"""One clock for all processes of a store: the server's, which each of them asks.

Reminders, pauses and daily spending are stored as times and judged by `now`. With clocks minutes apart one machine
would be early and the other late, so a process on a server asks the server for the time.
"""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from internal.scheduling.clock import Clock, SystemClock
from internal.storage.database import Database
from internal.storage.engine.postgres_server import ServerTime, server_time

log = logging.getLogger(__name__)

ASKED: Final = timedelta(seconds=30)
"""The time between two questions to the server, in which no oscillator drifts by a millisecond."""

APART: Final = timedelta(seconds=5)
"""The difference from which a machine's clock is reported: its log and certificates use that clock."""

_SURE: Final = timedelta(seconds=1)
"""The longest duration of an answer that is precise enough."""

_TRIES: Final = 3


class ClockObserver(Protocol):
    def clock_compared(self, seconds: float) -> None:
        """Called with the seconds by which the server's clock is ahead of this machine's."""


class StoreClock:
    """The server's time, kept between two answers by a monotonic clock."""

    def __init__(
        self,
        database: Database,
        observer: ClockObserver | None = None,
        *,
        own: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`own` is this machine's clock, used until the first answer; `monotonic` only counts forward."""
        self._database, self._observer = database, observer
        self._own, self._monotonic = own, monotonic
        self._shown, self._counted = own(), monotonic()
        self._apart = False

    def now(self) -> datetime:
        return self._shown + timedelta(seconds=self._monotonic() - self._counted)

    async def ask(self) -> None:
        """Sets the clock by the server. Raises StorageError and changes nothing if there is no answer."""
        answers = [await self._asked() for _ in range(_TRIES)]
        best = min(answers, key=lambda answer: answer.within)
        if best.within > _SURE.total_seconds():
            log.info("store_clock_not_asked", extra={"within_s": round(best.within, 1)})
            return
        self._shown, self._counted = best.at, best.counted
        self._compare(self.now() - self._own())

    async def _asked(self) -> ServerTime:
        return await self._database.read(lambda c: server_time(c, self._monotonic))

    def _compare(self, ahead: timedelta) -> None:
        if self._observer is not None:
            self._observer.clock_compared(ahead.total_seconds())
        before, self._apart = self._apart, abs(ahead) > APART
        if self._apart and not before:
            log.warning("clock_differs", extra={"server_ahead_s": round(ahead.total_seconds(), 1)})


async def clock_of(database: Database, observer: ClockObserver | None = None) -> Clock:
    """The clock of a process: its machine's for a database file, the server's for a server.

    Raises StorageError when the server does not answer.
    """
    if not database.shared:
        return SystemClock()
    clock = StoreClock(database, observer)
    await clock.ask()
    return clock
