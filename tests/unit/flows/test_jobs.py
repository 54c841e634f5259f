"""Jobs that are looked at at every tick."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from support.patience import PATIENCE_S

from internal.flows.operations.jobs import Job, Maintenance
from internal.scheduling.clock import SystemClock
from internal.scheduling.ticker import Ticker


async def test_a_job_aside_holds_up_no_other_and_runs_once_at_a_time() -> None:
    """The vectors of one owner's import take hours; another owner's reminders are sent meanwhile."""
    begun, ended, reminded = list[str](), asyncio.Event(), asyncio.Event()

    async def embed() -> None:
        begun.append("vectors")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def remind() -> None:
        begun.append("reminders")
        if begun.count("reminders") > 2:
            reminded.set()

    jobs = [Job("vectors", embed, aside=True), Job("reminders", remind)]
    running = asyncio.create_task(Maintenance(Ticker(timedelta(seconds=0.05)), SystemClock(), jobs).run())
    async with asyncio.timeout(PATIENCE_S):
        await reminded.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert begun.count("vectors") == 1
    assert ended.is_set()
