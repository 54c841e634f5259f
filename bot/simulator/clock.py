"""A clock that is moved: it ticks as others do, jumps forward when told to, waits at a moment that must not pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class SimulatedClock:
    """Begins at `start`. Never runs backward; a second of it lasts a second while nothing moves it.

    `until` is where it stands still until it is moved on: what takes the program long takes no simulated time beyond.
    """

    def __init__(self, start: datetime, *, passing: Callable[[], float] = time.monotonic) -> None:
        self._start = self._anchor = start.astimezone(UTC)
        self._until: datetime | None = None
        self._passing, self._since = passing, passing()

    def now(self) -> datetime:
        moment = self._anchor + timedelta(seconds=self._passing() - self._since)
        return moment if self._until is None else min(moment, self._until)

    def seconds(self) -> float:
        """Simulated seconds since the beginning: nobody sets this clock back."""
        return (self.now() - self._start).total_seconds()

    def advance(self, to: datetime, *, until: datetime | None = None) -> datetime:
        """Moves to a moment, or stays where it is if that has passed; the new time.

        It will wait at `until`, or (None) nowhere.
        """
        self._anchor = max(self.now(), to.astimezone(UTC))
        self._since = self._passing()
        self._until = None if until is None else max(until.astimezone(UTC), self._anchor)
        return self._anchor

    def release(self) -> datetime:
        """Goes on as real time does, from now, or from where it has got to if that lies ahead."""
        return self.advance(datetime.now(UTC))
