"""Keeping in touch: nudged when the rhythm says so, not after a contact that was told, once a day, put off by words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

import pytest
from sqlalchemy import Connection
from support.flows.flow_stage import OTHER, OWNER, Talk

from bot.telegram.handlers.companion.companion_text import CompanionWording
from internal.dialogue import repository as dialogue
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification, NotificationKind
from internal.flows.companion.contacts import Contacts
from internal.flows.companion.scheduler import CompanionScheduler
from internal.flows.forgetting import requests
from internal.flows.reflections.service import Reflections
from internal.knowledge import episode_repository
from internal.knowledge.model import Episode, Segment
from internal.language.worker.process_pool import LanguageWorker
from internal.memory.plasticity.decay import PRESETS
from internal.people import repository as people_repository, service as people
from internal.people.model import Circle, Person
from internal.storage import evidence
from internal.storage.evidence import Support
from internal.storage.types import new_id
from internal.tasks import repository, service
from internal.tasks.model import Schedule, Task, TaskKind, whole_day

MONDAY = datetime(2027, 3, 1, 12, tzinfo=UTC)


@dataclass
class House:
    talk: Talk
    companion: CompanionScheduler

    async def person(self, name: str, circle: Circle = Circle.FAMILY) -> Person:
        now = self.talk.clock.now()
        new = Person(0, OWNER, new_id(), name, circle, "", now, now)
        return await self.talk.write(lambda c: people_repository.create(c, new, by="owner", now=now))

    async def rhythm(self, title: str, rule: str = "FREQ=WEEKLY", person: Person | None = None) -> Task:
        now = self.talk.clock.now()
        new = service.NewTask(
            title, Schedule(whole_day(now.date(), "UTC"), True, rule, "UTC"), person_id=person.id if person else None
        )
        return await self.talk.write(lambda c: service.open_task(c, OWNER, new, service.by_owner(OWNER, now, time(9))))

    async def told(self, text: str, *about: Person) -> None:
        """The owner says something of these people, and it is archived."""
        now = self.talk.clock.now()

        def work(connection: Connection) -> None:
            message, episode_id = dialogue.add(connection, OWNER, "user", text, now=now), new_id()
            episode = Episode(OWNER, episode_id, "message", "talk", text, "", None, now, now)
            episode_repository.add_episode(connection, episode, [Segment(1, now, None, message.id)])
            for person in about:
                people_repository.add_mention(connection, OWNER, person.id, episode_id)
                line = Support(episode_id, 1, message.id, text)
                evidence.add(connection, OWNER, "person", {str(person.id): [line]}, operation="Updated", run_id=None)

        await self.talk.write(work)

    async def at(self, day: int, hour: int = 18, month: int = 3) -> list[str]:
        """What is said at that moment."""
        before = {one.id for one in await self.nudges()}
        self.talk.clock.set(datetime(2027, month, day, hour, 5, tzinfo=UTC))
        await self.companion.say_due()
        return [one.text for one in await self.nudges() if one.id not in before]

    async def nudges(self, user_id: int = OWNER) -> list[Notification]:
        found = await self.talk.read(lambda c: notifications.listing(c, user_id, limit=10_000))
        return [one for one in found if one.kind is NotificationKind.NUDGE]

    async def task(self, task: Task) -> Task:
        found = await self.talk.read(lambda c: repository.get(c, OWNER, task.id))
        assert found is not None
        return found


@pytest.fixture
async def house(talk: Talk) -> AsyncIterator[House]:
    talk.clock.set(MONDAY)
    worker = LanguageWorker()
    contacts = Contacts(talk.database, worker)
    reflections = Reflections(talk.database, talk.clock, worker, PRESETS["default"])
    yield House(talk, CompanionScheduler(talk.database, talk.clock, time(9), contacts, CompanionWording, reflections))
    await worker.close()


async def test_a_rhythm_nudges_until_a_contact_is_told(house: House) -> None:
    """Not after a mere mention; with the last time and what was open; and not before the evening."""
    grandma = await house.person("Grandma")
    task = await house.rhythm("Call grandma")
    assert (task.kind, task.next_at) == (TaskKind.CONTACT, datetime(2027, 3, 8, 18, tzinfo=UTC))
    await house.told("Grandma likes tulips", grandma)
    assert await house.at(8, 12) == []
    assert await house.at(8) == ["💬 It may be time: Call grandma. For example, Grandma."]
    house.talk.clock.set(datetime(2027, 3, 9, 20, tzinfo=UTC))
    await house.told("Called grandma today, she is fine", grandma)
    assert await house.at(10) == []
    assert (await house.task(task)).next_at == datetime(2027, 3, 16, 18, tzinfo=UTC)
    now = house.talk.clock.now()
    waiting = service.NewTask("Grandma: a recipe", Schedule(), TaskKind.WAITING, person_id=grandma.id)
    await house.talk.write(lambda c: service.open_task(c, OWNER, waiting, service.by_owner(OWNER, now, time(9))))
    [text] = await house.at(16)
    assert "Called grandma today, she is fine" in text
    assert "Still open: Grandma: a recipe." in text
    assert len(await house.talk.events("nudge_due")) == 2
    assert await house.nudges(OTHER) == []


async def test_at_most_one_nudge_a_day_unless_it_was_asked_for(house: House) -> None:
    """What the owner put off to an hour comes at that hour; the others wait for another day."""
    first = await house.rhythm("Call Tom", person=await house.person("Tom"))
    await house.rhythm("Write Kate", person=await house.person("Kate"))
    assert len(await house.at(8)) == 1
    assert await house.at(8, 19) == []
    assert len(await house.at(9)) == 1
    author = service.by_owner(OWNER, house.talk.clock.now(), time(9))
    later = house.talk.clock.now() + timedelta(hours=1)
    await house.talk.write(lambda c: service.postpone(c, OWNER, first.id, later, author))
    assert await house.at(9, 19) == ["💬 It may be time: Call Tom."]


async def test_a_nudge_that_is_not_answered_comes_more_seldom(house: House) -> None:
    """After two days, after four, then once a week as the rhythm says; after a contact it begins again."""
    grandma = await house.person("Grandma")
    await house.rhythm("Call grandma", person=grandma)
    assert [day for day in range(8, 30) if await house.at(day)] == [8, 10, 14, 21, 28]
    await house.told("Called grandma today", grandma)
    assert [day for day in range(1, 15) if await house.at(day, month=4)] == [5, 7, 11]


async def test_other_notifications_do_not_hide_earlier_nudges(house: House) -> None:
    """Whoever has many reminders is nudged as seldom as others."""
    await house.rhythm("Call grandma", person=await house.person("Grandma"))
    nudged = []
    for day in range(8, 30):
        for n in range(35):
            now = datetime(2027, 3, day, 17, tzinfo=UTC)
            reminder = NotificationKind.REMINDER
            await house.talk.write(
                lambda c: notifications.generate(c, OWNER, reminder, "Pills", now=now, dedupe=f"{day}:{n}")  # noqa: B023 - awaited here
            )
        nudged += [day] * bool(await house.at(day))
    assert nudged == [8, 10, 14, 21, 28]


async def test_done_begins_the_interval_anew_and_never_ends_it(house: House) -> None:
    """By a tap or in words: both end in the same two steps of tasks."""
    task = await house.rhythm("Call Tom", person=await house.person("Tom"))
    await house.at(8)
    author = service.by_owner(OWNER, house.talk.clock.now(), time(9))
    done = await house.talk.write(lambda c: service.mark_done(c, OWNER, task.id, author))
    assert done.next_at == datetime(2027, 3, 15, 18, tzinfo=UTC)
    await house.talk.write(lambda c: service.cancel(c, OWNER, task.id, author))
    assert await house.at(15) == []


async def test_of_a_circle_it_is_who_was_not_met_for_the_longest_time(house: House) -> None:
    """And a forgotten person is not named."""
    tom, kate = await house.person("Tom", Circle.FRIENDS), await house.person("Kate", Circle.FRIENDS)
    await house.person("Mom")
    await house.rhythm("See friends", "FREQ=MONTHLY")
    await house.told("Met Tom for lunch", tom)
    house.talk.clock.advance(timedelta(days=1))
    await house.told("Saw Kate at the gym", kate)
    [text] = await house.at(2, month=4)
    assert "For example, Tom." in text
    assert "Met Tom for lunch" in text
    now = house.talk.clock.now()
    await house.talk.write(lambda c: requests.ask_forget(c, OWNER, tom.id, now=now))
    [text] = await house.at(9, month=4)
    assert "For example, Kate." in text


async def test_a_reminder_with_a_weekday_stays_a_reminder(house: House) -> None:
    """Who names the day wants to be told on that day."""
    assert (await house.rhythm("Call grandma", "FREQ=WEEKLY;BYDAY=SU")).kind is TaskKind.TASK
    assert (await house.rhythm("Water the plants")).kind is TaskKind.TASK


async def test_a_merge_takes_the_rhythm_and_what_is_open_along_and_forgetting_ends_it(house: House) -> None:
    """Both by the id of the person, which a rhythm in words gets at its first nudge."""
    tom, thomas = await house.person("Tom"), await house.person("Thomas")
    task = await house.rhythm("Call Tom")
    assert await house.at(8) == ["💬 It may be time: Call Tom. For example, Tom."]
    assert (await house.task(task)).person_id == tom.id
    now = house.talk.clock.now()
    waiting = service.NewTask("Tom: a drill", Schedule(), TaskKind.WAITING, person_id=tom.id)
    await house.talk.write(lambda c: service.open_task(c, OWNER, waiting, service.by_owner(OWNER, now, time(9))))
    await house.talk.write(lambda c: people.merge(c, OWNER, tom.id, thomas.id, now=now))
    house.talk.clock.advance(timedelta(hours=1))
    await house.told("Met Thomas for lunch", thomas)
    assert await house.at(10) == []
    [text] = await house.at(15)
    assert "Met Thomas for lunch" in text
    assert "Tom: a drill" in text
    now = house.talk.clock.now()
    await house.talk.write(lambda c: requests.ask_forget(c, OWNER, thomas.id, now=now))
    assert await house.at(29) == []
