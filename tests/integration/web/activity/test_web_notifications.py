"""`/notifications` and `/snapshots` over HTTP: each owner's own, out of sight what is to be forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import Connection
from support.interfaces.rest_graph_stage import ANNA, BORIS, NOON, Stage, stage, user

from internal.dialogue import repository as dialogue
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import Snapshot, SnapshotItem
from internal.events import repository as events
from internal.flows.forgetting import requests
from internal.storage.database import Database
from internal.telemetry.metrics import Metrics

LIST_OF = {"/notifications": "notifications", "/snapshots": "snapshots"}


@pytest.fixture
async def both(database: Database, metrics: Metrics) -> AsyncIterator[Stage]:
    """Anna has said something, been told of it and is kept in mind; Boris only exists."""
    async with stage(database, metrics, user(ANNA), user(BORIS)) as built:
        yield built


async def said(web: Stage, text: str = "Remind me of Maria") -> str:
    """The id of a message with a notification and a snapshot that rest on it."""

    def work(connection: Connection) -> str:
        message = dialogue.add(connection, ANNA, "user", text, now=NOON).id
        item = SnapshotItem("Waits for Maria", NOON, (message,))
        snapshots.add(connection, ANNA, Snapshot(threads=(item,)), now=NOON)
        notifications.generate(
            connection,
            ANNA,
            NotificationKind.REMINDER,
            "Call Maria",
            now=NOON,
            dedupe=text,
            payload={"message": message, "due_at": NOON.isoformat()},
        )
        return message

    return await web.database.write(work)


async def got(web: Stage, path: str, **query: Any) -> Any:
    answer = await web.client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_notifications_tell_what_became_of_them(both: Stage) -> None:
    """Newest first, in pages, by state; with their event."""
    await said(both)
    await said(both, "And of Oleg")
    found = await got(both, "/notifications", user_id=ANNA)
    assert (found["count"], [one["state"] for one in found["notifications"]]) == (2, ["waiting", "waiting"])
    first = found["notifications"][0]
    assert (first["kind"], first["text"], first["urgent"], first["reason"]) == ("reminder", "Call Maria", False, None)
    [told] = await both.database.read(lambda c: events.listing(c, ANNA, event_type="notification_generated", limit=1))
    page = await got(both, "/notifications", user_id=ANNA, limit=1, offset=1)
    assert [one["event_id"] for one in page["notifications"]] == [told.id]
    assert (await got(both, "/notifications", user_id=ANNA, state="sent")) == {"notifications": [], "count": 0}


async def test_a_snapshot_is_shown_and_restored(both: Stage) -> None:
    """Versions the latest first; an earlier one comes back as a new one and leaves an event."""
    message = await said(both)
    await both.database.write(lambda c: snapshots.add(c, ANNA, Snapshot(by_rules=True), now=NOON))
    found = await got(both, "/snapshots", user_id=ANNA)
    assert [(one["version"], one["by"]) for one in found["snapshots"]] == [(2, "rules"), (1, "model")]
    [item] = found["snapshots"][1]["threads"]
    assert (item["text"], item["messages"]) == ("Waits for Maria", [message])
    answer = await both.client.post("/snapshots/1/restore", params={"user_id": ANNA})
    assert (answer.status_code, answer.json()["version"], answer.json()["restored_from"]) == (200, 3, 1)
    assert (await got(both, "/snapshots", user_id=ANNA, limit=1))["snapshots"][0]["threads"] == [item]
    told = await both.database.read(lambda c: events.listing(c, ANNA, event_type="snapshot_restored"))
    assert [one.payload for one in told] == [{"version": 3, "restored_from": 1}]


@pytest.mark.parametrize("path", LIST_OF)
async def test_what_is_about_to_be_forgotten_is_out_of_sight(both: Stage, path: str) -> None:
    """At once, before it is erased."""
    message = await said(both)
    await both.database.write(lambda c: requests.ask(c, ANNA, "message", message, now=NOON))
    found = await got(both, path, user_id=ANNA)
    assert "Maria" not in str(found)


@pytest.mark.parametrize("path", LIST_OF)
async def test_nobody_sees_anothers(both: Stage, path: str) -> None:
    """Boris has nothing, strangers are not found, and nobody restores what is not his."""
    await said(both)
    assert (await got(both, path, user_id=BORIS)) == {LIST_OF[path]: [], "count": 0}
    assert (await both.client.get(path, params={"user_id": 404})).status_code == 404
    assert (await both.client.get(path)).status_code == 422
    assert (await both.client.post("/snapshots/1/restore", params={"user_id": BORIS})).status_code == 404
    for no_version in (0, 2**31):
        answer = await both.client.post(f"/snapshots/{no_version}/restore", params={"user_id": ANNA})
        assert answer.status_code == 422
