"""Uses APScheduler as a clock that only sets an event.

Its default misfire grace is one second, a job counts as run when it is submitted, and a shutdown cancels running jobs.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler


class Ticker:
    """Ticks when it is time to look for due work. Missed ticks come as one.

    `others` is called at every wake to wake other processes; these call `wake_here`.
    """

    def __init__(self, every: timedelta, others: Callable[[], None] = lambda: None) -> None:
        self._others = others
        self._every = max(every.total_seconds(), 0.05)
        self._due = asyncio.Event()
        self._begun = self._ended = 0
        self._turned = asyncio.Condition()
        self._scheduler = AsyncIOScheduler(timezone="UTC")

    def wake(self) -> None:
        """Makes the next tick come at once, in other processes too."""
        self.wake_here()
        self._others()

    def wake_here(self) -> None:
        """Makes the next tick of this process come at once."""
        self._due.set()

    async def round(self) -> None:
        """Wakes, and waits until every job has looked once.

        Never returns without an iteration over `ticks`.
        """
        async with self._turned:
            wanted = self._begun + 1
            while self._ended < wanted:
                self.wake()
                await self._turned.wait()

    async def _tick(self) -> None:
        # A coroutine, because APScheduler calls plain functions in a thread, which must not set an event of the loop.
        self._due.set()

    async def ticks(self) -> AsyncIterator[None]:
        """Yields once at start, then once a period, for ever."""
        self._scheduler.add_job(
            self._tick, "interval", seconds=self._every, misfire_grace_time=None, coalesce=True, max_instances=1
        )
        self._scheduler.start()
        try:
            while True:
                self._begun += 1
                yield
                async with self._turned:
                    self._ended = self._begun
                    self._turned.notify_all()
                # APScheduler waits for a time of day, so a clock set back by an hour would stop its ticks for an hour.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(2 * self._every):
                        await self._due.wait()
                self._due.clear()
        finally:
            # A submitted tick is finished first, because a cancelled one would be logged as an error.
            self._scheduler.pause()
            await asyncio.sleep(0)
            self._scheduler.shutdown(wait=False)
