"""Reflections: what shows is said on a Sunday, once, with its lines; dismissed, switched off, gone with a source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

import pytest
from sqlalchemy import Connection
from support.flows.erase_stage import LanguageHere
from support.flows.flow_stage import OTHER, OWNER, Talk

from bot.telegram.handlers.companion.companion_text import CompanionWording
from bot.telegram.handlers.companion.reflections import set_reflections
from internal.chronicle import mention_repository, repository as chronicle
from internal.dialogue import repository as dialogue
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification, NotificationKind
from internal.flows.companion.contacts import Contacts
from internal.flows.companion.scheduler import CompanionScheduler, set_digest
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.reflections.service import Reflections
from internal.flows.sessions.lifecycle import UNJUDGED
from internal.memory.plasticity.decay import PRESETS
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage.types import new_id

SUNDAY = datetime(2027, 3, 28, 10, tzinfo=UTC)


@dataclass
class Weeks:
    """An owner who tells of meetings with Oleh, and the scheduler that looks at every hour."""

    talk: Talk
    reflections: Reflections
    companion: CompanionScheduler
    oleh: Person

    async def tell(self, text: str, at: datetime) -> str:
        """The owner says something in which Oleh is named. Returns the message's id."""

        def work(connection: Connection) -> str:
            message = dialogue.add(connection, OWNER, "user", text, now=at)
            UNJUDGED.heard(connection, message, tz="UTC", now=at)
            event = chronicle.event_of_message(connection, OWNER, message.id)
            assert event is not None
            mention_repository.replace(connection, OWNER, {event.id: {self.oleh.entity_id: 4}}, run_id=None)
            return message.id

        return await self.talk.write(work)

    async def at(self, moment: datetime) -> list[Notification]:
        """What is said then of what shows."""
        before = {one.id for one in await self.said()}
        self.talk.clock.set(moment)
        await self.companion.say_due()
        return [one for one in await self.said() if one.id not in before]

    async def said(self, user_id: int = OWNER) -> list[Notification]:
        found = await self.talk.read(lambda c: notifications.listing(c, user_id))
        return [one for one in found if one.kind in (NotificationKind.REFLECTION, NotificationKind.DIGEST)]

    async def shown(self) -> list[tuple[str, str, int]]:
        user = await self.talk.user()
        return [(one.kind, one.subject, one.count) for one in await self.reflections.current(user)]


@pytest.fixture
async def weeks(talk: Talk) -> Weeks:
    start = SUNDAY - timedelta(days=90)
    talk.clock.set(start)
    new = Person(0, OWNER, new_id(), "Oleh", Circle.FRIENDS, "", start, start)
    oleh = await talk.write(lambda c: people.create(c, new, by="owner", now=start))
    language = LanguageHere()
    reflections = Reflections(talk.database, talk.clock, language, PRESETS["default"])
    contacts = Contacts(talk.database, language)
    companion = CompanionScheduler(talk.database, talk.clock, time(9), contacts, CompanionWording, reflections)
    return Weeks(talk, reflections, companion, oleh)


async def met_three_times(weeks: Weeks) -> list[str]:
    texts = ("Saw Oleh at the lake", "Had lunch with Oleh", "Met Oleh at the cinema")
    return [await weeks.tell(text, SUNDAY - timedelta(days=20 - 8 * n)) for n, text in enumerate(texts)]


async def test_it_is_said_on_a_sunday_once_with_its_lines(weeks: Weeks) -> None:
    """Neither on another day nor again a week later; the other owner hears nothing."""
    lines = await met_three_times(weeks)
    assert await weeks.at(SUNDAY - timedelta(days=1)) == []
    [told] = await weeks.at(SUNDAY)
    assert "Oleh: in touch on 3 days of the last 30" in told.text
    assert all(quote in told.text for quote in ("Saw Oleh at the lake", "Had lunch with Oleh", "Met Oleh at the"))
    assert told.said_in == set(lines)
    assert await weeks.at(SUNDAY + timedelta(hours=5)) == []
    await weeks.tell("Oleh called", SUNDAY + timedelta(days=2))
    assert await weeks.at(SUNDAY + timedelta(days=7)) == []
    assert await weeks.shown() == [("met", "Oleh", 4)]
    assert await weeks.said(OTHER) == []


async def test_what_is_touchy_is_not_counted(weeks: Weeks) -> None:
    """Health is nobody's pattern."""
    for days in (20, 12, 4):
        await weeks.tell("Saw Oleh at the hospital, he has diabetes", SUNDAY - timedelta(days=days))
    assert await weeks.at(SUNDAY) == []


async def test_dismissed_it_does_not_come_back(weeks: Weeks) -> None:
    """Nor does one more day bring it back."""
    await met_three_times(weeks)
    weeks.talk.clock.set(SUNDAY)
    [one] = await weeks.reflections.current(await weeks.talk.user())
    await weeks.talk.write(lambda c: weeks.reflections.dismiss(c, OWNER, one.key))
    await weeks.tell("Oleh called", SUNDAY)
    assert await weeks.shown() == []
    assert await weeks.at(SUNDAY) == []


async def test_it_fades_and_goes_with_its_lines(weeks: Weeks) -> None:
    """The pattern of a month is none of the next; of a forgotten line nothing is left, in the message neither."""
    lines = await met_three_times(weeks)
    [told] = await weeks.at(SUNDAY)
    [fresh] = await weeks.reflections.current(await weeks.talk.user())
    weeks.talk.clock.set(SUNDAY + timedelta(days=5))
    [older] = await weeks.reflections.current(await weeks.talk.user())
    assert older.strength < fresh.strength < 1
    eraser = ForgettingService(weeks.talk.database, weeks.talk.clock, b"k" * 32, [])
    await eraser.erase_now(OWNER, "message", lines[1])
    assert await weeks.shown() == []
    assert told.id not in {one.id for one in await weeks.said()}


async def test_it_comes_with_the_digest_and_can_be_switched_off(weeks: Weeks) -> None:
    """One message for both; switched off, it shows only where it is asked for."""
    await met_three_times(weeks)
    await weeks.talk.write(lambda c: set_digest(c, OWNER, "10:00"))
    [one] = await weeks.at(SUNDAY)
    assert "Oleh: in touch" in one.text
    await weeks.talk.write(lambda c: set_reflections(c, OWNER, wanted=False))
    for days in (8, 10, 12):
        await weeks.tell("Oleh called again", SUNDAY + timedelta(days=20 + days))
    assert await weeks.at(SUNDAY + timedelta(days=35)) == []
    assert await weeks.shown() != []
