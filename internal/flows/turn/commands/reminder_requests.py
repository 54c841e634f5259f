"""Grants a plain request to be reminded in the turn that makes it: the task is opened with the answer (C4).

The fragment that holds the message is read later too; the task knows its message, so it is not opened twice.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.dialogue.mailbox.model import Rendered
from internal.dialogue.model import Message
from internal.errors import ModelUnavailable, Refused
from internal.flows.tasks.find_reminders import Reminder, find_reminders, may_open
from internal.flows.tasks.handler import PersonFinder, TaskObserver
from internal.flows.tasks.parse import schedule_in
from internal.flows.turn.prompt import PromptInputs
from internal.language.text.spelling import unquoted
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker
from internal.people import repository as people
from internal.storage.database import Database
from internal.tasks import repository as tasks, service
from internal.tasks.model import Task, TaskKind, TaskOrigin, TaskState, first_firing, time_of_day

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReminderRequest:
    """The reminders that a question asks for; `only` = it says nothing else."""

    reminders: Sequence[Reminder]
    only: bool

    @property
    def note(self) -> str:
        """The note for the responder where there is more to answer."""
        titles = "; ".join(one.title for one in self.reminders)
        return (
            f"The program keeps the reminders and promises of the owner's newest message ({titles}) and confirms them"
            " in a message of its own below your answer. Do not confirm them, and answer what else was said."
        )


def with_tasks(requested: ReminderRequest | None, more: Sequence[Reminder]) -> ReminderRequest | None:
    """The request with the tasks that a model asked for, but for those at the moment of one that was found by rules."""
    found = list(requested.reminders) if requested is not None else []
    moments = {one.time.moment for one in found if one.time is not None}
    found += [one for one in more if one.time is None or one.time.moment not in moments]
    return ReminderRequest(found, only=False) if found else None


@dataclass(frozen=True, slots=True)
class OpenedReminder:
    """The task that was opened, None if it was refused, with the message about it and its buttons in Bot API form.

    `refused` is the reason, a short stable word.
    """

    task: Task | None
    part: Rendered
    keyboard: list[list[dict[str, Any]]]
    refused: str | None = None


RenderReminder = Callable[[User, Task | str, datetime, str], tuple[Rendered, list[list[dict[str, Any]]]]]
"""Renders an opened reminder with its buttons; of a refused one it gets the reason instead of the task.

Last come the words of a time that could not be read.
"""


class ReminderRequests:
    """Reads requests in a question and opens their tasks."""

    def __init__(
        self,
        database: Database,
        worker: LanguageWorker,
        names: PersonFinder,
        observer: TaskObserver,
        *,
        whole_day_at: str,
        render: RenderReminder,
    ) -> None:
        self._database, self._worker, self._names, self._observer = database, worker, names, observer
        self._whole_day_at, self._render = time_of_day(whole_day_at), render

    async def read(self, question: PromptInputs) -> ReminderRequest | None:
        """The reminders that a question asks for; None for nearly every question, without a call of the worker."""
        messages = [one for one in question.asked if one.content and one.forward is None and not one.hidden]
        if not any(may_open(unquoted(message.content)) for message in messages):
            return None
        try:
            return await self._read(question, messages)
        except (ModelUnavailable, LanguageCallFailed) as error:  # the task manager finds it in the fragment
            log.warning("request_not_read", extra={"turn": question.turn.id, "reason": type(error).__name__})
            return None

    async def _read(self, question: PromptInputs, messages: Sequence[Message]) -> ReminderRequest | None:
        user = question.user
        said = [one.content for one in question.earlier if one.role == "user" and one.forward is None]
        texts = [(one.id, unquoted(one.content), one.timestamp.astimezone(ZoneInfo(user.tz))) for one in messages]
        reminders, only = await self._worker.run(find_reminders, texts, said[-1] if said else None, user.lang)
        if user.user_id < 0:  # in a group a promise is anybody's
            reminders = [one for one in reminders if one.asked]
        if not reminders:
            return None
        everybody = await self._database.read(lambda c: people.listing(c, user.user_id))
        if everybody:
            named = await self._names.mentions(everybody, [one.title for one in reminders])
            reminders = [replace(one, people=frozenset(meant)) for one, meant in zip(reminders, named, strict=True)]
        return ReminderRequest(reminders, only)

    def open_tasks(
        self, connection: Connection, question: PromptInputs, requested: ReminderRequest, now: datetime
    ) -> list[OpenedReminder]:
        """Opens a task for each request, in the caller's transaction; one that is open is confirmed once more."""
        user = question.user
        opened = []
        for reminder in requested.reminders:
            task: Task | None = None
            refused: str | None = None
            try:
                task = self._opened(connection, question, reminder, now)
            except Refused as refusal:
                refused = refusal.reason
                if not reminder.asked:
                    continue
            opened.append(
                OpenedReminder(task, *self._render(user, task or refused or "", now, reminder.unread), refused)
            )
        return opened

    def count(self, opened: Sequence[OpenedReminder]) -> None:
        """Counts what was opened and logs what was not, after the commit."""
        for one in opened:
            if one.refused is not None:
                log.info("request_refused", extra={"reason": one.refused})
        self._observer.tasks_changed("opened", sum(one.task is not None for one in opened))

    def _opened(self, connection: Connection, question: PromptInputs, reminder: Reminder, now: datetime) -> Task:
        user = question.user
        of_message = tasks.of_lines(connection, user.user_id, [reminder.message_id])
        schedule = schedule_in(reminder.time, user.tz)
        schedule = replace(schedule, until=schedule.until and reminder.kind is not TaskKind.WAITING)
        links = {"turn": question.turn.id, "message": reminder.message_id}
        author = service.TaskAuthor(f"user:{user.user_id}", now, self._whole_day_at, links)
        same = [one for one in of_message if one.title == reminder.title and not one.state.closed]
        if same:  # the turn was answered before, and its answer was lost
            return service.change(connection, user.user_id, same[0].id, author, schedule=schedule)
        if schedule.due_at is not None and first_firing(schedule, self._whole_day_at, now) is None:
            raise Refused("past", "that moment is over")
        new = service.NewTask(
            title=reminder.title,
            schedule=schedule,
            kind=reminder.kind,
            origin=TaskOrigin.CHAT,
            person_id=min(reminder.people) if len(reminder.people) == 1 else None,
            message_id=reminder.message_id,
        )
        return self._proposed_before(connection, new, author) or service.open_task(
            connection, user.user_id, new, author
        )

    def _proposed_before(self, connection: Connection, new: service.NewTask, author: service.TaskAuthor) -> Task | None:
        """Confirms a proposed task of the same title: asking to be reminded of it is a yes. A promise is made once."""
        user_id = int(author.source.removeprefix("user:"))
        for one in tasks.pending(connection, user_id):
            if one.title.casefold() != new.title.casefold():
                continue
            if one.state is TaskState.OPEN and new.kind is not TaskKind.REMINDER:
                return one
            if one.state is TaskState.PROPOSED:
                when = new.schedule if new.schedule.due_at else one.schedule
                service.change(connection, user_id, one.id, author, schedule=when)
                return service.confirm(connection, user_id, one.id, author)
        return None
