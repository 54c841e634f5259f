"""`/tasks`: an owner's tasks, reminders and promises."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Response
from pydantic import BaseModel, Field, StringConstraints
from sqlalchemy import Connection

from bot.web.http.fields import (
    NUL_FREE,
    Limit,
    Moment,
    Offset,
    Out,
    Owner,
    RequestBody,
    Short,
    UserFilter,
    UserId,
    Uuid,
    in_zone,
)
from bot.web.http.owners import Owners, zone_of
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter, refusals
from bot.web.http.sessions import expect_visible
from internal.errors import NotFound
from internal.flows.tasks import actions
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.tasks import repository, service
from internal.tasks.model import MAX_DETAILS, MAX_TITLE, Schedule, Task, TaskKind, TaskOrigin, TaskState, time_of_day

Title = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TITLE, pattern=r"[^\s\x00]"), NUL_FREE]
Details = Annotated[str, StringConstraints(max_length=MAX_DETAILS), NUL_FREE]
Recurrence = Annotated[Short, Field(description="An RRULE, such as FREQ=WEEKLY;BYDAY=MO; empty for once.")]


class TaskOut(Out):
    """`due_at` is UTC; of a `whole_day` task it is midnight in `tz`. `next_at` is the time of the next reminder.

    `message_id` and `episode_id` say where it was found, `event_id` is the last event about it.
    """

    id: str
    kind: TaskKind
    state: TaskState
    title: str
    details: str | None
    person_id: int | None
    for_user: int | None
    due_at: datetime | None
    whole_day: bool
    recurrence: str | None
    tz: str
    next_at: datetime | None
    origin: TaskOrigin
    episode_id: str | None
    message_id: str | None
    run_id: str | None
    event_id: str | None
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None


class TasksOut(BaseModel):
    """`count` is the number of all tasks in the requested states."""

    tasks: list[TaskOut]
    count: int


class TaskRequest(RequestBody):
    """A task to add; a bare date in `due_at` is that whole day in the user's zone. A recurrence needs a first time."""

    user_id: Owner
    title: Title
    kind: TaskKind = TaskKind.TASK
    details: Details | None = None
    due_at: Moment | None = None
    recurrence: Recurrence | None = None


class TaskPatch(RequestBody):
    """Absent fields stay. `state` done and cancelled close a task; open confirms a proposed or reopens a closed one.

    Another time (`due_at`, `recurrence`) confirms a proposed task. `next_at` postpones the reminder.
    """

    title: Title = ""
    details: Details | None = None
    due_at: Moment | None = None
    recurrence: Recurrence | None = None
    state: Literal["open", "done", "cancelled"] | None = None
    next_at: Moment | None = None


def tasks_router(database: Database, clock: Clock, owners: Owners, whole_day_at: str) -> APIRouter:
    router = APIRouter(prefix="/tasks", tags=["tasks"], dependencies=KEYED)

    def teller(user_id: int) -> service.TaskAuthor:
        return service.by_owner(user_id, clock.now(), time_of_day(whole_day_at))

    @router.get("", responses=READING)
    async def list_tasks(
        user_id: UserId, state: TaskState | None = None, limit: Limit = 100, offset: Offset = 0
    ) -> TasksOut:
        """Tasks by time, those without a time last; in every state, or in one."""
        await owners.stored(user_id)
        states = () if state is None else (state,)

        def read(connection: Connection) -> tuple[list[Task], int]:
            page = repository.listing(connection, user_id, states=states, limit=limit, offset=offset)
            return page, repository.count(connection, user_id, states)

        page, count = await database.read(read)
        return TasksOut(tasks=[TaskOut.of(one) for one in page], count=count)

    @router.get("/{task_id}", responses=READING)
    async def get_task(task_id: Uuid, user_filter: UserFilter = None) -> TaskOut:
        return TaskOut.of(await database.read(lambda c: _task(c, task_id, user_filter)))

    @router.post("", status_code=201, responses=WRITING)
    async def add_task(request: TaskRequest) -> TaskOut:
        """Opens a task, without asking the owner to confirm it."""
        await owners.about(request.user_id)

        def work(connection: Connection) -> Task:
            owners.expect(connection, request.user_id, clock.now())
            schedule = _schedule(connection, request.user_id, request.due_at, request.recurrence)
            new = service.NewTask(request.title, schedule, kind=request.kind, details=request.details)
            return service.open_task(connection, request.user_id, new, teller(request.user_id))

        return TaskOut.of(await database.write(work))

    @router.patch("/{task_id}", responses={**WRITING, **refusals(409)})
    async def change_task(task_id: Uuid, changes: TaskPatch, user_filter: UserFilter = None) -> TaskOut:
        """Changes the words or the time of a task, closes it or reopens it."""

        def work(connection: Connection) -> Task:
            known = _task(connection, task_id, user_filter)
            return _change_task(connection, known, changes, teller(known.user_id))

        return TaskOut.of(await database.write(work))

    @router.delete("/{task_id}", status_code=204, responses={**READING, **refusals(404)})
    async def delete_task(task_id: Uuid, user_filter: UserFilter = None) -> Response:
        """Deletes a task for good. The message it was found in stays."""

        def work(connection: Connection) -> None:
            known = _task(connection, task_id, user_filter)
            actions.drop(connection, known.user_id, known.id, teller(known.user_id))

        await database.write(work)
        return Response(status_code=204)

    return router


def _task(connection: Connection, task_id: str, user_filter: int | None) -> Task:
    """The task. Raises NotFound for an unknown one, another owner's, and one outside the call's session."""
    owner = repository.owner_of(connection, task_id)
    if owner is None or user_filter not in {None, owner}:
        raise NotFound(f"there is no task {task_id}")
    expect_visible(owner)
    return service.task(connection, owner, task_id)


def _schedule(connection: Connection, user_id: int, due_at: object, recurrence: str | None) -> Schedule:
    zone = zone_of(connection, user_id)
    moment = in_zone(due_at, zone)  # type: ignore[arg-type]  # as `Moment` was read
    whole = due_at is not None and not isinstance(due_at, datetime)
    return Schedule(moment, whole, recurrence or None, zone.key)


def _change_task(connection: Connection, known: Task, changes: TaskPatch, teller: service.TaskAuthor) -> Task:
    fields, user_id = changes.model_fields_set, known.user_id
    words = {name: getattr(changes, name) for name in ("title", "details") if name in fields}
    task = service.change(connection, user_id, known.id, teller, **words)
    if fields & {"due_at", "recurrence"}:
        before = known.schedule
        due = _schedule(connection, user_id, changes.due_at, None) if "due_at" in fields else before
        recurrence = changes.recurrence if "recurrence" in fields else before.recurrence
        schedule = Schedule(due.due_at, due.whole_day, recurrence or None, due.tz)
        if schedule != before:
            task = actions.reschedule(connection, user_id, known.id, schedule, teller)
    if "next_at" in fields and changes.next_at is not None:
        moment = in_zone(changes.next_at, zone_of(connection, user_id))
        assert moment is not None
        task = actions.postpone(connection, user_id, known.id, moment, teller)
    match changes.state:
        case "done":
            return actions.mark_done(connection, user_id, known.id, teller)
        case "cancelled":
            return actions.cancel(connection, user_id, known.id, teller)
        case "open" if task.state.closed:
            return service.reopen(connection, user_id, known.id, teller)
        case "open":
            return actions.confirm(connection, user_id, known.id, teller)
    return task
