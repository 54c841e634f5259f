"""Moves tasks of an owner to another time zone: days and recurring hours follow the owner's clock."""

from datetime import datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from internal.tasks.model import Task, hourly, next_firing, whole_day

_MOMENT: Final = timedelta(microseconds=1)


def columns_in_zone(task: Task, zone: str, whole_day_at: time) -> dict[str, Any]:
    """The columns of a task that change in `zone` (an IANA name); none if the task has a fixed moment.

    A moment that the owner chose by postponing stays, as does the absence of a further notification.
    """
    if task.due_at is None or task.tz == zone or not _by_the_wall(task):
        return {}
    due = _same_wall(task.due_at, task.tz, zone)
    if task.whole_day:
        due = whole_day(task.due_at.astimezone(ZoneInfo(task.tz)).date(), zone)
    values: dict[str, Any] = {"due_at": due, "tz": zone}
    if task.next_at is not None and task.next_at == next_firing(task.schedule, whole_day_at, task.next_at - _MOMENT):
        values["next_at"] = _same_wall(task.next_at, task.tz, zone)
    return values


def _by_the_wall(task: Task) -> bool:
    return task.whole_day if task.recurrence is None else not hourly(task.recurrence)


def _same_wall(moment: datetime, old: str, new: str) -> datetime:
    """The moment at which the local time in `new` equals that in `old` at `moment` (UTC)."""
    wall = moment.astimezone(ZoneInfo(old)).replace(tzinfo=ZoneInfo(new), fold=0)
    return wall.astimezone(moment.tzinfo)
