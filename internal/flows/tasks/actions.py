"""The owner's actions on tasks; they withdraw notifications about a task that were not sent yet."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from internal.dialogue.model import Message
from internal.errors import NotFound, Refused
from internal.flows.sessions.lifecycle import withdraw_about
from internal.flows.visibility.messages import statements
from internal.people import service as people
from internal.tasks import service
from internal.tasks.model import Schedule, Task, TaskState
from internal.tasks.service import TaskAuthor


def confirm(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> Task:
    """Confirms a proposed task. Raises NotFound, and Conflict for a closed one."""
    withdraw_about(connection, user_id, task_id, "confirmed", author.now)
    return service.confirm(connection, user_id, task_id, author)


def mark_done(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> Task:
    """Marks a task as done; for a recurring one, only this occurrence. Raises NotFound."""
    withdraw_about(connection, user_id, task_id, "done", author.now)
    return service.mark_done(connection, user_id, task_id, author)


def cancel(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> Task:
    """Cancels a task. Raises NotFound."""
    withdraw_about(connection, user_id, task_id, "cancelled", author.now)
    return service.cancel(connection, user_id, task_id, author)


def postpone(connection: Connection, user_id: int, task_id: str, moment: datetime, author: TaskAuthor) -> Task:
    """Postpones a reminder until `moment`. Raises NotFound, Conflict, Refused("past")."""
    withdraw_about(connection, user_id, task_id, "postponed", author.now)
    return service.postpone(connection, user_id, task_id, moment, author)


def reschedule(connection: Connection, user_id: int, task_id: str, schedule: Schedule, author: TaskAuthor) -> Task:
    """Gives a task another time, which confirms a proposed one.

    Raises NotFound, Refused("recurrence"), and Refused("past") if it would never be sent again.
    """
    withdraw_about(connection, user_id, task_id, "moved", author.now)
    moved = service.change(connection, user_id, task_id, author, schedule=schedule)
    if moved.state is TaskState.PROPOSED:
        moved = service.confirm(connection, user_id, task_id, author)
    if moved.state is TaskState.OPEN and moved.due_at is not None and moved.next_at is None:
        raise Refused("past", "that moment is over")
    return moved


def drop(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> None:
    """Deletes a task for good. Raises NotFound."""
    service.task(connection, user_id, task_id)
    withdraw_about(connection, user_id, task_id, "deleted", author.now)
    service.drop(connection, user_id, [task_id], author.now)


class TaskContext(NamedTuple):
    """The name of the person a task is about, and the message that states the task, if it may be shown."""

    person: str | None
    said: Message | None


def context_of(connection: Connection, task: Task) -> TaskContext:
    said = statements(connection, task.user_id, [task.message_id]).get(task.message_id or "")
    return TaskContext(person_name(connection, task), said)


def person_name(connection: Connection, task: Task) -> str | None:
    """The name of the person a task is about, or None."""
    if task.person_id is None:
        return None
    try:
        return people.person(connection, task.user_id, task.person_id).display_name
    except NotFound:
        return None
