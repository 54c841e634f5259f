"""Quiet hours: when nothing that can wait is told, by the owner's own clock. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


def quiet_until(hours: str, now: datetime, tz: str) -> datetime | None:
    """When the quiet hours end (UTC) that `now` lies in; None where it lies in none.

    `hours` is `22:00-08:00` on the clock of `tz` (an IANA name), or empty for none; the end belongs to the day. Where
    the clock is set at night, the end is what the clock on the wall shows.
    """
    if not hours:
        return None
    begin, end = (time.fromisoformat(one.strip()) for one in hours.split("-"))
    zone = ZoneInfo(tz)
    local = now.astimezone(zone)
    wall = local.time().replace(microsecond=0, second=0)
    inside = begin <= wall < end if begin < end else (wall >= begin or wall < end)
    if begin == end or not inside:
        return None
    day = local.date() if wall < end else local.date() + timedelta(days=1)
    return datetime.combine(day, end, zone).astimezone(UTC)
