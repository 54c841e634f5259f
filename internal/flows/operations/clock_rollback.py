"""Detects that the clock was set back, and makes waiting work due again that has times from before."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from internal.scheduling.clock import Clock, MovedClock
from internal.storage import clock_rollback
from internal.storage.database import Database

log = logging.getLogger(__name__)

NOTICED = timedelta(seconds=5)
"""The smallest step that is detected; smaller ones delay work by no more than that."""

LONGEST = timedelta(hours=1)
"""The longest wait that a right clock gives, except where the configuration or Telegram ask for more."""


class ClockRollback:
    """Compares the clock with a monotonic one. `look` is called often and costs nothing in between.

    Of several processes only the one with the scheduler's lease looks; the others call `forget`.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        longest: timedelta = LONGEST,
        monotonic: Callable[[], float] | None = None,
    ) -> None:
        """`longest` is the longest pause of a run that the configuration allows."""
        passing = clock.seconds if isinstance(clock, MovedClock) else time.monotonic
        self._database, self._clock, self._monotonic = database, clock, monotonic or passing
        self._longest = max(longest, LONGEST)
        self._seen: tuple[datetime, float] | None = None

    def forget(self) -> None:
        """Makes the next look the first one, as another process has looked meanwhile."""
        self._seen = None

    async def look(self) -> None:
        """Compares the clocks; at the first call too, as the clock may have been set back while the program was off."""
        now, passed = self._clock.now(), self._monotonic()
        before, self._seen = self._seen, (now, passed)
        if before is None:
            changed = await self._database.write(lambda c: clock_rollback.cap(c, now, self._longest))
            back = None
        else:
            back = before[0] + timedelta(seconds=passed - before[1]) - now
            if back <= NOTICED:
                return
            changed = await self._database.write(lambda c: clock_rollback.shift(c, now, back))
        if back is not None or changed:
            seconds = None if back is None else round(back.total_seconds())
            log.warning("clock_set_back", extra={"seconds": seconds, "hurried": changed})
