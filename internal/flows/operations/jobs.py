"""Jobs that are due by the clock: fragments, runs, forgetting, and deleting settled rows."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta

from internal.dialogue.mailbox import repository as mailbox
from internal.scheduling.clock import Clock
from internal.scheduling.ticker import Ticker
from internal.scheduling.worker_membership import WorkerMembership
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone

log = logging.getLogger(__name__)

INBOX_KEPT = timedelta(days=2)
"""How long settled rows are kept; after longer, an update id that Telegram reuses would look like a duplicate."""

OUTBOX_KEPT = timedelta(days=14)


@dataclass(slots=True)
class Job:
    """A job that runs at every tick, or at most once in `every`.

    `everywhere`: in every process of a store; other jobs run in the one that keeps the clock. `aside`: later jobs
    do not wait for it, and it is not started again while it runs.
    """

    name: str
    work: Callable[[], Awaitable[object]]
    every: timedelta = timedelta(0)
    everywhere: bool = False
    aside: bool = False
    last: datetime | None = None
    running: asyncio.Task[None] | None = None


class Maintenance:
    """Runs its jobs one after another at each tick, long ones aside; a failed job is due again at the next tick."""

    def __init__(
        self,
        ticker: Ticker,
        clock: Clock,
        jobs: list[Job],
        duty: WorkerMembership | None = None,
        *,
        modestly: bool = False,
    ) -> None:
        """`duty`: whether this process keeps the clock (None: no others). `modestly`: one that delivers goes first."""
        self._ticker, self._clock, self._jobs, self._duty, self._modestly = ticker, clock, jobs, duty, modestly

    async def run(self) -> None:
        duty = self._duty
        with acting_for_everyone(), duty.standing_for_clock(modestly=self._modestly) if duty else nullcontext():
            try:
                async for _ in self._ticker.ticks():
                    for job in self._jobs:
                        await self._run(job)
            finally:
                running = [job.running for job in self._jobs if job.running is not None]
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, job: Job) -> None:
        if not job.everywhere and self._duty is not None and not self._duty.leads:
            return
        now = self._clock.now()
        if job.last is not None and job.last <= now < job.last + job.every:
            return
        if job.running is not None and not job.running.done():
            return
        job.last = now
        if job.aside:
            job.running = asyncio.create_task(self._work(job), name=f"job-{job.name}")
        else:
            await self._work(job)

    @staticmethod
    async def _work(job: Job) -> None:
        try:
            await job.work()
        except Exception:  # outermost handler of a job: due work is found by a query, so it is tried again
            log.exception("job_failed", extra={"job": job.name})


async def drop_settled(database: Database, clock: Clock) -> None:
    """Deletes settled inbox and outbox rows."""
    now = clock.now()
    await database.write(lambda c: mailbox.drop_settled(c, now - INBOX_KEPT))
    await database.write(lambda c: mailbox.drop_settled_outgoing(c, now - OUTBOX_KEPT))
