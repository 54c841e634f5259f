"""Tasks as they are stored: by time, each firing once, nobody else's, out of sight while they are being forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

import pytest
from sqlalchemy import Connection, insert
from support.stores.stored_values import agent_value, firings
from support.stores.stores import memory_store

from internal.errors import Conflict, NotFound, Refused
from internal.events import agent_state_repository as agent_state
from internal.storage.forgetting import forgettings, hidings
from internal.storage.tables import users
from internal.tasks import repository, service
from internal.tasks.model import Schedule, Task, TaskState, next_firing
from internal.tasks.service import NewTask, TaskAuthor

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
NINE = time(9)
TELLER = TaskAuthor("user:1", NOON, NINE, {})


@pytest.fixture
def connection() -> Iterator[Connection]:
    with memory_store() as opened:
        for user_id in (OWNER, STRANGER):
            row = {"user_id": user_id, "role": "member", "state": "active", "name": "Оля", "lang": "uk", "tz": "UTC"}
            opened.execute(insert(users).values(**row, settings={}, created_at=NOON))
        yield opened


def opened(connection: Connection, title: str, hours: float | None = None, **more: object) -> Task:
    due = None if hours is None else NOON + timedelta(hours=hours)
    fields = {"title": title, "schedule": Schedule(due, False, None, "UTC")} | more
    return service.open_task(connection, OWNER, NewTask(**fields), TELLER)  # type: ignore[arg-type]


def test_what_is_due_is_due_until_it_is_fired_and_is_fired_once(connection: Connection) -> None:
    """A second firing of the same moment is noted as none."""
    opened(connection, "Later", 5)
    task = opened(connection, "Soon", 1)
    opened(connection, "Not confirmed", 1, proposed=True)
    then = NOON + timedelta(hours=2)
    assert repository.due(connection, NOON, 10) == []
    (due,) = repository.due(connection, then, 10)
    assert due == task
    assert repository.fired(connection, due, "n1", None, then) is not None
    assert repository.due(connection, then, 10) == []
    again = repository.change(connection, repository.get(connection, OWNER, task.id) or task, then, next_at=due.next_at)
    assert repository.fired(connection, again, "n2", None, then) is None
    assert [one[2] for one in firings(connection, OWNER, task.id)] == ["n1"]


def test_a_recurring_task_goes_on_after_each_firing(connection: Connection) -> None:
    """Done today, it is told of tomorrow; cancelled, never again."""
    daily = Schedule(NOON + timedelta(hours=1), False, "FREQ=DAILY", "UTC")
    task = opened(connection, "Water the plants", schedule=daily)
    assert service.mark_done(connection, OWNER, task.id, TELLER).next_at == NOON + timedelta(days=1, hours=1)
    then = NOON + timedelta(days=1, hours=2)
    (due,) = repository.due(connection, then, 10)
    fired = repository.fired(connection, due, "n1", next_firing(due.schedule, NINE, then), then)
    assert fired is not None
    assert fired.next_at == NOON + timedelta(days=2, hours=1)
    ended = service.cancel(connection, OWNER, task.id, TELLER)
    assert (ended.state, ended.next_at) == (TaskState.CANCELLED, None)


def test_a_task_that_changed_meanwhile_is_not_overwritten(connection: Connection) -> None:
    """Whoever read an older one is told so."""
    task = opened(connection, "Call", 1)
    repository.change(connection, task, NOON, title="Call Maria")
    with pytest.raises(Conflict):
        repository.change(connection, task, NOON, title="Call Peter")


def test_nobody_sees_or_changes_another_owners_task(connection: Connection) -> None:
    """By no call of either module."""
    task = opened(connection, "Secret", 1)
    assert repository.listing(connection, STRANGER) == []
    assert repository.count(connection, STRANGER) == 0
    assert repository.drop(connection, STRANGER, [task.id]) == 0
    for change in (service.mark_done, service.cancel, service.confirm, service.reopen):
        with pytest.raises(NotFound):
            change(connection, STRANGER, task.id, TELLER)
    assert repository.get(connection, OWNER, task.id) == task


def test_what_is_being_forgotten_is_neither_listed_nor_told(connection: Connection) -> None:
    """A person's tasks too, until the request is undone."""
    opened(connection, "Call Maria", 1, person_id=7)
    opened(connection, "Buy milk", 1, message_id="m1")
    then = NOON + timedelta(hours=2)
    for kind, ref in (("person", "7"), ("message", "m1")):
        asked = forgettings.ask(connection, OWNER, kind, ref, now=NOON, due_at=then)  # type: ignore[arg-type]
        hidings.hide(connection, OWNER, asked.id, "message", [ref])
        assert len(repository.due(connection, then, 10)) == 1
        assert len(repository.pending(connection, OWNER)) == 1
        forgettings.close(connection, asked, "undone")
        hidings.end_hiding(connection, OWNER, asked.id)
    assert len(repository.due(connection, then, 10)) == 2


def test_pending_tasks_are_what_is_open_or_proposed(connection: Connection) -> None:
    """As the specification has them, in the agent's state, after every change."""
    mine = agent_state.agent_id("task_manager", OWNER)

    def listed() -> list[str]:
        return [one["title"] for one in agent_value(connection, mine, "pending_tasks") or []]

    task = opened(connection, "Call", 1)
    opened(connection, "Maybe", proposed=True)
    assert listed() == ["Call", "Maybe"]
    (first, _) = agent_value(connection, mine, "pending_tasks") or []
    assert set(first) == {"id", "title", "due_at", "recurrence", "state"}
    service.mark_done(connection, OWNER, task.id, TELLER)
    assert listed() == ["Maybe"]
    service.reopen(connection, OWNER, task.id, TELLER)
    assert listed() == ["Call", "Maybe"]


def test_putting_off_opens_what_is_proposed_and_gives_a_date_to_what_has_none(connection: Connection) -> None:
    """Not into the past, and not what is closed."""
    task = opened(connection, "Maybe", proposed=True)
    later = NOON + timedelta(hours=1)
    put_off = service.postpone(connection, OWNER, task.id, later, TELLER)
    assert (put_off.state, put_off.next_at, put_off.due_at) == (TaskState.OPEN, later, later)
    with pytest.raises(Refused):
        service.postpone(connection, OWNER, task.id, NOON, TELLER)
    service.cancel(connection, OWNER, task.id, TELLER)
    with pytest.raises(Conflict):
        service.postpone(connection, OWNER, task.id, later, TELLER)


def test_days_and_hours_that_come_again_follow_the_owners_clock(connection: Connection) -> None:
    """A moment stays one, and so does what its owner put off and what was told already."""
    at = {
        "day": Schedule(datetime(2026, 11, 25, tzinfo=UTC), True, None, "UTC"),
        "daily": Schedule(datetime(2026, 11, 20, 10, tzinfo=UTC), False, "FREQ=DAILY", "UTC"),
        "hourly": Schedule(datetime(2026, 11, 20, 10, tzinfo=UTC), False, "FREQ=HOURLY", "UTC"),
        "moment": Schedule(datetime(2026, 11, 25, 10, tzinfo=UTC), False, None, "UTC"),
        "told": Schedule(datetime(2026, 11, 21, tzinfo=UTC), True, None, "UTC"),
        "put off": Schedule(datetime(2026, 11, 25, tzinfo=UTC), True, None, "UTC"),
    }
    ids = {title: opened(connection, title, schedule=schedule).id for title, schedule in at.items()}
    soon = NOON + timedelta(hours=1)
    service.postpone(connection, OWNER, ids["put off"], soon, TELLER)
    before = {title: service.task(connection, OWNER, task_id) for title, task_id in ids.items()}
    assert service.move_zone(connection, OWNER, "Asia/Tokyo", TELLER) == 4  # nine hours ahead
    after = {title: service.task(connection, OWNER, task_id) for title, task_id in ids.items()}
    assert [after[one] == before[one] for one in ids] == [False, False, True, True, False, False]
    assert (after["day"].due_at, after["day"].tz) == (datetime(2026, 11, 24, 15, tzinfo=UTC), "Asia/Tokyo")
    assert after["day"].next_at == datetime(2026, 11, 25, 0, tzinfo=UTC)
    assert after["daily"].next_at == datetime(2026, 11, 23, 1, tzinfo=UTC)
    assert (after["told"].next_at, after["put off"].next_at) == (None, soon)
    assert next_firing(after["daily"].schedule, NINE, NOON) == after["daily"].next_at
    assert service.move_zone(connection, OWNER, "Asia/Tokyo", TELLER) == 0
