"""The only source of "now", so that tests and the simulator can stop or move it."""

from datetime import UTC, datetime
from typing import Protocol, runtime_checkable


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, aware, in UTC."""


@runtime_checkable
class MovedClock(Protocol):
    """A clock that is moved on purpose, as in a simulation, and itself counts the passed time."""

    def seconds(self) -> float:
        """Seconds since an arbitrary beginning; never decreases."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
