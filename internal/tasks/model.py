"""Tasks, reminders and promises, and the pure rules for the times of their notifications."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr

from internal.errors import Refused
from internal.text_caches import cached

MAX_TITLE: Final = 300
"""Characters."""
MAX_DETAILS: Final = 2000
"""Characters."""
MOST_OPEN: Final = 1000
"""Most tasks that an owner may have open or proposed: more come from a loop."""

WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FREQUENCIES: Final = frozenset({"HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
_KEYS: Final = frozenset({"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS", "COUNT", "UNTIL"})
_LATER_SAME_DAY: Final = timedelta(hours=3)
_EVENING: Final = time(20)
EVENING_CALLS: Final = time(18)
"""The hour at which people have time to call somebody."""
_SOON: Final = timedelta(minutes=15)
_LONGEST_MONTHLESS: Final = 28
_YEARS: Final = (1970, 2500)
_FIRST: Final = datetime(2024, 1, 1)
_LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_WEEKDAY: Final = re.compile("|".join(WEEKDAYS))
_NTH: Final = re.compile(rf"(?:[+-]?[1-4])?(?:{'|'.join(WEEKDAYS)})")
_KEPT_SERIES: Final = 128

Postponement = Literal["hour", "tomorrow", "week"]


class TaskKind(StrEnum):
    TASK = "task"
    """Something to be done."""
    REMINDER = "reminder"
    """Something the owner wants to be reminded of at a moment."""
    PROMISE = "promise"
    """Something the owner promised somebody to do."""
    WAITING = "waiting"
    """Something somebody else said he would do: the owner waits for it."""
    CONTACT = "contact"
    """Being in touch with somebody regularly: `next_at` follows the last contact."""


class TaskState(StrEnum):
    PROPOSED = "proposed"
    """Found in messages and not confirmed: its only notification is the question whether it is meant."""
    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def closed(self) -> bool:
        return self in (TaskState.DONE, TaskState.CANCELLED)


class TaskOrigin(StrEnum):
    """The origin of a task."""

    CHAT = "chat"
    """The owner asked for it explicitly."""
    FRAGMENT = "fragment"
    """The agent found it in messages."""
    COMMAND = "command"
    """`/tasks add`, REST, MCP or the command line."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The time at which a task is due: `due_at` (aware; a whole day's midnight in `tz`), `recurrence` an RRULE or None.

    The days and hours of a recurrence are local times in `tz` (an IANA name).
    """

    due_at: datetime | None = None
    whole_day: bool = False
    recurrence: str | None = None
    tz: str = "UTC"
    until: bool = False
    """Whether it is a deadline, which is also notified on the day before."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task. Times are aware, in UTC. `next_at`: the next notification; None while it is proposed or closed.

    `person_id` is the person it is about or was promised to, `for_user` the team member it was promised to.
    `episode_id`, `message_id` and `run_id` say where it was found; `event_id` is the event that opened it.
    """

    user_id: int
    id: str
    kind: TaskKind
    state: TaskState
    title: str
    tz: str
    origin: TaskOrigin
    created_at: datetime
    updated_at: datetime
    rev: int
    details: str | None = None
    person_id: int | None = None
    for_user: int | None = None
    due_at: datetime | None = None
    whole_day: bool = False
    recurrence: str | None = None
    next_at: datetime | None = None
    episode_id: str | None = None
    message_id: str | None = None
    run_id: str | None = None
    event_id: str | None = None
    closed_at: datetime | None = None

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.due_at, self.whole_day, self.recurrence, self.tz)

    @property
    def when(self) -> datetime | None:
        """The later of its next notification and its due time."""
        return max(filter(None, (self.next_at, self.due_at)), default=None)


def first_firing(schedule: Schedule, whole_day_at: time, now: datetime) -> datetime | None:
    """The first notification (UTC) of a task opened at `now`; None if there is none (any more).

    A task that is due today at an hour already past is notified later today.
    """
    if schedule.until and schedule.due_at is not None:
        eve = replace(schedule, due_at=schedule.due_at - timedelta(days=1), until=False)
        if (moment := first_firing(eve, whole_day_at, now)) is not None:
            return moment
    following = next_firing(schedule, whole_day_at, now)
    if schedule.due_at is None or not schedule.whole_day:
        return following
    zone = ZoneInfo(schedule.tz)
    today = now.astimezone(zone).date()
    if not _falls_on(schedule, today) or (following and following.astimezone(zone).date() == today):
        return following
    evening = datetime.combine(today, _EVENING, zone).astimezone(UTC)
    later = max(min(now + _LATER_SAME_DAY, evening), now + _SOON)
    return later.astimezone(UTC)


def next_firing(schedule: Schedule, whole_day_at: time, after: datetime) -> datetime | None:
    """The first notification time after `after` (aware), in UTC; None if there is none.

    An hour that the clock skips in spring counts as the hour it is set to; one that comes twice in autumn counts once,
    the first time. Raises Refused("recurrence") for a rule that cannot be read.
    """
    if schedule.due_at is None:
        return None
    if schedule.recurrence is None:
        moment = _time_of_schedule(schedule, whole_day_at)
        return moment if moment > after else None
    zone = ZoneInfo(schedule.tz)
    if hourly(schedule.recurrence):
        found = _series(schedule.recurrence, _naive(schedule.due_at)).after(_naive(after))
        return found.replace(tzinfo=UTC) if found else None
    # One day earlier: local time and UTC differ by less, and the clock may have been set.
    since = after.astimezone(zone).replace(tzinfo=None) - timedelta(days=1)
    series = _series(schedule.recurrence, _wall(schedule, whole_day_at))
    while (wall := series.after(since)) is not None:
        moment = wall.replace(tzinfo=zone).astimezone(UTC)
        if moment > after:
            return moment
        since = wall
    return None


def after_contact(task: Task, contact: datetime) -> datetime:
    """The time to be in touch again after a contact (aware), in UTC: a whole interval later, early in the evening."""
    assert task.recurrence is not None
    local = contact.astimezone(ZoneInfo(task.tz)).replace(tzinfo=None)
    evening = datetime.combine(local.date(), EVENING_CALLS)
    if monthly := re.fullmatch(r"(FREQ=MONTHLY(?:;INTERVAL=\d+)?);BYMONTHDAY=.*", task.recurrence):
        evening = evening.replace(day=min(local.day, 28))  # every month has that day
    following = _series(monthly[1] if monthly else task.recurrence, evening).after(evening)
    assert following is not None
    return following.replace(tzinfo=ZoneInfo(task.tz)).astimezone(UTC)


def postponed(postponement: Postponement, now: datetime, tz: str, whole_day_at: time) -> datetime:
    """The moment (UTC) an hour from now, or tomorrow or in a week at the hour of whole-day notifications."""
    if postponement == "hour":
        return now + timedelta(hours=1)
    zone = ZoneInfo(tz)
    day = now.astimezone(zone).date() + timedelta(days=1 if postponement == "tomorrow" else 7)
    return datetime.combine(day, whole_day_at, zone).astimezone(UTC)


def recurrence_of(rule: str, schedule_due: datetime | None, tz: str) -> str:
    """A rule in stored form: upper case, keys in order, and a month's last day for a day that it lacks.

    Raises Refused("recurrence"): hours, days, weeks, months and years are known, nothing shorter.
    """
    parts = _parts(rule)
    if parts["FREQ"] in ("MONTHLY", "YEARLY") and "BYDAY" not in parts:
        parts |= _to_last_day(parts, schedule_due, tz)
    text = ";".join(f"{key}={value}" for key, value in parts.items())
    try:
        _refuse_no_day(parts, rule)
        rrulestr(text, dtstart=_FIRST)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise Refused("recurrence", f"{rule[:80]!r}: {error}") from None
    return text


def refuse_far(moment: datetime | None) -> None:
    """Raises Refused("due") for a year so far away that date arithmetic would leave the calendar."""
    if moment is not None and not _YEARS[0] <= moment.year <= _YEARS[1]:
        raise Refused("due", f"the year {moment.year} is too far away")


def hourly(recurrence: str) -> bool:
    """Whether a stored rule counts elapsed hours rather than calendar days."""
    return recurrence.startswith("FREQ=HOURLY")


def time_of_day(text: str) -> time:
    """`09:00` as a time."""
    hours, minutes = text.split(":")
    return time(int(hours), int(minutes))


def summary(task: Task) -> Mapping[str, Any]:
    """A task as it stands in `pending_tasks`: id, title, due_at (ISO 8601), recurrence, state."""
    return {
        "id": task.id,
        "title": task.title,
        "due_at": task.due_at.isoformat() if task.due_at else None,
        "recurrence": task.recurrence,
        "state": task.state.value,
    }


def whole_day(day: date, tz: str) -> datetime:
    """The midnight at which a day begins in a zone, in UTC."""
    return datetime.combine(day, time(), ZoneInfo(tz)).astimezone(UTC)


def _time_of_schedule(schedule: Schedule, whole_day_at: time) -> datetime:
    assert schedule.due_at is not None
    if not schedule.whole_day:
        return schedule.due_at.astimezone(UTC)
    return _wall(schedule, whole_day_at).replace(tzinfo=ZoneInfo(schedule.tz)).astimezone(UTC)


def _wall(schedule: Schedule, whole_day_at: time) -> datetime:
    """The local time at which a schedule is due first."""
    assert schedule.due_at is not None
    local = schedule.due_at.astimezone(ZoneInfo(schedule.tz)).replace(tzinfo=None, fold=0)
    return datetime.combine(local.date(), whole_day_at) if schedule.whole_day else local


def _falls_on(schedule: Schedule, day: date) -> bool:
    wall = _wall(schedule, time())
    if schedule.recurrence is None or hourly(schedule.recurrence):
        return wall.date() == day
    midnight = datetime.combine(day, time())
    return _series(schedule.recurrence, wall).after(midnight, inc=True) == midnight


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


@cached(_KEPT_SERIES)
def _series(recurrence: str, begin: datetime) -> rrule:
    """The moments of a rule from `begin` (naive) on, in order."""
    found = rrulestr(recurrence, dtstart=begin, cache=True)
    assert isinstance(found, rrule)
    return found


def _parts(rule: str) -> dict[str, str]:
    text = rule.strip().upper().removeprefix("RRULE:").strip(";")
    parts: dict[str, str] = {}
    for part in text.split(";"):
        key, _, value = part.partition("=")
        if key.strip() not in _KEYS or not value.strip() or key.strip() in parts:
            raise Refused("recurrence", f"{rule[:80]!r} is no rule of recurrence known here")
        parts[key.strip()] = value.strip()
    if parts.get("FREQ") not in _FREQUENCIES:
        raise Refused("recurrence", f"{rule[:80]!r}: FREQ is one of {', '.join(sorted(_FREQUENCIES))}")
    if parts["FREQ"] == "HOURLY" and parts.keys() - {"FREQ", "INTERVAL", "COUNT", "UNTIL"}:
        raise Refused("recurrence", f"{rule[:80]!r}: hours are counted without days")
    if not parts.get("INTERVAL", "1").isascii() or not parts.get("INTERVAL", "1").isdecimal():
        raise Refused("recurrence", f"{rule[:80]!r}: INTERVAL is a whole number")
    if not 1 <= int(parts.get("INTERVAL", "1")) <= 1000:
        raise Refused("recurrence", f"{rule[:80]!r}: INTERVAL is 1 to 1000")
    # UNTIL in UTC cannot be compared with local times; it means the whole day.
    if parts.get("UNTIL", "")[:8].isdecimal():
        parts["UNTIL"] = parts["UNTIL"][:8] + "T235959"
    return {"FREQ": parts.pop("FREQ"), **parts}


def _refuse_no_day(parts: Mapping[str, str], rule: str) -> None:
    """Refuses a day that no month has, which would be searched for ever. Raises ValueError for a non-number."""
    days = [int(day) for day in parts.get("BYMONTHDAY", "1").split(",")]
    months = [int(month) for month in parts.get("BYMONTH", "1").split(",")]
    if any(not 1 <= month <= 12 for month in months):
        raise ValueError("there are twelve months")
    if not any(0 < abs(day) <= _LONGEST_MONTHS[month - 1] for day in days for month in months):
        raise Refused("recurrence", f"{rule[:80]!r} names no day that any calendar has")
    longer = parts["FREQ"] in ("MONTHLY", "YEARLY")
    if parts.get("BYSETPOS", "1") not in ("1", "-1") or ("BYSETPOS" in parts and not longer):
        raise Refused("recurrence", f"{rule[:80]!r}: BYSETPOS is 1 or -1, of a month or year")
    if not all((_NTH if longer else _WEEKDAY).fullmatch(day) for day in parts.get("BYDAY", "MO").split(",")):
        raise Refused("recurrence", f"{rule[:80]!r}: {parts['BYDAY'][:40]!r} is no weekday")
    if "BYDAY" in parts and parts["FREQ"] == "DAILY" and parts.get("INTERVAL", "1") != "1":
        raise Refused("recurrence", f"{rule[:80]!r}: days of the week are counted by weeks")


def _to_last_day(parts: Mapping[str, str], due: datetime | None, tz: str) -> dict[str, str]:
    """Makes the 31st of a 30-day month its 30th: otherwise the rule would skip that month."""
    if "BYSETPOS" in parts or due is None:
        return {}
    local = due.astimezone(ZoneInfo(tz))
    named = parts.get("BYMONTHDAY", str(local.day))
    if not named.isdecimal() or int(named) <= _LONGEST_MONTHLESS or int(named) > 31:
        return {}
    if parts["FREQ"] == "YEARLY":
        if "BYMONTHDAY" in parts or (local.month, local.day) != (2, 29):
            return {}
        return {"BYMONTH": "2", "BYMONTHDAY": "28,29", "BYSETPOS": "-1"}
    days = ",".join(str(day) for day in range(_LONGEST_MONTHLESS, int(named) + 1))
    return {"BYMONTHDAY": days, "BYSETPOS": "-1"}
