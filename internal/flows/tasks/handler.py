"""A slice of a fragment becomes tasks: what the task manager is shown, what is opened, changed and closed (C8-C10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.agents.model import AgentReply, KnownTask, OwnerProfile, TaskManager, TaskManagerRequest
from internal.agents.task_manager.output import TaskReply, parse
from internal.flows.runs.handler import Prepared, StaleDigest, StaleInput
from internal.flows.runs.results import tell_result
from internal.flows.runs.slices import SliceLine, current_revs, read_slice, revs
from internal.flows.tasks.apply import Found, Question, TaskEffects, applied, matched
from internal.language.worker.process_pool import LanguageWorker
from internal.people import repository as people
from internal.people.model import Person
from internal.scheduling.model import Run
from internal.storage.database import Database
from internal.tasks import repository as tasks
from internal.tasks import service
from internal.tasks.model import Task, time_of_day

AGENT: Final = service.AGENT

SHOWN: Final = 100
"""Most open tasks in one prompt: the next ones, and those without a date behind them."""

_NOTHING: Final = '{"tasks": [], "settled": []}'


class Mentions(Protocol):
    async def mentions(self, people: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        """For each text, the ids of the people whom it means."""
        ...


class TaskObserver(Protocol):
    def tasks_changed(self, outcome: str, count: int = 1) -> None:
        """`outcome` is proposed, opened, changed, done or cancelled."""
        ...

    def operation_refused(self, agent: str, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class TaskingInput:
    """What one slice shows the task manager, and where each of its lines comes from."""

    request: TaskManagerRequest
    lines: tuple[SliceLine, ...]
    user: User

    @property
    def told(self) -> bool:
        """Whether the owner himself said anything."""
        return any(line.shown.owners_word for line in self.lines)


@dataclass(frozen=True, slots=True)
class TaskingDigest:
    """A reply as proposals, each with whom it names and which known task it is; `known` are the tasks looked at."""

    reply: TaskReply
    found: Sequence[Found]
    known: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TaskingEffects:
    outcome: TaskEffects
    observer: TaskObserver
    wake: Callable[[], None]

    def after_commit(self) -> None:
        for outcome, count in self.outcome.counts.items():
            self.observer.tasks_changed(outcome, count)
        for refusal in self.outcome.refused:
            self.observer.operation_refused(AGENT, refusal.reason)
        self.wake()


class TaskingHandler:
    """The task manager's part of a run. `wake` is called after each commit: what asks for a yes follows."""

    agent = AGENT
    source = "agent:TaskManager"

    def __init__(
        self,
        database: Database,
        manager: TaskManager,
        worker: LanguageWorker,
        names: Mentions,
        observer: TaskObserver,
        *,
        persona_name: str,
        whole_day_at: str,
        question: Question,
        wake: Callable[[], None],
    ) -> None:
        self._database, self._manager, self._worker, self._names = database, manager, worker, names
        self._observer, self._persona, self._wake, self._question = observer, persona_name, wake, question
        self._whole_day_at = time_of_day(whole_day_at)

    async def read(self, run: Run) -> Prepared[TaskingInput]:
        return await self._database.read(lambda c: self._read(c, run))

    def _read(self, connection: Connection, run: Run) -> Prepared[TaskingInput]:
        user = users.get(connection, run.user_id)
        lines = read_slice(connection, run, user, self._persona)
        own = {line.message_id for line in lines if line.message_id is not None}
        pending = [one for one in tasks.pending(connection, run.user_id) if one.message_id not in own]
        request = TaskManagerRequest(
            owner=OwnerProfile(user.user_id, user.name, user.username, user.lang, user.tz),
            transcript=[line.shown for line in lines],
            tasks=[_known(n, one, user.tz) for n, one in enumerate(pending[:SHOWN], start=1)],
        )
        shown = {"messages": revs(lines), "tasks": {one.handle: one.task_id for one in request.tasks}}
        return Prepared(TaskingInput(request, lines, user), shown)

    async def ask(self, prepared: Prepared[TaskingInput]) -> AgentReply:
        """One call; none where the owner said nothing."""
        if not prepared.input.told:
            return AgentReply(_NOTHING, "none")
        return await self._manager.ask(prepared.input.request)

    async def digest(self, run: Run, prepared: Prepared[TaskingInput], reply: str) -> TaskingDigest:
        asked = prepared.input
        handles: Mapping[str, str] = (run.snapshot or prepared.snapshot)["tasks"]
        shown = [KnownTask(handle, task_id, "", "") for handle, task_id in handles.items()]
        told = parse(reply, asked.request.transcript, shown)
        known, everybody = await self._database.read(
            lambda c: (looked_at(c, run.user_id, asked.lines), people.listing(c, run.user_id))
        )
        titles = [f"{one.title} {one.person}" for one in told.tasks]
        named = await self._names.mentions(everybody, titles) if titles and everybody else [set() for _ in titles]
        same = await self._worker.run_bulk(matched, [one.title for one in told.tasks], [one.title for one in known])
        found = [
            Found(one, frozenset(meant), tuple(known[n].id for n in fitting))
            for one, meant, fitting in zip(told.tasks, named, same, strict=True)
        ]
        return TaskingDigest(told, found, {one.id: one.rev for one in known})

    def apply(
        self,
        connection: Connection,
        run: Run,
        prepared: Prepared[TaskingInput],
        digested: TaskingDigest,
        now: datetime,
    ) -> TaskingEffects:
        asked, shown = prepared.input, (run.snapshot or prepared.snapshot)["messages"]
        if current_revs(connection, run.user_id, list(shown)) != dict(shown):
            raise StaleInput("messages of this slice changed while the task manager read them")
        known = looked_at(connection, run.user_id, asked.lines)
        if {one.id: one.rev for one in known} != digested.known:
            raise StaleDigest("tasks changed while the task manager's reply was read")
        teller = service.TaskAuthor(self.source, now, self._whole_day_at, {"run": run.id, "fragment": run.episode_id})
        outcome = applied(
            connection, run, asked.user, asked.lines, known, digested.found, digested.reply, teller, self._question
        )
        told = {"tasks": dict(Counter(outcome.counts)), "refused": len(outcome.refused)}
        tell_result(connection, run, told, outcome.refused, source=self.source, now=now)
        return TaskingEffects(outcome, self._observer, self._wake)


def looked_at(connection: Connection, user_id: int, lines: Sequence[SliceLine]) -> list[Task]:
    """The tasks that a slice may tell again: what is open or proposed, and all that was opened for these messages."""
    ids = [line.message_id for line in lines if line.message_id is not None]
    found = {one.id: one for one in tasks.of_lines(connection, user_id, ids)}
    found |= {one.id: one for one in tasks.pending(connection, user_id)}
    return list(found.values())


def _known(number: int, one: Task, tz: str) -> KnownTask:
    due = one.when.astimezone(ZoneInfo(tz)) if one.when else None
    whole_day = one.whole_day and one.next_at is None
    return KnownTask(f"T{number}", one.id, one.title, one.state.value, due, whole_day, one.recurrence)
