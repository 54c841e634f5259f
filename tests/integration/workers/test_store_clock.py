"""Processes of one store go by one clock, whatever their machines' show."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from internal.errors import StorageError
from internal.scheduling.clock import SystemClock
from internal.scheduling.store_clock import StoreClock, clock_of
from internal.storage.database import Database

SOON = timedelta(seconds=2)


class Machine:
    """Its clock is wrong by so much and can be set; its counter only counts."""

    def __init__(self, wrong: timedelta) -> None:
        self.wrong, self.waited = wrong, 0.0
        self.told: list[float] = []

    def own(self) -> datetime:
        return datetime.now(UTC) + self.wrong

    def monotonic(self) -> float:
        return datetime.now(UTC).timestamp() + self.waited

    def clock_compared(self, seconds: float) -> None:
        self.told.append(seconds)

    def clock(self, database: Database) -> StoreClock:
        return StoreClock(database, self, own=self.own, monotonic=self.monotonic)


def near(one: datetime, other: datetime) -> bool:
    return abs(one - other) < SOON


async def test_machines_an_hour_apart_agree(two: tuple[Database, Database], caplog: pytest.LogCaptureFixture) -> None:
    """Both show the server's time, each tells how wrong it is, and warns once."""
    ahead, behind = Machine(timedelta(minutes=30)), Machine(-timedelta(minutes=30))
    first, second = ahead.clock(two[0]), behind.clock(two[1])
    assert near(first.now(), ahead.own())
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            await first.ask()
            await second.ask()
    assert near(first.now(), second.now())
    assert near(first.now(), datetime.now(UTC))
    assert [round(one.told[-1] / 60) for one in (ahead, behind)] == [-30, 30]
    assert [record.message for record in caplog.records] == ["clock_differs"] * 2


async def test_a_machine_that_is_set_changes_nothing(two: tuple[Database, Database]) -> None:
    """Between two answers time goes on by the counter; the next answer takes back what that counted wrong."""
    machine = Machine(timedelta(0))
    clock = machine.clock(two[0])
    await clock.ask()
    machine.wrong = -timedelta(days=1)
    assert near(clock.now(), datetime.now(UTC))
    machine.waited = 60
    assert near(clock.now(), datetime.now(UTC) + timedelta(minutes=1))
    await clock.ask()
    assert near(clock.now(), datetime.now(UTC))


async def test_a_server_that_does_not_answer_is_done_without(
    two: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on as it was, whether there was no answer or one that took too long to say much."""
    machine = Machine(timedelta(hours=1))
    clock = machine.clock(two[0])
    await clock.ask()

    async def away(work: Callable[..., object]) -> object:
        raise StorageError("away")

    with monkeypatch.context() as outage:
        outage.setattr(two[0], "read", away)
        with pytest.raises(StorageError):
            await clock.ask()
    assert near(clock.now(), datetime.now(UTC))
    times = iter(range(0, 100, 10))
    slow = StoreClock(two[0], machine, own=machine.own, monotonic=lambda: float(next(times)))
    told = list(machine.told)
    await slow.ask()
    assert machine.told == told


async def test_a_file_goes_by_its_machine(tmp_path: Path, two: tuple[Database, Database]) -> None:
    """There is one process, and nobody to agree with."""
    async with Database.open(tmp_path / "laplaced.db") as file:
        assert isinstance(await clock_of(file), SystemClock)
    assert isinstance(await clock_of(two[0]), StoreClock)
