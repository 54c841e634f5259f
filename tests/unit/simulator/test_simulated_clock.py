"""The clock that is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.simulator.clock import SimulatedClock
from internal.flows.operations.clock_rollback import ClockRollback
from internal.scheduling.clock import MovedClock, SystemClock

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


class _Passing:
    """Real time, in seconds, as a test wants it to pass."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_it_goes_on_by_itself_and_jumps_forward_only() -> None:
    """A second lasts a second; to move it back leaves it where it is."""
    passing = _Passing()
    clock = SimulatedClock(START, passing=passing)
    passing.at += 2
    assert clock.now() == START + timedelta(seconds=2)
    assert clock.advance(START + HOUR) == START + HOUR
    assert clock.advance(START) == START + HOUR
    assert clock.seconds() == 3600


def test_it_waits_where_it_was_told_to() -> None:
    """What takes the program long takes no simulated time beyond the moment that must not pass."""
    passing = _Passing()
    clock = SimulatedClock(START, passing=passing)
    clock.advance(START, until=START + timedelta(seconds=30))
    passing.at += 500
    assert clock.now() == START + timedelta(seconds=30)
    clock.advance(START + HOUR, until=START + HOUR)
    assert clock.now() == START + HOUR


def test_released_it_goes_on_as_real_time_or_from_where_it_got_to() -> None:
    """A life that ended in the past goes on today; one that has overtaken today goes on from there."""
    assert abs(SimulatedClock(START - 900 * 24 * HOUR).release() - datetime.now(UTC)) < timedelta(minutes=1)
    ahead = datetime.now(UTC) + 24 * HOUR
    assert SimulatedClock(ahead).release() >= ahead


async def test_a_clock_that_waits_counts_as_set_back_by_nobody() -> None:
    """The watch over setbacks compares a moved clock with itself, not with real time: it asks the database nothing."""
    passing = _Passing()
    clock = SimulatedClock(START, passing=passing)
    assert isinstance(clock, MovedClock)
    assert not isinstance(SystemClock(), MovedClock)
    clock.advance(START, until=START)
    watch = ClockRollback(_NoDatabase(), clock)  # type: ignore[arg-type]
    watch._seen = (clock.now(), clock.seconds())
    passing.at += 500
    await watch.look()


class _NoDatabase:
    """Nothing may be written here."""
