"""A clock that can be moved: it ticks like others, jumps forward, and stops at a moment that it must not pass."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class SimulatedClock:
    """Begins at `start`, never runs backward, and runs at real speed while nothing moves it.

    At `until` it stops until it is moved on, so that slow work takes no further simulated time.
    """

    def __init__(self, start: datetime, *, passing: Callable[[], float] = time.monotonic) -> None:
        self._start = self._anchor = start.astimezone(UTC)
        self._until: datetime | None = None
        self._passing, self._since = passing, passing()

    def now(self) -> datetime:
        moment = self._anchor + timedelta(seconds=self._passing() - self._since)
        return moment if self._until is None else min(moment, self._until)

    def seconds(self) -> float:
        """Simulated seconds since the beginning: this clock is never set back."""
        return (self.now() - self._start).total_seconds()

    def advance(self, to: datetime, *, until: datetime | None = None) -> datetime:
        """Moves to a moment, or stays if that has passed; returns the new time.

        It will stop at `until`, or (None) nowhere.
        """
        self._anchor = max(self.now(), to.astimezone(UTC))
        self._since = self._passing()
        self._until = None if until is None else max(until.astimezone(UTC), self._anchor)
        return self._anchor

    def release(self) -> datetime:
        """Continues in real time, from now or from the clock's own time if that is later. Returns the new time."""
        return self.advance(datetime.now(UTC))
