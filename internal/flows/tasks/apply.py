"""Writes a reply of the task manager: tasks opened, changed, confirmed and closed, and questions to the owner."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from internal.access.model import User
from internal.agents.task_manager.due_dates import schedule_of
from internal.agents.task_manager.output import ProposedTask, SettledTask, TaskReply
from internal.dialogue import repository as dialogue
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind
from internal.errors import NotFound, Refusal, Refused
from internal.flows.runs.slices import SliceLine
from internal.flows.sessions.lifecycle import withdraw_about
from internal.language.tasks.completion import same_task
from internal.scheduling.run import Run
from internal.tasks import repository as tasks, service
from internal.tasks.model import Schedule, Task, TaskKind, TaskOrigin, TaskState, first_firing
from internal.tasks.service import NewTask, TaskAuthor

Question = Callable[[User, Task, datetime], tuple[str, list[list[dict[str, str]]]]]
"""The text that asks a user whether a task is meant, and its buttons in Bot API form."""

TOO_OLD: Final = timedelta(days=7)
"""The age of a line after which it makes no task unless it names a day that is still ahead: imports hold years."""

LATE: Final = timedelta(days=1)
"""The longest delay with which a requested reminder is still sent, at once, if its moment passed meanwhile."""


@dataclass(frozen=True, slots=True)
class ResolvedTask:
    """A proposal with the ids of the people it names and of the known tasks with the same title."""

    proposed: ProposedTask
    people: frozenset[int]
    same: tuple[str, ...]


@dataclass(slots=True)
class TaskChanges:
    """The number of tasks that were proposed, opened, changed, done and cancelled, and what was refused."""

    counts: Counter[str] = field(default_factory=Counter)
    refused: list[Refusal] = field(default_factory=list)


def same_titles(titles: Sequence[str], known: Sequence[str]) -> list[list[int]]:
    """For each title, the indexes of the known titles that mean the same task."""
    return [[n for n, other in enumerate(known) if same_task(title, other)] for title in titles]


def apply_reply(
    connection: Connection,
    run: Run,
    user: User,
    lines: Sequence[SliceLine],
    known: Sequence[Task],
    proposed: Sequence[ResolvedTask],
    reply: TaskReply,
    author: TaskAuthor,
    question: Question,
) -> TaskChanges:
    """Writes everything in the caller's transaction; `known` are the current tasks."""
    writer = _TaskWriter(connection, run, user, {line.shown.number: line for line in lines}, known, author, question)
    writer.changes.refused += reply.refused
    for task in proposed:
        writer.guarded(lambda task=task: writer.open_or_change(task))  # type: ignore[misc]
    for settled in reply.settled:
        writer.guarded(lambda settled=settled: writer.settle(settled))  # type: ignore[misc]
    writer.take_back()
    return writer.changes


class _TaskWriter:
    def __init__(
        self,
        connection: Connection,
        run: Run,
        user: User,
        lines: Mapping[int, SliceLine],
        known: Sequence[Task],
        author: TaskAuthor,
        question: Question,
    ) -> None:
        self._connection, self._run, self._user, self._lines = connection, run, user, lines
        self._known = {task.id: task for task in known}
        self._author, self._question = author, question
        self._mentioned: set[str] = set()
        self.changes = TaskChanges()

    def guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (Refused, NotFound) as refusal:
            reason = refusal.reason if isinstance(refusal, Refused) else "gone"
            self.changes.refused.append(Refusal(reason, str(refusal)))

    def open_or_change(self, resolved: ResolvedTask) -> None:
        """Opens a task, or updates the known task that it means."""
        line = self._lines[resolved.proposed.line]
        schedule = schedule_of(resolved.proposed, line.shown, self._user.tz, self._user.lang)
        known = self._same(resolved, line, schedule)
        if known is not None:
            self._mentioned.add(known.id)
            self._bring_up_to_date(known, resolved, line, schedule)
            return
        late = self._refuse_past(resolved.proposed, line, schedule)
        opened = service.open_task(
            self._connection, self._run.user_id, self._new(resolved, line, schedule), self._with_cause(line)
        )
        self._known[opened.id] = opened
        self._mentioned.add(opened.id)
        if late:
            opened = tasks.change(self._connection, opened, self._author.now, next_at=self._author.now)
        self.changes.counts["proposed" if opened.state is TaskState.PROPOSED else "opened"] += 1
        if opened.state is TaskState.PROPOSED and opened.due_at is not None:
            self._ask(opened)

    def settle(self, settled: SettledTask) -> None:
        known = tasks.get(self._connection, self._run.user_id, settled.task_id)
        if known is None or known.state.closed or known.id in self._mentioned:
            return
        end = service.mark_done if settled.outcome is TaskState.DONE else service.cancel
        end(self._connection, self._run.user_id, known.id, self._with_cause(self._lines[settled.line]))
        withdraw_about(self._connection, self._run.user_id, known.id, settled.outcome.value, self._author.now)
        self.changes.counts[settled.outcome.value] += 1

    def take_back(self) -> None:
        """Removes tasks that the lines of the slice do not ask for (any more).

        An unconfirmed proposal is dropped; a task whose message was edited since is cancelled. Other tasks that
        the owner confirmed stay.
        """
        user_id, ids = self._run.user_id, [line.message_id for line in self._lines.values() if line.message_id]
        messages = dialogue.by_ids(self._connection, user_id, ids)
        edited = {message.id: message.edited_at for message in messages if message.edited_at}
        for task in tasks.of_lines(self._connection, user_id, ids):
            if task.id in self._mentioned or task.state.closed:
                continue
            changed = task.message_id in edited and edited[task.message_id] > task.created_at
            if task.state is TaskState.PROPOSED:
                withdraw_about(self._connection, user_id, task.id, "not_said", self._author.now)
                service.drop(self._connection, user_id, [task.id], self._author.now)
            elif changed:
                withdraw_about(self._connection, user_id, task.id, "not_said", self._author.now)
                service.cancel(self._connection, user_id, task.id, self._author)
            else:
                continue
            self.changes.counts["cancelled"] += 1

    def _same(self, resolved: ResolvedTask, line: SliceLine, schedule: Schedule) -> Task | None:
        """The known task that is meant: of the same message and title or time, else a pending one of the same title."""
        same_title = [
            task for task in self._known.values() if task.id in resolved.same and task.id not in self._mentioned
        ]
        of_line = [task for task in self._known.values() if line.message_id and task.message_id == line.message_id]
        same_line = [task for task in of_line if task in same_title]
        same_time = [task for task in of_line if _same_moment(task.schedule, schedule)]
        only = of_line if len(of_line) == 1 and self._edited_at(line) else []
        pending = [task for task in same_title if not task.state.closed]
        best_first = (*same_line, *same_time, *only, *pending)
        return next((task for task in best_first if task.id not in self._mentioned), None)

    def _edited_at(self, line: SliceLine) -> datetime | None:
        """When the line was last edited: a task opened for it in the chat may have got other words since."""
        message = dialogue.by_ids(self._connection, self._run.user_id, [line.message_id or ""])
        return message[0].edited_at if message else None

    def _moves(self, known: Task, line: SliceLine, schedule: Schedule, *, same_line: bool) -> bool:
        """Whether the line states another time. An open task keeps the owner's time until he says otherwise."""
        if schedule.due_at is None or _same_moment(schedule, known.schedule):
            return False
        settled_at = service.time_settled_at(self._connection, known)
        if same_line and known.state is TaskState.OPEN:
            edited_at = self._edited_at(line)
            return edited_at is not None and edited_at > settled_at
        return same_line or line.said_at > settled_at

    def _is_late(self, proposed: ProposedTask, schedule: Schedule) -> bool:
        """Whether it was requested and its moment has just passed: it is sent at once.

        Raises Refused("past") if it will never be sent.
        """
        now = self._author.now
        if schedule.due_at is None or first_firing(schedule, self._author.whole_day_at, now) is not None:
            return False
        if proposed.asked and schedule.recurrence is None and now - schedule.due_at < LATE:
            return True
        raise Refused("past", "its day is over")

    def _bring_up_to_date(self, known: Task, resolved: ResolvedTask, line: SliceLine, schedule: Schedule) -> None:
        if known.state.closed:
            return
        values: dict[str, Any] = {}
        same_line = known.message_id is not None and known.message_id == line.message_id
        if same_line and known.title != resolved.proposed.title and not resolved.same:
            values["title"] = resolved.proposed.title
        if known.person_id is None and len(resolved.people) == 1:
            values["person_id"] = min(resolved.people)
        moves = self._moves(known, line, schedule, same_line=same_line)
        late = moves and self._is_late(resolved.proposed, schedule)
        before = known
        if moves:
            withdraw_about(self._connection, known.user_id, known.id, "moved", self._author.now)
        known = service.change(
            self._connection, known.user_id, known.id, self._author, schedule=schedule if moves else None, **values
        )
        if resolved.proposed.asked and known.state is TaskState.PROPOSED:
            known = service.confirm(self._connection, known.user_id, known.id, self._with_cause(line))
            withdraw_about(self._connection, known.user_id, known.id, "confirmed", self._author.now)
        elif moves and known.state is TaskState.PROPOSED:
            self._ask(known)
        if late and known.state is TaskState.OPEN:
            known = tasks.change(self._connection, known, self._author.now, next_at=self._author.now)
        if known.rev != before.rev:
            self.changes.counts["changed"] += 1

    def _refuse_past(self, proposed: ProposedTask, line: SliceLine, schedule: Schedule) -> bool:
        """Whether it is a reminder whose moment has just passed. Raises Refused for past or old ones."""
        now = self._author.now
        if schedule.recurrence is not None or schedule.due_at is None:
            if now - line.said_at > TOO_OLD:
                raise Refused("old", "it was said long ago and names no day ahead")
            return False
        late = self._is_late(proposed, schedule)
        if late and schedule.due_at <= line.said_at:
            raise Refused("past", "it was over when it was said")
        return late

    def _new(self, resolved: ResolvedTask, line: SliceLine, schedule: Schedule) -> NewTask:
        proposed = resolved.proposed
        return NewTask(
            title=proposed.title,
            schedule=schedule,
            kind=TaskKind(proposed.kind),
            origin=TaskOrigin.FRAGMENT,
            proposed=not proposed.asked and proposed.kind not in (TaskKind.WAITING, TaskKind.PROMISE),
            person_id=min(resolved.people) if len(resolved.people) == 1 else None,
            episode_id=self._run.episode_id,
            message_id=line.message_id,
            run_id=self._run.id,
        )

    def _with_cause(self, line: SliceLine) -> TaskAuthor:
        links = dict(self._author.links) | ({"message": line.message_id} if line.message_id else {})
        return TaskAuthor(self._author.source, self._author.now, self._author.whole_day_at, links)

    def _ask(self, task: Task) -> None:
        ask_to_confirm(self._connection, self._user, task, self._question, self._author.now)


def _same_moment(left: Schedule, right: Schedule) -> bool:
    """Whether two times are equal to the minute: agents give minutes, while `in two hours` was read to the second."""
    return _to_minute(left) == _to_minute(right)


def _to_minute(schedule: Schedule) -> Schedule:
    due = schedule.due_at
    return schedule if due is None else replace(schedule, due_at=due.replace(second=0, microsecond=0))


def ask_to_confirm(connection: Connection, user: User, task: Task, question: Question, now: datetime) -> None:
    """Asks the owner whether a proposed task is meant, once for each day it is proposed for."""
    withdraw_about(connection, user.user_id, task.id, "asked_again", now)
    due = task.due_at
    payload: dict[str, Any] = {
        "task": task.id,
        "due_at": due.isoformat() if due else None,
        "whole_day": task.whole_day,
        "recurrence": task.recurrence,
        "message": task.message_id,
        "episode": task.episode_id,
    }
    words, payload["buttons"] = question(user, task, now)
    notifications.generate(
        connection,
        user.user_id,
        NotificationKind.CONFIRM,
        words,
        now=now,
        dedupe=f"confirm:{task.id}:{due.isoformat() if due else ''}",
        ref_id=task.id,
        payload=payload,
        links={"task": task.id, **({"caused_by": task.event_id} if task.event_id else {})},
    )
