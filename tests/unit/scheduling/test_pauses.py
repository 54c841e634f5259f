"""Pauses that grow, and ticks that come whatever the clock says."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st
from support.patience import PATIENCE_S

from internal.scheduling.retry import retry_delay
from internal.scheduling.ticker import Ticker


@given(st.integers(-5, 10_000), st.floats(0.001, 60), st.floats(0.001, 3600))
def test_a_pause_doubles_up_to_its_limit(attempts: int, base: float, longest: float) -> None:
    """Never shorter than the one before, never above the limit, and no overflow after years of failing."""
    first, most = timedelta(seconds=base), timedelta(seconds=longest)
    now, then = retry_delay(attempts, first, most), retry_delay(attempts + 1, first, most)
    assert min(first, most) <= now <= then <= most
    assert then == min(2 * now, most) or attempts < 1


async def _ticks(ticker: Ticker, count: int) -> int:
    seen = 0
    async for _ in ticker.ticks():
        seen += 1
        if seen == count:
            break
    return seen


async def test_ticks_come_at_once_and_then_each_period() -> None:
    """The first does not wait for a period to pass."""
    began = asyncio.get_running_loop().time()
    assert await asyncio.wait_for(_ticks(Ticker(timedelta(seconds=0.1)), 3), PATIENCE_S) == 3
    assert asyncio.get_running_loop().time() - began >= 0.1


async def test_waking_makes_the_next_tick_come_now() -> None:
    """An order need not wait for the clock."""
    ticker = Ticker(timedelta(hours=1))
    ticker.wake()
    assert await asyncio.wait_for(_ticks(ticker, 2), PATIENCE_S) == 2


async def test_ticks_come_although_the_scheduler_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock set back by an hour silences APScheduler, which waits for a time of day; not the ticks."""
    ticker = Ticker(timedelta(seconds=0.1))
    monkeypatch.setattr(ticker._scheduler, "add_job", lambda *args, **kwargs: None)
    assert await asyncio.wait_for(_ticks(ticker, 3), PATIENCE_S) == 3
