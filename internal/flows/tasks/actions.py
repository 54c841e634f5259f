"""What an owner does with a task; what still waits to be told about it is withdrawn in the same transaction."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from internal.errors import NotFound, Refused
from internal.flows.sessions.withdraw import withdraw_about
from internal.people import service as people
from internal.tasks import service
from internal.tasks.model import Schedule, Task, TaskState
from internal.tasks.service import TaskAuthor


def confirm(connection: Connection, user_id: int, task_id: str, teller: TaskAuthor) -> Task:
    """His yes to a proposed task. Raises NotFound, and Conflict for a closed one."""
    withdraw_about(connection, user_id, task_id, "confirmed", teller.now)
    return service.confirm(connection, user_id, task_id, teller)


def done(connection: Connection, user_id: int, task_id: str, teller: TaskAuthor) -> Task:
    """It is done; of a recurring one this time. Raises NotFound."""
    withdraw_about(connection, user_id, task_id, "done", teller.now)
    return service.done(connection, user_id, task_id, teller)


def cancel(connection: Connection, user_id: int, task_id: str, teller: TaskAuthor) -> Task:
    """It need not be done. Raises NotFound."""
    withdraw_about(connection, user_id, task_id, "cancelled", teller.now)
    return service.cancel(connection, user_id, task_id, teller)


def postpone(connection: Connection, user_id: int, task_id: str, moment: datetime, teller: TaskAuthor) -> Task:
    """It is told of at `moment` and not before. Raises NotFound, Conflict, Refused("past")."""
    withdraw_about(connection, user_id, task_id, "postponed", teller.now)
    return service.postpone(connection, user_id, task_id, moment, teller)


def move(connection: Connection, user_id: int, task_id: str, schedule: Schedule, teller: TaskAuthor) -> Task:
    """It is due at another time; a proposed one is meant then.

    Raises NotFound, Refused("recurrence"), and Refused("past") where it would never be told of again.
    """
    withdraw_about(connection, user_id, task_id, "moved", teller.now)
    moved = service.change(connection, user_id, task_id, teller, schedule=schedule)
    if moved.state is TaskState.PROPOSED:
        moved = service.confirm(connection, user_id, task_id, teller)
    if moved.state is TaskState.OPEN and moved.due_at is not None and moved.next_at is None:
        raise Refused("past", "that moment is over")
    return moved


def drop(connection: Connection, user_id: int, task_id: str, teller: TaskAuthor) -> None:
    """Deletes it for good. Raises NotFound."""
    service.task(connection, user_id, task_id)
    withdraw_about(connection, user_id, task_id, "deleted", teller.now)
    service.drop(connection, user_id, [task_id], teller.now)


def person_name(connection: Connection, task: Task) -> str | None:
    """The name of whom a task is about, if somebody is known."""
    if task.person_id is None:
        return None
    try:
        return people.person(connection, task.user_id, task.person_id).display_name
    except NotFound:
        return None
