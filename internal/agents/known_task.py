"""A task in the form that agents are shown."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from zoneinfo import ZoneInfo

from internal.tasks.model import Task


@dataclass(frozen=True, slots=True)
class KnownTask:
    """An open or proposed task in the form that agents are shown, with the `handle` "T1".

    `due` is aware, in the owner's zone, a day's midnight if `whole_day`; `recurrence` is an RRULE.
    """

    handle: str
    task_id: str
    title: str
    state: str
    due: datetime | None = None
    whole_day: bool = False
    recurrence: str | None = None

    @classmethod
    def of(cls, number: int, task: Task, tz: str) -> Self:
        """Converts a task, the `number`th one that an agent is shown, with its time in the owner's zone."""
        due = task.when.astimezone(ZoneInfo(tz)) if task.when else None
        whole_day = task.whole_day and task.next_at is None
        return cls(f"T{number}", task.id, task.title, task.state.value, due, whole_day, task.recurrence)
