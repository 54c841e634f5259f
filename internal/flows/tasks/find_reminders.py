"""Finds requests for reminders, promises and waitings in a turn. Runs in the language process: imports no storage."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from internal.agents.task_manager.offline import own_tasks, titled
from internal.language.dates.normalise import MONTHS, WEEKDAYS
from internal.language.dates.units import fold
from internal.language.tasks.completion import same_task
from internal.language.tasks.contacts import wants_contact
from internal.language.tasks.intentions import only_requests
from internal.language.tasks.promises import find_promised, may_promise as may_be_promised
from internal.language.tasks.requests import TaskFound, may_promise, may_request
from internal.language.tasks.times import TimeFound
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, text_language
from internal.language.worker.embedding import judge_statement
from internal.tasks.model import TaskKind

MOST: Final = 10
"""The most requests of one message granted at once; the task manager finds the rest."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """One request, promise or rhythm. `time` is None if it names no moment; `message_id` is its message.

    `unread` are words that name a time and could not be read.
    """

    title: str
    time: TimeFound | None
    message_id: str
    people: frozenset[int] = frozenset()
    unread: str = ""
    kind: TaskKind = TaskKind.REMINDER

    @property
    def asked(self) -> bool:
        return self.kind is TaskKind.REMINDER


_TIMELY: Final = pattern(
    r"\d|\b(?:every|each|once an?|twice an?|\w+ly|кажд|раз[аи]? |кожн|еже|що[двптмсрчнг]|сегодня|завтра|послезавтра"
    r"|сьогодні|післязавтра|tomorrow|tonight|today|tmrw|через|in an?|week|month|year|недел|тиж|месяц|місяц|год[ау]"
    rf"|року|п'?ятни|{'|'.join((*WEEKDAYS, *MONTHS))})"
)
"""Words that nearly all future times contain."""


def may_open(text: str) -> bool:
    """Whether a text may open tasks at once: false for most that do not, without using a dictionary."""
    return may_request(text) or may_promise(text) or may_be_promised(text) or _TIMELY.search(fold(text)) is not None


def find_reminders(
    texts: Sequence[tuple[str, str, datetime]], before: str | None, language: Language
) -> tuple[list[Reminder], bool]:
    """The requests, promises of both sides and rhythms in a turn's messages, and whether these hold nothing else."""
    found: list[Reminder] = []
    only = True
    for message_id, text, at in texts:
        read = own_tasks(text, at, text_language(text, language), judge_statement)
        requests = [one for one in read if one.asked]
        only = only and (only_requests(text, read) or not requests)
        for one in requests[:MOST]:
            title = titled(one, text, before)
            if not any(same_task(title, other.title) and one.time == other.time for other in found):
                found.append(Reminder(title, one.time, message_id, unread=one.unread))
        found += _promises(read, text, message_id, at, language)[: MOST - len(requests)]
        before = text
    return found, only and all(may_request(text) for _, text, _ in texts)


def _promises(
    read: Sequence[TaskFound], text: str, message_id: str, at: datetime, language: Language
) -> list[Reminder]:
    """Tasks that are plainly to be kept without a request for a reminder: promises, debts, rhythms, due things."""
    if any(one.asked for one in read):
        return []
    others = find_promised(text, at, text_language(text, language), judge_statement)
    waiting = [Reminder(one.title, one.time, message_id, kind=TaskKind.WAITING) for one in others if one.plain]
    return waiting + [
        Reminder(one.title, one.time, message_id, kind=_kind(one))
        for one in read
        if not (one.kind == "promise" and waiting) and _is_kept(one)
    ]


def _is_kept(one: TaskFound) -> bool:
    """Whether it is the owner's promise, or to be done at a stated time."""
    return one.kind == "promise" or (one.time is not None and one.time.sure)


def _kind(one: TaskFound) -> TaskKind:
    if one.kind == "promise":
        return TaskKind.PROMISE
    rhythm = one.time and one.time.recurrence and (one.kind == "contact" or wants_contact(one.title))
    return TaskKind.CONTACT if rhythm else TaskKind.TASK
