"""The task manager's part of a run over a slice: its prompt, and how its reply is resolved and applied (C8-C10).

Items that a model made up are refused: tasks and ends of tasks that no line supports.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.agents.known_task import KnownTask
from internal.agents.model import AgentReply, OwnerProfile, TaskManager, TaskManagerRequest
from internal.agents.task_manager.output import NOTHING, ProposedTask, SettledTask, TaskReply, parse
from internal.errors import Refusal
from internal.flows.runs.handler import Applied, Prepared, RunHandler, StaleResolution
from internal.flows.runs.slices import SliceLine, evidence_texts, owner_speaks, read_slice, revs
from internal.flows.tasks.apply import Question, ResolvedTask, apply_reply, same_titles
from internal.language.search.grounding import Proposed, ungrounded
from internal.language.tasks.intentions import without_request
from internal.language.worker.process_pool import LanguageWorker
from internal.people import repository as people
from internal.people.model import Person
from internal.scheduling.run import Run
from internal.storage.database import Database
from internal.tasks import repository as tasks, service
from internal.tasks.model import Task, TaskKind, time_of_day


def grounded(reply: TaskReply, request: TaskManagerRequest, titles: Mapping[str, str]) -> TaskReply:
    """The reply without items that are refused as no_request_in_evidence or not_in_evidence.

    `titles` are those of the known tasks, by id. For the language process.
    """
    judge = _Judge(request, titles)
    unasked = without_request([judge.line(task) for task in reply.tasks], request.owner.language)
    unasked = [index for index in unasked if reply.tasks[index].kind is not TaskKind.WAITING]
    asked = [task for index, task in enumerate(reply.tasks) if index not in unasked]
    tasks = [task for task in asked if judge.stated(task.title, task.line)]
    settled = [end for one in reply.settled if (end := judge.settled(one)) is not None]
    lost = len(asked) + len(reply.settled) - len(tasks) - len(settled)
    refused = [Refusal("no_request_in_evidence", "nobody asks for it or promises it")] * len(unasked)
    refused += [Refusal("not_in_evidence", "nothing of it stands in the line it cites")] * lost
    return TaskReply(tuple(tasks), tuple(settled), (*reply.refused, *refused))


class _Judge:
    def __init__(self, request: TaskManagerRequest, titles: Mapping[str, str]) -> None:
        self._request, self._titles = request, titles
        self._lines = {line.number: line for line in request.transcript}

    def line(self, task: ProposedTask) -> tuple[str, datetime]:
        line = self._lines[task.line]
        return line.text, line.at

    def stated(self, title: str, number: int) -> bool:
        proposed = Proposed((), title, evidence_texts(self._request.transcript, (number,), of_owner=True))
        return not ungrounded([proposed], self._request.owner.language)

    def settled(self, one: SettledTask) -> SettledTask | None:
        """The end of a task with a line that states it, the cited one or the owner's last; None without such a line."""
        title = self._titles.get(one.task_id, "")
        own = [line.number for line in reversed(self._request.transcript) if line.owners_word]
        found = next((number for number in ([one.line] if one.cited else own) if self.stated(title, number)), None)
        return None if found is None else replace(one, line=found, cited=True)


AGENT: Final = service.AGENT

SHOWN: Final = 100
"""The most open tasks in one prompt: the next ones first, those without a date last."""


class PersonFinder(Protocol):
    async def mentions(self, people: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        """For each text, the ids of the people whom it means."""


class TaskObserver(Protocol):
    def tasks_changed(self, outcome: str, count: int = 1) -> None:
        """`outcome` is proposed, opened, changed, done or cancelled."""

    def operation_refused(self, agent: str, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class TaskInput:
    """The task manager's input for one slice."""

    request: TaskManagerRequest
    lines: tuple[SliceLine, ...]
    user: User


@dataclass(frozen=True, slots=True)
class ResolvedTasks:
    """A reply as proposals, each with the people it names and the known tasks that it may mean.

    `known` are the revs, by id, of the tasks that were compared.
    """

    reply: TaskReply
    tasks: Sequence[ResolvedTask]
    known: Mapping[str, int]


class TaskHandler(RunHandler[TaskInput, ResolvedTasks]):
    """The task manager's part of a run. `wake` is called after each commit, to send questions to the owner."""

    agent = AGENT
    source = "agent:TaskManager"

    def __init__(
        self,
        database: Database,
        manager: TaskManager,
        worker: LanguageWorker,
        names: PersonFinder,
        observer: TaskObserver,
        *,
        persona_name: str,
        whole_day_at: str,
        question: Question,
        wake: Callable[[], None],
        guarded: bool = False,
    ) -> None:
        """`guarded`: a model answers, and items that it makes up are refused."""
        super().__init__(database, observer, persona_name=persona_name, wake=wake)
        self._manager, self._worker, self._names, self._guarded = manager, worker, names, guarded
        self._observer, self._question, self._whole_day_at = observer, question, time_of_day(whole_day_at)

    async def prepare(self, run: Run) -> Prepared[TaskInput]:
        return await self._database.read(lambda c: self._prepare(c, run))

    def _prepare(self, connection: Connection, run: Run) -> Prepared[TaskInput]:
        user = users.get(connection, run.user_id)
        lines = read_slice(connection, run, user, self._persona)
        own = {line.message_id for line in lines if line.message_id is not None}
        pending = [task for task in tasks.pending(connection, run.user_id) if task.message_id not in own]
        request = TaskManagerRequest(
            owner=OwnerProfile.of(user),
            transcript=[line.shown for line in lines],
            tasks=[KnownTask.of(number, task, user.tz) for number, task in enumerate(pending[:SHOWN], start=1)],
        )
        shown = {"messages": revs(lines), "tasks": {task.handle: task.task_id for task in request.tasks}}
        return Prepared(TaskInput(request, lines, user), shown, None if owner_speaks(lines) else NOTHING)

    async def _ask(self, asked: TaskInput) -> AgentReply:
        return await self._manager.ask(asked.request)

    async def resolve(self, run: Run, prepared: Prepared[TaskInput], reply: str) -> ResolvedTasks:
        asked = prepared.input
        handles: Mapping[str, str] = (run.snapshot or prepared.snapshot)["tasks"]
        shown = [KnownTask(handle, task_id, "", "") for handle, task_id in handles.items()]
        parsed = parse(reply, asked.request.transcript, shown)
        known, everybody = await self._database.read(
            lambda c: (comparable_tasks(c, run.user_id, asked.lines), people.listing(c, run.user_id))
        )
        if self._guarded:
            titles_known = {task.id: task.title for task in known}
            parsed = await self._worker.run_bulk(grounded, parsed, asked.request, titles_known)
        texts = [f"{task.title} {task.person}" for task in parsed.tasks]
        named = await self._names.mentions(everybody, texts) if texts and everybody else [set() for _ in texts]
        titles = [task.title for task in parsed.tasks]
        same = await self._worker.run_bulk(same_titles, titles, [task.title for task in known])
        resolved = [
            ResolvedTask(task, frozenset(person_ids), tuple(known[n].id for n in indexes))
            for task, person_ids, indexes in zip(parsed.tasks, named, same, strict=True)
        ]
        return ResolvedTasks(parsed, resolved, {task.id: task.rev for task in known})

    def _write(
        self, connection: Connection, run: Run, prepared: Prepared[TaskInput], resolved: ResolvedTasks, now: datetime
    ) -> Applied:
        asked = prepared.input
        known = comparable_tasks(connection, run.user_id, asked.lines)
        if {task.id: task.rev for task in known} != resolved.known:
            raise StaleResolution("tasks changed while the task manager's reply was read")
        author = service.TaskAuthor(self.source, now, self._whole_day_at, {"run": run.id, "fragment": run.episode_id})
        changes = apply_reply(
            connection, run, asked.user, asked.lines, known, resolved.tasks, resolved.reply, author, self._question
        )
        payload = {"tasks": dict(changes.counts), "refused": len(changes.refused)}
        return Applied(payload, changes.refused, [(self._observer.tasks_changed, changes.counts)])


def comparable_tasks(connection: Connection, user_id: int, lines: Sequence[SliceLine]) -> list[Task]:
    """The tasks that a slice may mean again: open or proposed ones, and all that were opened for these messages."""
    ids = [line.message_id for line in lines if line.message_id is not None]
    by_id = {task.id: task for task in tasks.of_lines(connection, user_id, ids)}
    return list((by_id | {task.id: task for task in tasks.pending(connection, user_id)}).values())
