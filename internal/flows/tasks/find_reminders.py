"""Finds what the messages of a turn ask to be reminded of. Runs in the language process, so it imports no storage."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from internal.agents.task_manager.offline import titled
from internal.language.tasks.completion import same_task
from internal.language.tasks.requests import find_tasks, may_request, only_requests
from internal.language.tasks.times import TimeFound
from internal.language.text.spelling import Language, text_language

MOST: Final = 10
"""Requests of one message that are granted at once; the task manager finds the rest."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """One request. `time` is None where no moment was named; `message_id` is the message that makes it.

    `unread` are words that name a time and could not be read.
    """

    title: str
    time: TimeFound | None
    message_id: str
    people: frozenset[int] = frozenset()
    unread: str = ""


def find_reminders(
    texts: Sequence[tuple[str, str, datetime]], before: str | None, language: Language
) -> tuple[list[Reminder], bool]:
    """The requests of a turn's messages, and whether they hold nothing else."""
    found: list[Reminder] = []
    only = True
    for message_id, text, at in texts:
        read = find_tasks(text, at, text_language(text, language))
        requests = [one for one in read if one.asked]
        only = only and (only_requests(text, read) or not requests)
        for one in requests[:MOST]:
            title = titled(one, text, before)
            if not any(same_task(title, other.title) and one.time == other.time for other in found):
                found.append(Reminder(title, one.time, message_id, unread=one.unread))
        before = text
    return found, only and all(may_request(text) for _, text, _ in texts)
