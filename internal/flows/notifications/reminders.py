"""Fires due tasks: for each moment of a task it makes one notification and sets the next moment, at once (C13)."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User, UserState
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification, NotificationKind
from internal.errors import StorageError
from internal.flows.sessions.lifecycle import withdraw_about
from internal.flows.visibility.messages import statements
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskKind, TaskOrigin, next_firing, time_of_day
from internal.tasks.service import postponed_by_owner

log = logging.getLogger(__name__)

BATCH: Final = 200
"""The most tasks checked in one tick; the rest are due at the next."""

PUNCTUAL: Final = timedelta(minutes=30)
"""The longest delay with which a reminder at a time set by the owner is sent in quiet hours."""

Buttons = Callable[[User, Task], list[list[dict[str, str]]]]
"""The buttons of a reminder, in Bot API form."""


def no_buttons(user: User, task: Task) -> list[list[dict[str, str]]]:
    return []


class ReminderScheduler:
    """Fires tasks. Level-triggered: what is due is a query, and each moment of a task has one row, so it fires once.

    After a standstill a recurring task fires once, not for every moment that was missed.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        whole_day_at: str,
        buttons: Buttons = no_buttons,
        together: Buttons = no_buttons,
    ) -> None:
        """`together` makes the buttons of each task in a message about several."""
        self._database, self._clock = database, clock
        self._whole_day_at, self._buttons = time_of_day(whole_day_at), buttons
        self._together = together

    async def fire_due(self) -> int:
        """Fires up to BATCH tasks whose moment has come. Returns how many moments were handled."""
        now = self._clock.now()
        due = await self._database.read(lambda c: tasks.due(c, now, BATCH))
        fired = 0
        for owner in dict.fromkeys(task.user_id for task in due):
            ids = [task.id for task in due if task.user_id == owner]
            fired += await self._fire_of(owner, ids, now)
        return fired

    async def _fire_of(self, owner: int, task_ids: list[str], now: datetime) -> int:
        try:
            with acting_for(owner):
                fired = await self._database.write(lambda c: self._fire(c, owner, task_ids, now), point="C13")
        except StorageError:
            raise
        except Exception:  # outermost handler of one owner: the others' tasks are due all the same
            log.exception("tasks_not_fired", extra={"user_id": owner})
            return 0
        for task, sent in fired:
            if sent:
                log.info("task_fired", extra={"user_id": owner, "task": task.id})
        return len(fired)

    def _fire(
        self, connection: Connection, user_id: int, task_ids: list[str], now: datetime
    ) -> list[tuple[Task, bool]]:
        """The tasks that were due, and whether each is sent. A due task may have been done or postponed meanwhile."""
        user = users.get(connection, user_id)
        there = (tasks.get(connection, user_id, task_id) for task_id in task_ids)
        due = [task for task in there if task is not None and task.next_at is not None and task.next_at <= now]
        return [(task, self._fire_one(connection, user, task, now)) for task in due]

    def _fire_one(self, connection: Connection, user: User, task: Task, now: datetime) -> bool:
        """Fires a task. Returns False if the database from which this one was copied has sent this moment."""
        moment = task.next_at
        assert moment is not None
        following = next_firing(task.schedule, self._whole_day_at, now)
        withdraw_about(connection, user.user_id, task.id, "told_again", now)
        notification_id = self._generate(connection, user, task, moment, now)
        if notification_id is None:
            tasks.change(connection, task, now, next_at=following)
            return False
        tasks.fired(connection, task, notification_id, following, now)
        return True

    def _generate(self, connection: Connection, user: User, task: Task, moment: datetime, now: datetime) -> str | None:
        payload: dict[str, Any] = {
            "task": task.id,
            "due_at": moment.isoformat(),
            "whole_day": task.whole_day,
            "message": task.message_id,
            "episode": task.episode_id,
        }
        overheard = task.origin is TaskOrigin.FRAGMENT or task.kind in (TaskKind.PROMISE, TaskKind.WAITING)
        found = statements(connection, user.user_id, [task.message_id]).values() if overheard else ()
        for said in found:
            if said.forward is None:
                payload["said"] = [said.timestamp.isoformat(), said.content]
        if keyboard := self._buttons(user, task):
            payload["buttons"] = keyboard
        if rows := self._together(user, task):
            payload["together"] = rows
        return notifications.generate(
            connection,
            user.user_id,
            NotificationKind.REMINDER,
            task.title,
            now=now,
            dedupe=f"task:{task.id}:{moment.isoformat()}",
            ref_id=task.id,
            payload=payload,
            urgent=now - moment < PUNCTUAL and (not task.whole_day or self._chosen_by_owner(connection, task, moment)),
            links={"task": task.id, **({"caused_by": task.event_id} if task.event_id else {})},
        )

    def _chosen_by_owner(self, connection: Connection, task: Task, moment: datetime) -> bool:
        """Whether the owner chose this moment of a whole-day task himself, such as "in an hour"."""
        at = moment.astimezone(ZoneInfo(task.tz)).time()
        return at != self._whole_day_at and postponed_by_owner(connection, task)


def rings(one: Notification, now: datetime) -> bool:
    """Whether it is sent in quiet hours too: it is urgent, and its moment has just come."""
    return one.urgent and (one.due_at is None or now - one.due_at < PUNCTUAL)


def reachable(user: User) -> bool:
    """Whether messages may be sent to a user now; otherwise they wait until he is back."""
    return user.state is UserState.ACTIVE
