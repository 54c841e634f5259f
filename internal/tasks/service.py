"""Changes tasks in the caller's transaction. Every change writes its event and `pending_tasks`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time
from types import MappingProxyType
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.errors import Conflict, Refused, expect_found
from internal.events import agent_state_repository as agent_state, link_repository, repository as events
from internal.language.tasks.contacts import wants_contact
from internal.storage.types import new_id
from internal.tasks import repository
from internal.tasks.model import (
    MAX_DETAILS,
    MAX_TITLE,
    MOST_OPEN,
    Schedule,
    Task,
    TaskKind,
    TaskOrigin,
    TaskState,
    after_contact,
    first_firing,
    hourly,
    next_firing,
    recurrence_of,
    refuse_far,
    summary,
)
from internal.tasks.zones import columns_in_zone

AGENT: Final = "task_manager"
PENDING: Final = "pending_tasks"
"""Key of the agent's state: a JSON array of open and proposed tasks with id, title, due_at, recurrence and state."""
POSTPONED: Final = "task_postponed"
"""The event of a task whose owner chose another moment for its notification."""


def postponed_by_owner(connection: Connection, postponed: Task) -> bool:
    """Whether the owner himself chose this moment ("tomorrow", "in an hour")."""
    last = events.get(connection, postponed.user_id, postponed.event_id or "")
    return last is not None and last.event_type == POSTPONED


CHANGED: Final = "task_changed"
"""The event of changed words or time; `fields` names the changed fields, all of the time as `due_at`."""
_OF_TIME: Final = frozenset({"due_at", "whole_day", "tz", "next_at"})
BEFORE: Final = "before"
"""The key in the event of another time that holds the time before it."""
BACK: Final = "back"
"""The key in the event of a time that was put back."""


@dataclass(frozen=True, slots=True)
class NewTask:
    """The values of a task to be opened. `proposed`: it waits for its owner's yes."""

    title: str
    schedule: Schedule
    kind: TaskKind = TaskKind.TASK
    origin: TaskOrigin = TaskOrigin.COMMAND
    proposed: bool = False
    details: str | None = None
    person_id: int | None = None
    for_user: int | None = None
    episode_id: str | None = None
    message_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class TaskAuthor:
    """The author of a change, for the event: `source` is `user:<id>` or `agent:TaskManager`."""

    source: str
    now: datetime
    whole_day_at: time
    links: Mapping[str, Any]


def by_owner(user_id: int, now: datetime, whole_day_at: time) -> TaskAuthor:
    return TaskAuthor(f"user:{user_id}", now, whole_day_at, {})


def task(connection: Connection, user_id: int, task_id: str) -> Task:
    """The task with this id. Raises NotFound."""
    return expect_found(repository.get(connection, user_id, task_id), f"there is no task {task_id}")


def open_task(connection: Connection, user_id: int, new: NewTask, author: TaskAuthor) -> Task:
    """Opens or proposes a task.

    Raises Refused("no_title" | "too_long" | "recurrence"), and Refused("too_many") if MOST_OPEN are open.
    """
    now, schedule = author.now, _check_schedule(new.schedule)
    if len(repository.pending(connection, user_id)) >= MOST_OPEN:
        raise Refused("too_many", f"there are {MOST_OPEN} open tasks already")
    state = TaskState.PROPOSED if new.proposed else TaskState.OPEN
    task_id = new_id()
    contact = _is_contact(new, schedule)
    kind = TaskKind.CONTACT if contact else new.kind
    event_id = _record(connection, user_id, task_id, f"task_{state.value}", author, {"kind": kind.value})
    opened = Task(
        user_id=user_id,
        id=task_id,
        kind=kind,
        state=state,
        title=_title(new.title),
        details=_details(new.details),
        person_id=new.person_id,
        for_user=new.for_user,
        due_at=schedule.due_at,
        whole_day=schedule.whole_day,
        recurrence=schedule.recurrence,
        tz=schedule.tz,
        next_at=None if new.proposed else first_firing(schedule, author.whole_day_at, now),
        origin=new.origin,
        episode_id=new.episode_id,
        message_id=new.message_id,
        run_id=new.run_id,
        event_id=event_id,
        created_at=now,
        updated_at=now,
        rev=0,
    )
    if contact and opened.next_at is not None:
        opened = replace(opened, next_at=after_contact(opened, now))
    opened = repository.add(connection, opened)
    publish(connection, user_id, now)
    return opened


def confirm(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> Task:
    """Confirms a proposed task; an open one stays unchanged. Raises NotFound, Conflict for a closed one."""
    found = task(connection, user_id, task_id)
    if found.state is TaskState.OPEN:
        return found
    if found.state.closed:
        raise Conflict("that task is closed")
    next_at = _first(found, author)
    return _changed(connection, found, "task_open", author, state=TaskState.OPEN.value, next_at=next_at)


def mark_done(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> Task:
    """Marks a task done; a recurring one for this time, and it continues after today. Raises NotFound."""
    found = task(connection, user_id, task_id)
    if found.state.closed:
        return found
    if found.recurrence is not None and found.state is TaskState.OPEN:
        contact = found.kind is TaskKind.CONTACT
        following = after_contact(found, author.now) if contact else _after_this_time(found, author)
        if following is not None:
            return _changed(connection, found, "task_done_once", author, next_at=following)
    return _closed(connection, found, TaskState.DONE, author)


def cancel(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> Task:
    """Cancels a task, a recurring one for ever. Raises NotFound."""
    found = task(connection, user_id, task_id)
    return found if found.state.closed else _closed(connection, found, TaskState.CANCELLED, author)


def reopen(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> Task:
    """Reopens a task closed by mistake. Raises NotFound."""
    found = task(connection, user_id, task_id)
    if not found.state.closed:
        return found
    next_at = _first(found, author)
    return _changed(connection, found, "task_open", author, state=TaskState.OPEN.value, next_at=next_at, closed_at=None)


def postpone(connection: Connection, user_id: int, task_id: str, moment: datetime, author: TaskAuthor) -> Task:
    """Moves the notification to `moment`; a proposed task is opened, one without a date becomes due then.

    Raises NotFound, Conflict for a closed one, and Refused("past").
    """
    found = task(connection, user_id, task_id)
    if found.state.closed:
        raise Conflict("that task is closed")
    refuse_far(moment)
    if moment <= author.now:
        raise Refused("past", "that moment is over")
    values: dict[str, Any] = {"state": TaskState.OPEN.value, "next_at": moment}
    if found.due_at is None:
        values |= {"due_at": moment, "whole_day": False}
    return _changed(connection, found, POSTPONED, author, **values)


def change(
    connection: Connection,
    user_id: int,
    task_id: str,
    author: TaskAuthor,
    *,
    schedule: Schedule | None = None,
    **values: Any,
) -> Task:
    """Sets title, details, kind, person_id, for_user, and with `schedule` when it is due. Raises NotFound, Refused."""
    found = task(connection, user_id, task_id)
    if "title" in values:
        values["title"] = _title(values["title"])
    if "details" in values:
        values["details"] = _details(values["details"])
    if schedule is not None:
        schedule = _check_schedule(schedule)
        waits = found.state is not TaskState.OPEN
        values |= {
            "due_at": schedule.due_at,
            "whole_day": schedule.whole_day,
            "recurrence": schedule.recurrence,
            "tz": schedule.tz,
            "next_at": None if waits else first_firing(schedule, author.whole_day_at, author.now),
        }
    others = {name for name, value in values.items() if getattr(found, name) != value}
    if not others:
        return found
    fields = {"due_at" if name in _OF_TIME else name for name in others}
    return _changed(connection, found, CHANGED, author, {"fields": sorted(fields)}, **values)


def move_back(connection: Connection, user_id: int, task_id: str, author: TaskAuthor) -> Task:
    """Restores a task's time before the last change. Raises NotFound, Conflict if that changed no time."""
    found = task(connection, user_id, task_id)
    last = events.get(connection, user_id, found.event_id or "")
    before = last.payload.get(BEFORE) if last is not None else None
    if before is None or found.state.closed:
        raise Conflict("the task was not moved")
    moments = {name: datetime.fromisoformat(before[name]) if before[name] else None for name in _MOMENTS}
    return _changed(connection, found, CHANGED, author, {"fields": ["due_at"], BACK: True}, **{**before, **moments})


def time_settled_at(connection: Connection, found: Task) -> datetime:
    """The moment at which the owner last set the time: at opening, or later by a button, a word or a page."""
    change_ids = link_repository.linking_to(connection, found.user_id, "task", [found.id], [POSTPONED, CHANGED])
    own = [one for one in events.by_ids(connection, found.user_id, change_ids) if one.source == f"user:{found.user_id}"]
    of_time = [one for one in own if one.event_type == POSTPONED or "due_at" in one.payload.get("fields", ())]
    return max([found.created_at, *(one.timestamp for one in of_time)])


def move_zone(connection: Connection, user_id: int, zone: str, author: TaskAuthor) -> int:
    """Moves days, and hours of recurring tasks, to the clock of `zone` (an IANA name). Returns how many tasks.

    This concerns only open and proposed tasks; a fixed moment stays the same.
    """
    count = 0
    for found in repository.pending(connection, user_id):
        if values := columns_in_zone(found, zone, author.whole_day_at):
            event_id = _record(connection, user_id, found.id, CHANGED, author, {}, found.event_id)
            repository.change(connection, found, author.now, **values, event_id=event_id)
            count += 1
    if count:
        publish(connection, user_id, author.now)
    return count


def drop(connection: Connection, user_id: int, task_ids: Collection[str], now: datetime) -> int:
    """Deletes tasks for good, because their source is gone or changed. Returns how many."""
    gone = repository.drop(connection, user_id, task_ids)
    publish(connection, user_id, now)
    return gone


def publish(connection: Connection, user_id: int, now: datetime) -> None:
    """Writes the open and proposed tasks into the agent's state."""
    listed = [dict(summary(one)) for one in repository.pending(connection, user_id)]
    mine = agent_state.agent_id(AGENT, user_id)
    if not listed and agent_state.get(connection, mine, PENDING) is None:
        agent_state.delete_value(connection, mine, PENDING)
        return  # without an owner there is no list
    agent_state.save_state(connection, mine, PENDING, listed, user_id=user_id, now=now)


def _first(found: Task, author: TaskAuthor) -> datetime | None:
    """The first notification of a task that is opened now."""
    if found.kind is TaskKind.CONTACT and found.recurrence is not None:
        return after_contact(found, author.now)
    return first_firing(found.schedule, author.whole_day_at, author.now)


def _after_this_time(found: Task, author: TaskAuthor) -> datetime | None:
    """The next notification of a recurring task that is done for now: the rest of today is skipped."""
    due = found.next_at
    if due is None:
        return None
    zone = ZoneInfo(found.tz)
    again_today = not hourly(found.recurrence or "") and (
        due.astimezone(zone).date() == author.now.astimezone(zone).date()
    )
    return next_firing(found.schedule, author.whole_day_at, due) if again_today or due <= author.now else due


def _closed(connection: Connection, found: Task, state: TaskState, author: TaskAuthor) -> Task:
    changes: dict[str, Any] = {"state": state.value, "next_at": None, "closed_at": author.now}
    return _changed(connection, found, f"task_{state.value}", author, **changes)


def _changed(
    connection: Connection,
    found: Task,
    event: str,
    author: TaskAuthor,
    payload: Mapping[str, Any] = MappingProxyType({}),
    **values: Any,
) -> Task:
    if not found.state.closed and any(getattr(found, name) != values.get(name, getattr(found, name)) for name in _TIME):
        payload = {**payload, BEFORE: _time_of(found)} if event in (CHANGED, POSTPONED) else payload
    event_id = _record(connection, found.user_id, found.id, event, author, payload, found.event_id)
    changed = repository.change(connection, found, author.now, **values, event_id=event_id)
    publish(connection, found.user_id, author.now)
    return changed


_MOMENTS: Final = ("due_at", "next_at")
_TIME: Final = (*_MOMENTS, "whole_day", "recurrence", "tz")


def _time_of(found: Task) -> dict[str, Any]:
    """The time at which a task is due, as JSON."""
    values = {name: getattr(found, name) for name in _TIME}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def _record(
    connection: Connection,
    user_id: int,
    task_id: str,
    event: str,
    author: TaskAuthor,
    payload: Mapping[str, Any],
    before: str | None = None,
) -> str:
    """Records the event of a change, caused by the one before it, with ids and no words."""
    caused = {} if before is None or "caused_by" in author.links else {"caused_by": before}
    return events.append(
        connection,
        event,
        source=author.source,
        now=author.now,
        user_id=user_id,
        payload={"task": task_id, **payload},
        links={"task": task_id, **caused, **author.links},
    )


def _is_contact(new: NewTask, schedule: Schedule) -> bool:
    """Whether it is a rhythm: a title about contact, every few days, without a weekday or hour."""
    rule = schedule.recurrence or ""
    if new.kind is TaskKind.CONTACT:
        return bool(rule)
    return (
        rule.startswith(("FREQ=WEEKLY", "FREQ=MONTHLY", "FREQ=DAILY;INTERVAL"))
        and "BYDAY" not in rule
        and schedule.whole_day
        and wants_contact(new.title)
    )


def _check_schedule(schedule: Schedule) -> Schedule:
    refuse_far(schedule.due_at)
    if schedule.recurrence is None:
        return schedule
    if schedule.due_at is None:
        raise Refused("recurrence", "what comes again needs a first time")
    return replace(schedule, recurrence=recurrence_of(schedule.recurrence, schedule.due_at, schedule.tz))


def _title(text: str) -> str:
    title = " ".join(text.split())
    if not any(map(str.isalnum, title)):
        raise Refused("no_title", "a task needs words")
    if len(title) > MAX_TITLE:
        raise Refused("too_long", f"at most {MAX_TITLE} characters are expected")
    return title


def _details(text: str | None) -> str | None:
    words = " ".join((text or "").split())
    if len(words) > MAX_DETAILS:
        raise Refused("too_long", f"at most {MAX_DETAILS} characters are expected")
    return words or None
