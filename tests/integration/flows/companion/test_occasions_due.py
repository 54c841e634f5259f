"""What the bot says of occasions by itself: a week before, with tastes and presents, and on the day; once each."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from sqlalchemy import Connection
from support.flows.flow_stage import OTHER, OWNER, Talk

from bot.telegram.handlers.companion.companion_text import CompanionWording
from internal.access import repository as users
from internal.dialogue.notifications import repository as notifications
from internal.flows.companion import calendar
from internal.flows.companion.contacts import Contacts
from internal.flows.companion.scheduler import CompanionScheduler, set_digest
from internal.flows.forgetting import requests
from internal.flows.reflections.service import Reflections
from internal.graph import store
from internal.knowledge import service as knowledge
from internal.knowledge.claims.changes import NewClaim
from internal.knowledge.facts import occasions
from internal.language.worker.process_pool import LanguageWorker
from internal.memory.plasticity.decay import PRESETS
from internal.people import service as people
from internal.people.model import Person
from internal.people.service import TelegramAccount

SPRING = datetime(2027, 3, 1, 12, tzinfo=UTC)


def scheduler(talk: Talk) -> CompanionScheduler:
    worker = LanguageWorker()
    reflections = Reflections(talk.database, talk.clock, worker, PRESETS["default"])
    return CompanionScheduler(
        talk.database, talk.clock, time(9), Contacts(talk.database, worker), CompanionWording, reflections
    )


@pytest.fixture
def companion(talk: Talk) -> CompanionScheduler:
    talk.clock.set(SPRING)
    return scheduler(talk)


async def person(talk: Talk, name: str, user_id: int = OWNER) -> Person:
    sender = TelegramAccount(len(name) + 1000, name)
    now = talk.clock.now()
    return await talk.write(lambda c: people.from_metadata(c, user_id, sender, seen_at=now, now=now))


async def occasion(
    talk: Talk, of: Person, kind: str, month: int, day: int, year: int | None = None, user_id: int = OWNER
) -> None:
    words, now = f"{of.display_name}: {kind}", talk.clock.now()
    await talk.write(
        lambda c: occasions.add_occasion(c, user_id, of.entity_id, kind, month, day, year, text=words, now=now)
    )


async def likes(talk: Talk, of: Person, what: str) -> None:
    def work(connection: Connection) -> None:
        now = talk.clock.now()
        node = store.add_node(connection, OWNER, "Entity", {"name": what, "type": "concept"}, now=now)
        words = f"{of.display_name} likes {what}"
        claim = NewClaim(of.entity_id, "LIKES", node.id, words, now, set_by="owner")
        knowledge.record_claims(connection, OWNER, [claim], now=now)

    await talk.write(work)


async def said(talk: Talk, user_id: int = OWNER) -> list[str]:
    found = await talk.read(lambda c: notifications.listing(c, user_id))
    return [one.text for one in reversed(found)]


async def morning(talk: Talk, companion: CompanionScheduler, month: int, day: int) -> int:
    talk.clock.set(datetime(2027, month, day, 9, 30, tzinfo=UTC))
    return await companion.say_due()


async def test_a_week_before_with_tastes_and_on_the_day_and_once_each(
    talk: Talk, companion: CompanionScheduler
) -> None:
    """Also when the process starts again each day."""
    masha = await person(talk, "Masha")
    await occasion(talk, masha, "birthday", 3, 20, 1997)
    await likes(talk, masha, "peonies")
    for day in range(2, 25):
        await morning(talk, companion, 3, day)
        await scheduler(talk).say_due()  # after a restart
    week, day_itself = await said(talk)
    assert week.startswith("📅 Sat, Mar 20: Masha: birthday, 30 years")
    assert "Masha likes peonies" in week
    assert day_itself == "🎉 Today: Masha: birthday, 30 years."
    assert sorted(event.payload["ahead"] for event in await talk.events("occasion_due")) == [False, True]
    assert await said(talk, OTHER) == []


async def test_an_anniversary_of_death_is_announced_without_presents(talk: Talk, companion: CompanionScheduler) -> None:
    """A week before too, as people travel to the grave."""
    grandpa = await person(talk, "Grandpa")
    await occasion(talk, grandpa, "memorial", 3, 20, 2017)
    await likes(talk, grandpa, "peonies")
    for day in (13, 20):
        await morning(talk, companion, 3, day)
    assert await said(talk) == [
        "📅 Sat, Mar 20: Grandpa: anniversary of death, 10 years.",
        "🕯 Today: Grandpa: anniversary of death, 10 years.",
    ]


async def test_the_morning_overview_says_the_day_itself(talk: Talk, companion: CompanionScheduler) -> None:
    """Once: with the overview on, no line of its own comes on the day; a week before it does."""
    await talk.write(lambda c: set_digest(c, OWNER, "09:00"))
    await occasion(talk, await person(talk, "Masha"), "birthday", 3, 20, 1997)
    for day in (13, 20):
        await morning(talk, companion, 3, day)
    week, overview = await said(talk)
    assert week.startswith("📅 Sat, Mar 20")
    assert overview.count("Masha: birthday") == 1


async def test_nothing_is_said_before_the_morning_nor_of_what_was_said_this_week(
    talk: Talk, companion: CompanionScheduler
) -> None:
    """Who told it three days ago knows."""
    await occasion(talk, await person(talk, "Oleg"), "birthday", 3, 4)
    talk.clock.set(datetime(2027, 3, 4, 8, 59, tzinfo=UTC))
    assert await companion.say_due() == 0
    assert await morning(talk, companion, 3, 4) == 1
    assert await said(talk) == ["🎉 Today: Oleg: birthday."]


async def test_what_a_standstill_missed_is_said_while_it_helps(talk: Talk, companion: CompanionScheduler) -> None:
    """A day that is over is not."""
    await occasion(talk, await person(talk, "Anna"), "wedding", 4, 20, 2027)
    await occasion(talk, await person(talk, "Igor"), "birthday", 4, 15)
    assert await morning(talk, companion, 4, 16) == 1
    assert await said(talk) == ["📅 Tue, Apr 20: Anna: wedding."]


async def test_a_forgotten_person_is_never_mentioned(talk: Talk, companion: CompanionScheduler) -> None:
    """From the moment in which it is asked."""
    masha = await person(talk, "Masha")
    await occasion(talk, masha, "birthday", 3, 20)
    await talk.write(lambda c: requests.ask_forget(c, OWNER, masha.id, now=talk.clock.now()))
    assert await morning(talk, companion, 3, 13) == 0


async def test_the_calendar_repeats_and_its_address_can_be_closed(talk: Talk, companion: CompanionScheduler) -> None:
    """Lines are folded by octets; a new secret ends the one before."""
    await occasion(talk, await person(talk, "Léa, " + "é" * 60), "birthday", 2, 29)
    await occasion(talk, await person(talk, "Anna"), "graduation", 6, 5, 2027)
    user = await talk.user()
    text = await talk.read(lambda c: calendar.calendar(c, user, now=talk.clock.now()))
    assert text.count("BEGIN:VEVENT") == 2
    assert "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1" in text
    assert text.count("RRULE") == 1
    assert "DTSTART;VALUE=DATE:20280229" in text
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    first = await talk.write(lambda c: calendar.give_secret(c, OWNER))
    second = await talk.write(lambda c: calendar.give_secret(c, OWNER))
    assert first not in str((await talk.user()).settings)
    assert await talk.read(lambda c: calendar.reader(c, OWNER, first)) is None
    assert await talk.read(lambda c: calendar.reader(c, OTHER, second)) is None
    reader = await talk.read(lambda c: calendar.reader(c, OWNER, second))
    assert reader is not None
    await talk.write(lambda c: calendar.revoke(c, OWNER))
    assert await talk.read(lambda c: calendar.reader(c, OWNER, second)) is None
    assert await talk.read(lambda c: calendar.reader(c, OWNER, "")) is None


async def test_a_paused_owner_is_left_alone(talk: Talk, companion: CompanionScheduler) -> None:
    """And is told when he is back on that day."""
    await occasion(talk, await person(talk, "Oleg"), "birthday", 3, 4)
    await talk.write(lambda c: users.change(c, OWNER, state="paused"))
    assert await morning(talk, companion, 3, 4) == 0
    talk.clock.advance(timedelta(hours=1))
    await talk.write(lambda c: users.change(c, OWNER, state="active"))
    assert await companion.say_due() == 1
