"""APScheduler as a clock: it sets an event, and nothing more.

Its default misfire grace is one second, a job counts as run when it is submitted, and its shutdown cancels what runs.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler


class Ticker:
    """Says when to look for what is due. Missed ticks come as one.

    `others` is called at every wake; other processes that look for the same ring back with `wake_here`.
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

        Never returns while nobody iterates over `ticks`.
        """
        async with self._turned:
            wanted = self._begun + 1
            while self._ended < wanted:
                self.wake()
                await self._turned.wait()

    async def _tick(self) -> None:
        # A coroutine: APScheduler calls plain functions in a thread, where no event of the loop may be set.
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
                # APScheduler waits for a time of day: a clock set back by an hour would silence it for that hour.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(2 * self._every):
                        await self._due.wait()
                self._due.clear()
        finally:
            # A submitted tick is finished first: cancelled, it would be logged as an error.
            self._scheduler.pause()
            await asyncio.sleep(0)
            self._scheduler.shutdown(wait=False)
