"""The one source of "now", so that tests and the simulator can hold or move it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol, runtime_checkable


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...


@runtime_checkable
class MovedClock(Protocol):
    """A clock that is moved on purpose, as in a simulation. It says itself how much time has passed by it."""

    def seconds(self) -> float:
        """Seconds since some beginning; never fewer than before."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
