"""Sliding windows of the flood limits, on a clock of their own."""

from __future__ import annotations

import pytest

from bot.simulator.server.errors import ApiRefusal
from bot.simulator.server.flood_limits import FloodGate, FloodLimits


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_window_opens_again() -> None:
    """So many calls a second pass, the next is refused with the pause, and after it calls pass again."""
    clock = Clock()
    gate = FloodGate(FloodLimits(per_chat=2, chat_seconds=1), clock)
    for _ in range(2):
        gate.admit("sendMessage", 1)
    with pytest.raises(ApiRefusal) as refused:
        gate.admit("sendMessage", 1)
    assert refused.value.parameters == {"retry_after": 1}
    clock.now += 1.0
    gate.admit("sendMessage", 1)


def test_groups_have_their_own_minute() -> None:
    """A group allows 20 calls a minute, whatever the pace."""
    clock = Clock()
    gate = FloodGate(FloodLimits(), clock)
    for _ in range(20):
        gate.admit("sendMessage", -5)
        clock.now += 1.5
    with pytest.raises(ApiRefusal) as refused:
        gate.admit("sendMessage", -5)
    assert refused.value.parameters == {"retry_after": 30}


def test_all_chats_share_the_overall_limit() -> None:
    """Many chats together meet the overall limit; reading methods are not counted."""
    gate = FloodGate(FloodLimits(overall=5), Clock())
    for chat in range(1, 6):
        gate.admit("sendMessage", chat)
        gate.admit("getChat", chat)
    with pytest.raises(ApiRefusal):
        gate.admit("sendChatAction", 99)


def test_a_burst_passes_and_more_does_not() -> None:
    """By default a chat takes twenty messages at once, and then one a second on average."""
    clock = Clock()
    gate = FloodGate(FloodLimits(), clock)
    for _ in range(20):
        gate.admit("sendPhoto", 1)
    with pytest.raises(ApiRefusal) as refused:
        gate.admit("copyMessage", 1)
    assert refused.value.parameters == {"retry_after": 15}


def test_switched_off() -> None:
    """Then nothing is refused."""
    gate = FloodGate(FloodLimits(enabled=False), Clock())
    for _ in range(1000):
        gate.admit("sendMessage", 1)
