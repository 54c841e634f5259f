"""Reads the tasks and times that a user types after a command, in the language process."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from internal.access.model import User
from internal.errors import Refused
from internal.language.tasks.requests import find_tasks
from internal.language.tasks.times import TimeFound, find_time
from internal.language.tasks.titles import title_of
from internal.language.text.spelling import Language, text_language
from internal.language.worker.calls import LanguageCalls
from internal.tasks.model import Schedule, TaskKind, recurrence_of

LONGEST = 1000
"""The most characters of a typed task."""


@dataclass(frozen=True, slots=True)
class TypedTask:
    """A task in the user's own words: the title without the time, and the time."""

    title: str
    schedule: Schedule
    kind: TaskKind


class TaskParser:
    def __init__(self, language: LanguageCalls) -> None:
        self._language = language

    async def task(self, text: str, user: User, now: datetime) -> TypedTask:
        """Parses a task, "buy bread tomorrow at 9". Raises Refused("no_title" | "too_long"), and what `run` raises."""
        if len(text) > LONGEST:
            raise Refused("too_long", f"at most {LONGEST} characters are expected")
        title, time = await self._language.run(_typed, text, now.astimezone(ZoneInfo(user.tz)), user.lang)
        if not title:
            raise Refused("no_title", "a task needs words")
        schedule = schedule_in(time, user.tz)
        return TypedTask(title, schedule, TaskKind.REMINDER if schedule.due_at else TaskKind.TASK)

    async def schedule(self, text: str, user: User, now: datetime) -> Schedule | None:
        """Parses a typed time; None if none can be read. Raises what `run` does."""
        if len(text) > LONGEST:
            return None
        at = now.astimezone(ZoneInfo(user.tz))
        time = await self._language.run(find_time, text, at, text_language(text, user.lang))
        return None if time is None else schedule_in(time, user.tz)


def _typed(text: str, at: datetime, language: Language) -> tuple[str, TimeFound | None]:
    spoken = text_language(text, language)
    requests = [request for request in find_tasks(text, at, spoken) if request.asked and request.title]
    if requests:
        return requests[0].title, requests[0].time
    time = find_time(text, at, spoken)
    return title_of(text, time.spans if time else ()), time


def schedule_in(time: TimeFound | None, tz: str) -> Schedule:
    """The schedule of a time found in a text, in the zone of the speaker."""
    if time is None:
        return Schedule(tz=tz)
    rule = recurrence_of(time.recurrence, time.moment, tz) if time.recurrence else None
    return Schedule(time.moment, time.whole_day, rule, tz, until=time.until)
