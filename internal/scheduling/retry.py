"""The wait before a failed step is retried: model calls, deliveries, updates, menus."""

from datetime import timedelta


def retry_delay(attempts: int, base: timedelta, longest: timedelta) -> timedelta:
    """The wait after the given number (>= 1) of attempts: doubles from `base` up to `longest`."""
    doublings = min(max(attempts - 1, 0), 32)
    return min(base * (1 << doublings), longest)
