"""`/tasks` over HTTP: added, listed by time, changed, closed and deleted, each owner's own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from support.interfaces.rest_graph_stage import ANNA, BORIS, Stage

from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind


async def add(stage: Stage, title: str, user_id: int = ANNA, **more: Any) -> Any:
    answer = await stage.client.post("/tasks", json={"user_id": user_id, "title": title, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_tasks_are_listed_by_time(known: Stage) -> None:
    """What has no date comes last; each call tells how many there are."""
    tomorrow = (known.clock.now() + timedelta(days=1)).isoformat()
    await add(known, "Some day")
    await add(known, "Tomorrow", due_at=tomorrow)
    found = (await known.client.get("/tasks", params={"user_id": ANNA})).json()
    assert [one["title"] for one in found["tasks"]] == ["Tomorrow", "Some day"]
    assert found["count"] == 2
    assert found["tasks"][0]["next_at"] == found["tasks"][0]["due_at"]
    none = (await known.client.get("/tasks", params={"user_id": ANNA, "state": "done"})).json()
    assert none == {"tasks": [], "count": 0}


async def test_a_bare_date_is_a_whole_day_of_the_users_zone(known: Stage) -> None:
    """It comes again by a rule that needs its first time."""
    day = (known.clock.now() + timedelta(days=3)).date().isoformat()
    task = await add(known, "Rent", due_at=day, recurrence="freq=monthly")
    assert task["whole_day"]
    assert task["recurrence"].startswith("FREQ=MONTHLY")
    refused = await known.client.post("/tasks", json={"user_id": ANNA, "title": "x", "recurrence": "FREQ=DAILY"})
    assert refused.status_code == 422


async def test_a_task_is_changed_closed_opened_and_deleted(known: Stage) -> None:
    """What is absent stays."""
    task = await add(known, "Buy bread", details="rye")
    path = f"/tasks/{task['id']}"
    changed = (await known.client.patch(path, json={"title": "Buy rye bread"})).json()
    assert (changed["title"], changed["details"]) == ("Buy rye bread", "rye")
    done = (await known.client.patch(path, json={"state": "done"})).json()
    assert (done["state"], done["next_at"]) == ("done", None)
    assert done["closed_at"]
    assert (await known.client.patch(path, json={"state": "open"})).json()["state"] == "open"
    later = (known.clock.now() + timedelta(hours=2)).isoformat()
    assert (await known.client.patch(path, json={"next_at": later})).json()["next_at"]
    assert (await known.client.delete(path)).status_code == 204
    assert (await known.client.get(path)).status_code == 404


async def test_another_date_withdraws_what_waits_about_the_old_one(known: Stage) -> None:
    """The same date again changes nothing."""
    now = known.clock.now()
    soon, later = ((now + timedelta(hours=hours)).isoformat() for hours in (1, 2))
    task = await add(known, "Call Maria", due_at=soon)
    told: dict[str, Any] = {"ref_id": task["id"], "dedupe": "of the old hour", "now": now}
    await known.database.write(lambda c: notifications.generate(c, ANNA, NotificationKind.REMINDER, "x", **told))
    for due_at, state in ((soon, "waiting"), (later, "dropped")):
        await known.client.patch(f"/tasks/{task['id']}", json={"due_at": due_at})
        found = (await known.client.get("/notifications", params={"user_id": ANNA})).json()["notifications"]
        assert [one["state"] for one in found] == [state]


async def test_another_owners_task_is_not_found(known: Stage) -> None:
    """Neither read nor changed nor deleted for the one who asks, and not in his list."""
    task = await add(known, "Secret")
    path, asked = f"/tasks/{task['id']}", {"user_id": BORIS}
    assert (await known.client.get(path, params=asked)).status_code == 404
    assert (await known.client.patch(path, params=asked, json={"state": "done"})).status_code == 404
    assert (await known.client.delete(path, params=asked)).status_code == 404
    assert (await known.client.get("/tasks", params=asked)).json()["count"] == 0


@pytest.mark.parametrize(
    "body",
    [{"title": " "}, {"title": "x" * 301}, {"title": "x", "recurrence": "hourly"}, {"title": "x", "kind": "wish"}, {}],
)
async def test_what_is_no_task_is_refused(known: Stage, body: dict[str, Any]) -> None:
    """With one sentence."""
    answer = await known.client.post("/tasks", json={"user_id": ANNA, **body})
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)
