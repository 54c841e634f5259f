"""Old events go a batch at a time, with their links; what a subscriber has not read stays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, func, select
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.config.settings import EventsConfig
from internal.events import bus, repository as events
from internal.events.bus import EventTopic, Subscription
from internal.flows.operations import event_retention
from internal.flows.operations.event_retention import EventRetention
from internal.storage.tables import event_links, events as events_table

READER = Subscription("context_manager", EventTopic.NOTIFICATION, OWNER)
DAY = timedelta(days=1)


def retention(talk: Talk, *, days: int = 90, rows: int = 1000, **subscribers: EventTopic) -> EventRetention:
    return EventRetention(talk.database, talk.clock, EventsConfig(keep_days=days, keep_rows=rows), subscribers)


async def happen(talk: Talk, count: int, kind: str = "x", user_id: int | None = OWNER, **links: Any) -> None:
    now = talk.clock.now()

    def work(connection: Connection) -> None:
        for number in range(count):
            told: dict[str, Any] = {"payload": {"n": number}, "links": links | {"turn": f"t{number}"}}
            events.append(connection, kind, source="system:test", now=now, user_id=user_id, **told)

    await talk.write(work)


async def notify(talk: Talk, *words: str, user_id: int = OWNER) -> None:
    told: dict[str, Any] = {"user_id": user_id, "source": "agent:TaskManager", "now": talk.clock.now()}
    await talk.write(
        lambda c: [bus.publish(c, EventTopic.NOTIFICATION, payload={"text": one}, **told) for one in words]
    )


async def kept(talk: Talk) -> tuple[int, int]:
    """How many events and links there are."""

    def work(connection: Connection) -> tuple[int, int]:
        count = [connection.execute(select(func.count()).select_from(table)).scalar_one() for table in TABLES]
        return count[0], count[1]

    return await talk.read(work)


TABLES = (events_table, event_links)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_retention, "BATCH", 3)


async def test_events_go_when_they_are_old(talk: Talk, small_batches: None) -> None:
    """Older than so many days, batch after batch, those of nobody too, and their links with them."""
    await happen(talk, 5)
    await happen(talk, 3, user_id=None)
    talk.clock.advance((91 * DAY).total_seconds())
    await happen(talk, 2)
    assert await kept(talk) == (10, 7)
    assert await retention(talk).drop_old() == 8
    assert await kept(talk) == (2, 2)
    assert await retention(talk).drop_old() == 0


async def test_events_go_when_they_are_too_many(talk: Talk) -> None:
    """The oldest go until no more than so many are left."""
    await happen(talk, 1010)
    assert await retention(talk).drop_old() == 10
    listed = await talk.read(lambda c: events.listing(c, OWNER, limit=1))
    assert (await kept(talk), listed[0].payload) == ((1000, 1000), {"n": 10})


async def test_what_a_subscriber_has_not_read_stays(talk: Talk, small_batches: None) -> None:
    """However old it is; it goes once it is read, but for the one that says how far that was."""
    await notify(talk, "one", "two", "three")
    await happen(talk, 4)
    talk.clock.advance((100 * DAY).total_seconds())
    now = talk.clock.now()
    [first, second, third] = await talk.read(READER.waiting)
    await talk.write(lambda c: READER.advance(c, second.position, now))
    assert await retention(talk).drop_old() == 5
    assert await talk.read(READER.waiting) == [third]
    await talk.write(lambda c: READER.advance(c, third.position, now))
    assert await retention(talk).drop_old() == 1
    assert not await talk.read(READER.waiting)
    assert await talk.read(READER.position) == third.position
    assert first.position < second.position


async def test_a_subscriber_that_never_began_misses_nothing(talk: Talk) -> None:
    """Agents that are known to read a topic are waited for, of every owner, also before their first cursor."""
    await notify(talk, "one")
    await notify(talk, "another's", user_id=OTHER)
    talk.clock.advance((100 * DAY).total_seconds())
    assert await retention(talk, context_manager=EventTopic.NOTIFICATION).drop_old() == 0
    assert await retention(talk).drop_old() == 2
