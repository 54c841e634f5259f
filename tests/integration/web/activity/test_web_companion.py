"""`/occasions`, `/today` and the calendar over HTTP: each owner's own, with receipts, and behind a secret."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import time, timedelta

import pytest
from sqlalchemy import Connection
from support.interfaces.rest_graph_stage import ANNA, BORIS, NOON, Stage, stage, user

from internal.dialogue import repository as dialogue
from internal.flows.companion import calendar
from internal.knowledge import episode_repository
from internal.knowledge.claims.changes import ClaimLine
from internal.knowledge.facts import occasions
from internal.knowledge.model import Episode, Segment
from internal.people import service as people
from internal.people.service import TelegramAccount
from internal.storage.database import Database
from internal.storage.types import new_id
from internal.tasks import service as tasks
from internal.tasks.model import Schedule, TaskKind
from internal.telemetry.metrics import Metrics


@pytest.fixture
async def both(database: Database, metrics: Metrics) -> AsyncIterator[Stage]:
    async with stage(database, metrics, user(ANNA), user(BORIS)) as built:
        yield built


async def birthday(web: Stage) -> int:
    """The id of Maria, whose birthday is tomorrow, as a line of Anna's says."""
    tomorrow = NOON + timedelta(days=1)

    def work(connection: Connection) -> int:
        maria = people.from_metadata(connection, ANNA, TelegramAccount(77, "Maria"), seen_at=NOON, now=NOON)
        said, episode_id = "Maria turns 30 tomorrow", new_id()
        episode = Episode(ANNA, episode_id, "text", "note", said, "", None, NOON, NOON)
        episode_repository.add_episode(connection, episode, [Segment(1, NOON, said, None)])
        day = (tomorrow.month, tomorrow.day, tomorrow.year - 30)
        given = {"set_by": "import", "episode_id": episode_id, "lines": [ClaimLine(1, said)]}
        occasions.add_occasion(
            connection, ANNA, maria.entity_id, "birthday", *day, text="Maria: birthday", now=NOON, **given
        )
        return maria.id

    return await web.database.write(work)


async def test_occasions_are_listed_with_the_lines_that_say_so(both: Stage) -> None:
    """Between two days, and nobody else's."""
    maria, tomorrow = await birthday(both), (NOON + timedelta(days=1)).date()
    found = (await both.client.get("/occasions", params={"user_id": ANNA})).json()["occasions"]
    [one] = found
    assert (one["person_id"], one["kind"], one["date"], one["years"]) == (maria, "birthday", tomorrow.isoformat(), 30)
    assert one["text"].startswith("Maria")
    assert [line["quote"] for line in one["citations"]] == ["Maria turns 30 tomorrow"]
    later = {"user_id": ANNA, "from": (tomorrow + timedelta(days=1)).isoformat(), "to": "2026-12-31"}
    assert (await both.client.get("/occasions", params=later)).json() == {"occasions": []}
    assert (await both.client.get("/occasions", params={"user_id": BORIS})).json() == {"occasions": []}


async def test_today_holds_what_the_days_hold(both: Stage) -> None:
    """One day, or as many as are asked for; a promise with the words that make it."""
    await birthday(both)
    words = "Promised Maria to bring the tent"

    def promise(connection: Connection) -> None:
        message = dialogue.add(connection, ANNA, "user", words, now=NOON)
        new = tasks.NewTask("Bring the tent", Schedule(), TaskKind.PROMISE, message_id=message.id)
        tasks.open_task(connection, ANNA, new, tasks.by_owner(ANNA, NOON, time(9)))

    await both.database.write(promise)
    today = (await both.client.get("/today", params={"user_id": ANNA})).json()
    assert (today["first"], today["last"], today["occasions"]) == (*[NOON.date().isoformat()] * 2, [])
    assert [line["quote"] for one in today["promises"] for line in one["citations"]] == [words]
    week = (await both.client.get("/today", params={"user_id": ANNA, "days": 7})).json()
    assert [one["kind"] for one in week["occasions"]] == ["birthday"]


async def test_the_calendar_needs_its_secret_and_no_key(both: Stage) -> None:
    """Any program may subscribe; a wrong secret finds nothing, and so does a closed address."""
    await birthday(both)
    secret = await both.database.write(lambda c: calendar.give_secret(c, ANNA))
    asked = {"user_id": str(ANNA), "key": secret}
    answer = await both.client.get("/calendar.ics", params=asked, headers={"Authorization": ""})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/calendar; charset=utf-8")
    assert "SUMMARY:Maria" in answer.text
    assert (await both.client.get("/calendar.ics", params=asked | {"key": "wrong"})).status_code == 404
    assert (await both.client.get("/calendar.ics", params=asked | {"user_id": str(BORIS)})).status_code == 404
    await both.database.write(lambda c: calendar.revoke(c, ANNA))
    assert (await both.client.get("/calendar.ics", params=asked)).status_code == 404


async def test_the_past_quotes_nobody_who_is_forgotten(both: Stage) -> None:
    """From the moment in which it is asked."""
    maria = await both.person("Maria")
    await both.say("saw Maria today, she looked well")
    asked = {"user_id": ANNA, "question": "How often do I see Maria?"}
    sources = (await both.client.get("/reflections/past", params=asked)).json()["sources"]
    assert [one["text"] for one in sources] == ["saw Maria today, she looked well"]
    assert (await both.client.delete(f"/people/{maria.id}", params={"user_id": ANNA})).status_code in (202, 204)
    assert (await both.client.get("/reflections/past", params=asked)).json()["sources"] == []
