"""The ticker's rounds."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from support.patience import PATIENCE_S

from internal.scheduling.ticker import Ticker


async def test_a_round_is_over_when_all_that_was_due_is_looked_at_from_the_first_job_on() -> None:
    """Asked for in the middle of a round, the next whole one is waited for."""
    ticker, said, inside = Ticker(timedelta(hours=1)), list[str](), asyncio.Event()

    async def work() -> None:
        async for _ in ticker.ticks():
            said.append("begun")
            inside.set()
            await asyncio.sleep(0.01)
            said.append("ended")

    working = asyncio.create_task(work())
    await inside.wait()
    async with asyncio.timeout(PATIENCE_S):
        await ticker.round()
    working.cancel()
    assert said[:4] == ["begun", "ended", "begun", "ended"]
