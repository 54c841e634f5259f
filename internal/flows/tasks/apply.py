"""What the task manager found in a slice, written: tasks opened, changed, confirmed, closed, and who is asked."""

from __future__ import annotations

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
from internal.errors import NotFound, Refused
from internal.flows.runs.slices import SliceLine
from internal.flows.sessions.withdraw import withdraw_about
from internal.language.tasks.completion import same_task
from internal.notifications import repository as notifications
from internal.notifications.model import NotificationKind
from internal.people.operations import RefusedOperation
from internal.scheduling.model import Run
from internal.tasks import repository as tasks
from internal.tasks import service
from internal.tasks.model import Schedule, Task, TaskKind, TaskOrigin, TaskState, first_firing
from internal.tasks.service import NewTask, TaskAuthor

Question = Callable[[User, Task, datetime], tuple[str, list[list[dict[str, str]]]]]
"""How a user is asked whether a task is meant, and what stands below, in Bot API form."""

TOO_OLD: Final = timedelta(days=7)
"""What was said longer ago, and names no day that is still ahead, is nobody's task any more: imports hold years."""

LATE: Final = timedelta(days=1)
"""A reminder that was asked for and whose moment passed meanwhile is told of at once, if it is no older."""


@dataclass(frozen=True, slots=True)
class Found:
    """A proposal with the people it names and the known tasks of the same title."""

    proposed: ProposedTask
    people: frozenset[int]
    same: tuple[str, ...]


@dataclass(slots=True)
class TaskEffects:
    """How much changed, by proposed, opened, changed, done and cancelled, and what was refused."""

    counts: Counter[str] = field(default_factory=Counter)
    refused: list[RefusedOperation] = field(default_factory=list)


def matched(titles: Sequence[str], known: Sequence[str]) -> list[list[int]]:
    """For each title the places of the known ones that tell of the same; for one call of the language process."""
    return [[n for n, other in enumerate(known) if same_task(title, other)] for title in titles]


def applied(
    connection: Connection,
    run: Run,
    user: User,
    lines: Sequence[SliceLine],
    known: Sequence[Task],
    found: Sequence[Found],
    reply: TaskReply,
    teller: TaskAuthor,
    question: Question,
) -> TaskEffects:
    """Writes everything in the caller's transaction; `known` are the tasks as they are now."""
    writing = _Writing(connection, run, user, {line.shown.number: line for line in lines}, known, teller, question)
    writing.effects.refused += reply.refused
    for one in found:
        writing.guarded(lambda one=one: writing.take(one))  # type: ignore[misc]
    for end in reply.settled:
        writing.guarded(lambda end=end: writing.settle(end))  # type: ignore[misc]
    writing.take_back()
    return writing.effects


class _Writing:
    def __init__(
        self,
        connection: Connection,
        run: Run,
        user: User,
        lines: Mapping[int, SliceLine],
        known: Sequence[Task],
        teller: TaskAuthor,
        question: Question,
    ) -> None:
        self._connection, self._run, self._user, self._lines = connection, run, user, lines
        self._known = {one.id: one for one in known}
        self._teller, self._question = teller, question
        self._told: set[str] = set()
        self.effects = TaskEffects()

    def guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (Refused, NotFound) as refusal:
            reason = refusal.reason if isinstance(refusal, Refused) else "gone"
            self.effects.refused.append(RefusedOperation(reason, str(refusal)))

    def take(self, found: Found) -> None:
        """Opens a task, or brings the one up to date that it is already."""
        line = self._lines[found.proposed.line]
        schedule = schedule_of(found.proposed, line.shown, self._user.tz, self._user.lang)
        known = self._same(found, line, schedule)
        if known is not None:
            self._told.add(known.id)
            self._bring_up_to_date(known, found, line, schedule)
            return
        late = self._refuse_past(found.proposed, line, schedule)
        opened = service.open_task(
            self._connection, self._run.user_id, self._new(found, line, schedule), self._with_cause(line)
        )
        self._known[opened.id] = opened
        self._told.add(opened.id)
        if late:
            opened = tasks.change(self._connection, opened, self._teller.now, next_at=self._teller.now)
        self.effects.counts["proposed" if opened.state is TaskState.PROPOSED else "opened"] += 1
        if opened.state is TaskState.PROPOSED and opened.due_at is not None:
            self._ask(opened)

    def settle(self, settled: SettledTask) -> None:
        known = tasks.get(self._connection, self._run.user_id, settled.task_id)
        if known is None or known.state.closed or known.id in self._told:
            return
        end = service.done if settled.outcome is TaskState.DONE else service.cancel
        end(self._connection, self._run.user_id, known.id, self._with_cause(self._lines[settled.line]))
        withdraw_about(self._connection, self._run.user_id, known.id, settled.outcome.value, self._teller.now)
        self.effects.counts[settled.outcome.value] += 1

    def take_back(self) -> None:
        """What the lines of the slice do not tell (any more): a question that was not answered goes, and a task whose
        message was edited since is cancelled. What the owner confirmed and nobody edited stays."""
        user_id, ids = self._run.user_id, [one.message_id for one in self._lines.values() if one.message_id]
        edited = {one.id: one.edited_at for one in dialogue.by_ids(self._connection, user_id, ids) if one.edited_at}
        for one in tasks.of_lines(self._connection, user_id, ids):
            if one.id in self._told or one.state.closed:
                continue
            changed = one.message_id in edited and edited[one.message_id] > one.created_at
            if one.state is TaskState.PROPOSED:
                withdraw_about(self._connection, user_id, one.id, "not_said", self._teller.now)
                service.drop(self._connection, user_id, [one.id], self._teller.now)
            elif changed:
                withdraw_about(self._connection, user_id, one.id, "not_said", self._teller.now)
                service.cancel(self._connection, user_id, one.id, self._teller)
            else:
                continue
            self.effects.counts["cancelled"] += 1

    def _same(self, found: Found, line: SliceLine, schedule: Schedule) -> Task | None:
        """The task that it is: of the same message and title or time, else one that is open under the same title."""
        fitting = [one for one in self._known.values() if one.id in found.same and one.id not in self._told]
        of_line = [one for one in self._known.values() if line.message_id and one.message_id == line.message_id]
        alike = [one for one in of_line if one in fitting]
        timed = [one for one in of_line if _same_moment(one.schedule, schedule)]
        only = of_line if len(of_line) == 1 and self._edited_at(line) else []
        pending = [one for one in fitting if not one.state.closed]
        return next((one for one in (*alike, *timed, *only, *pending) if one.id not in self._told), None)

    def _edited_at(self, line: SliceLine) -> datetime | None:
        """When the line was edited last: what was opened for it in the chat may have got other words since."""
        message = dialogue.by_ids(self._connection, self._run.user_id, [line.message_id or ""])
        return message[0].edited_at if message else None

    def _moves(self, known: Task, line: SliceLine, schedule: Schedule, *, same_line: bool) -> bool:
        """Whether the line tells another time. What is open stays where its owner has it until he says otherwise."""
        if schedule.due_at is None or _same_moment(schedule, known.schedule):
            return False
        settled_at = service.time_settled_at(self._connection, known)
        if same_line and known.state is TaskState.OPEN:
            edited_at = self._edited_at(line)
            return edited_at is not None and edited_at > settled_at
        return same_line or line.said_at > settled_at

    def _is_late(self, proposed: ProposedTask, schedule: Schedule) -> bool:
        """Whether it was asked for and its moment passed a little while ago: it is told of at once.

        Raises Refused("past") for what will not be told of at all.
        """
        now = self._teller.now
        if schedule.due_at is None or first_firing(schedule, self._teller.whole_day_at, now) is not None:
            return False
        if proposed.asked and schedule.recurrence is None and now - schedule.due_at < LATE:
            return True
        raise Refused("past", "its day is over")

    def _bring_up_to_date(self, known: Task, found: Found, line: SliceLine, schedule: Schedule) -> None:
        if known.state.closed:
            return
        values: dict[str, Any] = {}
        same_line = known.message_id is not None and known.message_id == line.message_id
        if same_line and known.title != found.proposed.title and not found.same:
            values["title"] = found.proposed.title
        if known.person_id is None and len(found.people) == 1:
            values["person_id"] = min(found.people)
        moves = self._moves(known, line, schedule, same_line=same_line)
        late = moves and self._is_late(found.proposed, schedule)
        before = known
        if moves:
            withdraw_about(self._connection, known.user_id, known.id, "moved", self._teller.now)
        known = service.change(
            self._connection, known.user_id, known.id, self._teller, schedule=schedule if moves else None, **values
        )
        if found.proposed.asked and known.state is TaskState.PROPOSED:
            known = service.confirm(self._connection, known.user_id, known.id, self._with_cause(line))
            withdraw_about(self._connection, known.user_id, known.id, "confirmed", self._teller.now)
        elif moves and known.state is TaskState.PROPOSED:
            self._ask(known)
        if late and known.state is TaskState.OPEN:
            known = tasks.change(self._connection, known, self._teller.now, next_at=self._teller.now)
        if known.rev != before.rev:
            self.effects.counts["changed"] += 1

    def _refuse_past(self, proposed: ProposedTask, line: SliceLine, schedule: Schedule) -> bool:
        """Refuses what is over; true for a reminder whose moment passed a little while ago."""
        now = self._teller.now
        if schedule.recurrence is not None or schedule.due_at is None:
            if now - line.said_at > TOO_OLD:
                raise Refused("old", "it was said long ago and names no day ahead")
            return False
        late = self._is_late(proposed, schedule)
        if late and schedule.due_at <= line.said_at:
            raise Refused("past", "it was over when it was said")
        return late

    def _new(self, found: Found, line: SliceLine, schedule: Schedule) -> NewTask:
        told = found.proposed
        return NewTask(
            title=told.title,
            schedule=schedule,
            kind=TaskKind(told.kind),
            origin=TaskOrigin.FRAGMENT,
            proposed=not told.asked,
            person_id=min(found.people) if len(found.people) == 1 else None,
            episode_id=self._run.episode_id,
            message_id=line.message_id,
            run_id=self._run.id,
        )

    def _with_cause(self, line: SliceLine) -> TaskAuthor:
        links = dict(self._teller.links) | ({"message": line.message_id} if line.message_id else {})
        return TaskAuthor(self._teller.source, self._teller.now, self._teller.whole_day_at, links)

    def _ask(self, task: Task) -> None:
        ask_to_confirm(self._connection, self._user, task, self._question, self._teller.now)


def _same_moment(one: Schedule, other: Schedule) -> bool:
    """To the minute, which is what an agent tells: `in two hours` was read to the second in the chat."""
    return _to_minute(one) == _to_minute(other)


def _to_minute(schedule: Schedule) -> Schedule:
    due = schedule.due_at
    return schedule if due is None else replace(schedule, due_at=due.replace(second=0, microsecond=0))


def ask_to_confirm(connection: Connection, user: User, task: Task, question: Question, now: datetime) -> None:
    """Has its owner asked whether a proposed task is meant; once for each day it is proposed for."""
    withdraw_about(connection, user.user_id, task.id, "asked_again", now)
    due = task.due_at
    told: dict[str, Any] = {
        "task": task.id,
        "due_at": due.isoformat() if due else None,
        "whole_day": task.whole_day,
        "recurrence": task.recurrence,
        "message": task.message_id,
        "episode": task.episode_id,
    }
    words, told["buttons"] = question(user, task, now)
    notifications.generate(
        connection,
        user.user_id,
        NotificationKind.CONFIRM,
        words,
        now=now,
        dedupe=f"confirm:{task.id}:{due.isoformat() if due else ''}",
        ref_id=task.id,
        payload=told,
        links={"task": task.id, **({"caused_by": task.event_id} if task.event_id else {})},
    )
