"""Quiet hours on the owner's clock, in which only notifications that cannot wait are sent. Pure."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


def quiet_until(hours: str, now: datetime, tz: str) -> datetime | None:
    """The end (UTC) of the quiet hours that contain `now`; None outside them.

    `hours` is `22:00-08:00` on the clock of `tz` (an IANA name), or empty for none; the end belongs to the day. If the
    clock shows an hour twice, quiet hours begin with its first and end with its second occurrence, so that no night is
    interrupted. A time that the clock skips counts as the time to which the clock is put forward.
    """
    if not hours:
        return None
    begin, end = (time.fromisoformat(one.strip()) for one in hours.split("-"))
    zone = ZoneInfo(tz)
    today = now.astimezone(zone).date()
    for day in (today - timedelta(days=1), today):
        last = datetime.combine(day if begin < end else day + timedelta(days=1), end, zone)
        until = max(last.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
        if begin != end and datetime.combine(day, begin, zone).astimezone(UTC) <= now < until:
            return until
    return None
