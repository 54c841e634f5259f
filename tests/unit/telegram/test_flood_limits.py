"""Telegram's flood limits: shared by all calls, decoration shed first."""

from __future__ import annotations

import asyncio
import time

import pytest

import bot.telegram.delivery.flood_limits as budgets
from bot.telegram.delivery.flood_limits import CHAT_BURST, GROUP_BURST, Budget


class FakeTime:
    """A monotonic clock that sleeping moves."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        patch.setattr(time, "monotonic", lambda: self.now)
        patch.setattr(asyncio, "sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    return FakeTime(monkeypatch)


async def test_a_chat_gets_its_burst_and_then_one_a_second(passing: FakeTime) -> None:
    """Whatever is sent there, and whoever sends it."""
    budget, began = Budget(), passing.now
    for _ in range(int(CHAT_BURST)):
        await budget.take(5)
    assert passing.now == began
    for _ in range(3):
        await budget.take(5)
    assert passing.now - began == pytest.approx(3, abs=0.01)


async def test_all_chats_share_one_limit(passing: FakeTime) -> None:
    """A hundred chats at once wait for one another; in no second, the first included, are there more than 30 calls."""
    budget, taken = Budget(), []
    for chat in range(1, 101):
        await budget.take(chat)
        taken.append(passing.now)
    assert taken[-1] - taken[0] == pytest.approx(4, abs=0.3)
    assert max(sum(begin <= at < begin + 1 for at in taken) for begin in taken) <= 30


async def test_groups_are_slower(passing: FakeTime) -> None:
    """Twenty messages in any minute is what Telegram allows there, the first burst among them."""
    budget, began, taken = Budget(), passing.now, []
    for _ in range(int(GROUP_BURST) + 20):
        await budget.take(-5)
        taken.append(passing.now)
    assert max(sum(begin <= at <= begin + 60 for at in taken) for begin in taken) == 20
    assert passing.now - began < 75


async def test_decoration_leaves_room_for_words(passing: FakeTime) -> None:
    """Typing and drafts are shed when half the burst is gone, so a real message goes out at once."""
    budget = Budget()
    shown = sum(budget.try_take(5) for _ in range(10))
    assert 0 < shown < CHAT_BURST
    began = passing.now
    await budget.take(5)
    assert passing.now == began
    passing.now += 60
    assert budget.try_take(5)


async def test_a_muted_chat_is_silent_for_that_long_and_no_other(passing: FakeTime) -> None:
    """429 is for its chat; mutes that are over are forgotten, also of chats that are never written to again."""
    budget, began = Budget(), passing.now
    budget.mute(5, 7)
    assert not budget.try_take(5)
    assert budget.try_take(6)
    await budget.take(5)
    assert passing.now - began == pytest.approx(7)
    for chat in range(100):
        budget.mute(chat, 1)
        passing.now += 2
    assert len(budget._muted) <= 1


async def test_silent_chats_are_forgotten(passing: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with everybody who ever wrote."""
    monkeypatch.setattr(budgets, "KNOWN_CHATS", 10)
    budget = Budget()
    for chat in range(1, 100):
        passing.now += 1
        await budget.take(chat)
    assert len(budget._chats) == 10


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
async def test_workers_share_what_is_granted_to_all(passing: FakeTime, workers: int) -> None:
    """However many there are, together they stay below thirty calls in any one second."""
    budget, began, spent = Budget(), passing.now, list[float]()
    for joined in range(1, workers + 1):
        budget.share(joined)
    chat = 0
    while passing.now < began + 10:
        chat += 1
        await budget.take(chat)
        spent.append(passing.now)
    most = max(sum(at <= other < at + 1 for other in spent) for at in spent)
    assert most * workers <= 32
    assert len(spent) * workers >= 20 * 10
