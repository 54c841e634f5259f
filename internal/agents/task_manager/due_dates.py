"""The schedule of a proposed task: the words of the reply, resolved against the time of the cited line."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from internal.agents.model import TranscriptLine
from internal.agents.task_manager.output import ProposedTask
from internal.errors import Refused
from internal.language.tasks.times import find_time
from internal.language.text.spelling import Language
from internal.tasks.model import Schedule, recurrence_of, whole_day

_MONTH: Final = re.compile(r"\d{4}-\d{2}")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{1,2}:\d{2}.*")
_FURTHEST: Final = timedelta(days=36_525)
"""A century, the furthest due time: a later year is a misprint."""


def schedule_of(task: ProposedTask, line: TranscriptLine, tz: str, language: Language) -> Schedule:
    """The schedule in the owner's zone `tz`. Raises Refused("due" | "recurrence") if it cannot be read."""
    at = line.at.astimezone(ZoneInfo(tz))
    found = Schedule(tz=tz) if not task.due else _due(task.due, at, tz, language)
    if not task.repeat:
        return found
    if found.due_at is None:
        found = Schedule(whole_day(at.date() + timedelta(days=1), tz), True, None, tz)
    rule = recurrence_of(task.repeat, found.due_at, tz)
    return Schedule(found.due_at, found.whole_day, rule, tz)


def _due(due: str, at: datetime, tz: str, language: Language) -> Schedule:
    try:
        if _MONTH.fullmatch(due):
            due += "-01"
        if _DAY.fullmatch(due):
            return _within(Schedule(whole_day(date.fromisoformat(due), tz), True, None, tz), at)
        if _MOMENT.fullmatch(due):
            moment = datetime.fromisoformat(due.replace(" ", "T", 1))
            aware = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(tz))
            return _within(Schedule(aware.astimezone(UTC), False, None, tz), at)
    except (ValueError, OverflowError):
        raise Refused("due", f"{due!r} is no time that any calendar has") from None
    words = find_time(due, at, language)
    if words is None:
        raise Refused("due", f"{due!r} cannot be read as a time")
    return Schedule(words.moment.astimezone(UTC), words.whole_day, words.recurrence, tz)


def _within(schedule: Schedule, at: datetime) -> Schedule:
    assert schedule.due_at is not None
    if abs(schedule.due_at - at) > _FURTHEST:
        raise Refused("due", f"{schedule.due_at:%Y} is too far away")
    return schedule
