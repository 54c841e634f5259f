"""A clock that stands still."""

from datetime import UTC, datetime, timedelta

FIRST_MOMENT = datetime(2026, 2, 7, 12, 0, tzinfo=UTC)


class FrozenClock:
    """A clock that moves only by `advance`."""

    def __init__(self, now: datetime = FIRST_MOMENT) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta | float) -> datetime:
        """Moves the clock forward (or back) by a timedelta or seconds. Returns the new time."""
        self._now += by if isinstance(by, timedelta) else timedelta(seconds=by)
        return self._now

    def set(self, now: datetime) -> None:
        self._now = now
