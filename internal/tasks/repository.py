"""Tasks in the database, and the times at which their notifications were generated."""

from collections.abc import Collection, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, or_, select, update

from internal.errors import Conflict
from internal.storage.change_log import record_change
from internal.storage.engine.upsert import upsert
from internal.storage.forgetting import hidings
from internal.storage.owner_counters import next_rev
from internal.storage.rows import owner_lookup, read_one, reader
from internal.storage.tables import forgettings, people, task_firings, tasks
from internal.tasks.model import Task, TaskKind, TaskOrigin, TaskState

_PENDING: Final = (TaskState.PROPOSED.value, TaskState.OPEN.value)
_COLUMNS: Final = [field.name for field in fields(Task)]

# A task with a pending forgetting is hidden, though it can still be restored.
_ASKED: Final = and_(forgettings.c.user_id == tasks.c.user_id, forgettings.c.state == "pending")
_MERGED_INTO: Final = select(people.c.merged_into).where(
    people.c.user_id == tasks.c.user_id, people.c.id == tasks.c.person_id, people.c.merged_into.is_not(None)
)
_LEAVING: Final = or_(
    and_(forgettings.c.kind == "episode", forgettings.c.ref_id == tasks.c.episode_id),
    and_(forgettings.c.kind == "person", forgettings.c.person_id == tasks.c.person_id),
    and_(forgettings.c.kind == "person", forgettings.c.person_id.in_(_MERGED_INTO)),
    and_(forgettings.c.kind == "everything", forgettings.c.created_at >= tasks.c.created_at),
)
_IN_SIGHT: Final = and_(
    ~select(forgettings.c.id).where(_ASKED, _LEAVING).exists(),
    ~hidings.hidden(tasks.c.message_id),
    ~hidings.hidden(tasks.c.episode_id),
)
_BY_TIME: Final = (
    func.coalesce(tasks.c.next_at, tasks.c.due_at).is_(None),
    func.coalesce(tasks.c.next_at, tasks.c.due_at),
    tasks.c.created_at,
    tasks.c.id,
)
# Run at every question and built once: building a statement takes several times as long as running it.
_WAITING: Final = (
    select(tasks)
    .where(tasks.c.user_id == bindparam("owner"), tasks.c.state.in_(_PENDING), _IN_SIGHT)
    .order_by(*_BY_TIME)
)


def add(connection: Connection, task: Task) -> Task:
    """Stores a new task and returns it with its `rev`."""
    added = {name: getattr(task, name) for name in _COLUMNS} | {"rev": next_rev(connection, task.user_id)}
    connection.execute(insert(tasks).values(added))
    record_change(connection, task.user_id, "task", task.id)
    return Task(**added)


def get(connection: Connection, user_id: int, task_id: str) -> Task | None:
    """A task of this owner in any state; None if there is none, or it is about to be forgotten."""
    return read_one(connection.execute(select(tasks).where(*_one(user_id, task_id), _IN_SIGHT)), _task)


def opened_by(connection: Connection, user_id: int, event_ids: Collection[str]) -> Task | None:
    """The task that one of these events opened, unchanged since."""
    opened = (tasks.c.user_id == user_id, tasks.c.event_id.in_(event_ids), tasks.c.created_at == tasks.c.updated_at)
    row = connection.execute(select(tasks).where(*opened, _IN_SIGHT)).first()
    return None if row is None else _task(row)


owner_of = owner_lookup(tasks)


def change(connection: Connection, task: Task, now: datetime, **values: Any) -> Task:
    """Sets columns of a task that has not changed since it was read. Returns the changed task.

    Raises Conflict if it changed, or is gone.
    """
    columns = values | {"updated_at": now, "rev": next_rev(connection, task.user_id)}
    unchanged = tasks.c.rev == task.rev
    query = update(tasks).where(*_one(task.user_id, task.id), unchanged).values(columns).returning(tasks)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise Conflict(f"the task {task.id} changed meanwhile")
    record_change(connection, task.user_id, "task", task.id)
    return _task(row)


def due(connection: Connection, now: datetime, limit: int) -> list[Task]:
    """Open tasks of all owners whose reminder is due, the longest waiting first."""
    return _due(connection, now, limit, tasks.c.kind != TaskKind.CONTACT.value)


def due_contacts(connection: Connection, now: datetime, limit: int) -> list[Task]:
    """The rhythms of all owners by which it is time to be in touch with somebody, the longest waiting first."""
    return _due(connection, now, limit, tasks.c.kind == TaskKind.CONTACT.value)


def _due(connection: Connection, now: datetime, limit: int, kind: ColumnElement[bool]) -> list[Task]:
    query = select(tasks).where(tasks.c.next_at <= now, tasks.c.state == TaskState.OPEN.value, kind, _IN_SIGHT)
    return [_task(row) for row in connection.execute(query.order_by(tasks.c.next_at, tasks.c.id).limit(limit))]


def fired(
    connection: Connection, task: Task, notification_id: str, next_at: datetime | None, now: datetime
) -> Task | None:
    """Records the notification at a task's `next_at` and the next one; None if it was recorded before.

    There is one row for each moment: a second run records nothing.
    """
    moment = task.next_at
    if moment is None:
        return None
    row = {"user_id": task.user_id, "task_id": task.id, "due_at": moment, "fired_at": now}
    noted = upsert(task_firings).values(row | {"notification_id": notification_id}).on_conflict_do_nothing()
    fresh = connection.execute(noted).rowcount == 1
    changed = change(connection, task, now, next_at=next_at)
    return changed if fresh else None


def pending(connection: Connection, user_id: int) -> list[Task]:
    """Open and proposed tasks by time, those without a time last in the order of storing."""
    return [_task(row) for row in connection.execute(_WAITING, {"owner": user_id})]


def listing(
    connection: Connection, user_id: int, *, states: Collection[TaskState] = (), limit: int = 100, offset: int = 0
) -> list[Task]:
    """Tasks in these states (none named = all) by time, those without a time last."""
    query = select(tasks).where(*_of(user_id, states)).order_by(*_BY_TIME)
    return [_task(row) for row in connection.execute(query.limit(limit).offset(offset))]


def count(connection: Connection, user_id: int, states: Collection[TaskState] = ()) -> int:
    """The number of tasks in these states (none named = all)."""
    return connection.execute(select(func.count()).select_from(tasks).where(*_of(user_id, states))).scalar_one()


def of_lines(connection: Connection, user_id: int, message_ids: Sequence[str]) -> list[Task]:
    """Every task in any state that was opened for one of these messages."""
    query = select(tasks).where(tasks.c.user_id == user_id, tasks.c.message_id.in_(list(message_ids)))
    return [_task(row) for row in connection.execute(query.order_by(tasks.c.created_at, tasks.c.id))]


def of_texts(connection: Connection, user_id: int, episode_id: str) -> list[Task]:
    """Every task that was found in an episode's own texts, not in a message."""
    ours = (tasks.c.user_id == user_id) & (tasks.c.episode_id == episode_id) & tasks.c.message_id.is_(None)
    return [_task(row) for row in connection.execute(select(tasks).where(ours))]


def drop(connection: Connection, user_id: int, task_ids: Collection[str]) -> int:
    """Deletes tasks for good, with the records of their notifications. Returns how many."""
    gone = 0
    for task_id in task_ids:
        gone += connection.execute(delete(tasks).where(*_one(user_id, task_id))).rowcount
        theirs = (task_firings.c.user_id == user_id) & (task_firings.c.task_id == task_id)
        connection.execute(delete(task_firings).where(theirs))
        record_change(connection, user_id, "task", task_id, "delete")
    return gone


def of_people(connection: Connection, user_id: int, person_ids: Collection[int]) -> list[Task]:
    """Every task in any state that is about one of these people."""
    query = select(tasks).where(tasks.c.user_id == user_id, tasks.c.person_id.in_(list(person_ids)))
    return [_task(row) for row in connection.execute(query)]


def about_nobody(connection: Connection, user_id: int) -> list[Task]:
    """Every task in any state that is about no person."""
    query = select(tasks).where(tasks.c.user_id == user_id, tasks.c.person_id.is_(None))
    return [_task(row) for row in connection.execute(query)]


def _one(user_id: int, task_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return tasks.c.user_id == user_id, tasks.c.id == task_id


def _of(user_id: int, states: Collection[TaskState]) -> list[ColumnElement[bool]]:
    wanted = [tasks.c.user_id == user_id, _IN_SIGHT]
    return [*wanted, tasks.c.state.in_([state.value for state in states])] if states else wanted


_task = reader(Task, kind=TaskKind, state=TaskState, origin=TaskOrigin)
