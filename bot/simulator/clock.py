"""A clock that can be moved: it ticks like others, jumps forward, and waits at a moment it must not pass."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class SimulatedClock:
    """Begins at `start`. Never runs backward; a second of it lasts a second while nothing moves it.

    At `until` it stands still until it is moved on, so that slow work takes no simulated time beyond.
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

        It will wait at `until`, or (None) nowhere.
        """
        self._anchor = max(self.now(), to.astimezone(UTC))
        self._since = self._passing()
        self._until = None if until is None else max(until.astimezone(UTC), self._anchor)
        return self._anchor

    def release(self) -> datetime:
        """Goes on as real time does, from now, or from where it is if that lies ahead."""
        return self.advance(datetime.now(UTC))
