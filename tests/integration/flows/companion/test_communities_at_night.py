"""Communities of an owner's life: found at night, named by circle and thing, without what is forgotten."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.chronicle import mention_repository, repository as chronicle
from internal.config.settings import MemoryConfig
from internal.dialogue import repository as dialogue
from internal.flows.forgetting import requests
from internal.flows.operations.nightly import NightlyMaintenance
from internal.flows.reflections.communities import Community, communities
from internal.flows.sessions.lifecycle import UNJUDGED
from internal.graph import store
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage.types import new_id

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)


async def told_together(talk: Talk, names: list[str], thing: str) -> list[Person]:
    """The owner tells of these people, and of a thing, in each of three messages."""
    found = [Person(0, OWNER, new_id(), name, Circle.FAMILY, "", NOW, NOW) for name in names]

    def work(connection: Connection) -> list[Person]:
        known = [people.create(connection, one, by="owner", now=NOW) for one in found]
        node = store.add_node(connection, OWNER, "Entity", {"name": thing}, now=NOW)
        for _ in range(3):
            message = dialogue.add(connection, OWNER, "user", f"{names} at {thing}", now=NOW)
            UNJUDGED.heard(connection, message, tz="UTC", now=NOW)
            event = chronicle.event_of_message(connection, OWNER, message.id)
            assert event is not None
            named = dict.fromkeys([node.id, *(one.entity_id for one in known)], 3)
            mention_repository.replace(connection, OWNER, {event.id: named}, run_id=None)
        return known

    return await talk.write(work)


async def test_a_night_finds_them_and_what_is_forgotten_leaves_at_once(talk: Talk) -> None:
    """Nothing of it is the other owner's; three are needed."""
    talk.clock.set(NOW)
    family = await told_together(talk, ["Anna", "Mum"], "Dacha")

    async def found(owner: int = OWNER) -> list[Community]:
        return await talk.read(lambda c: communities(c, owner))

    assert await found() == []
    nights = NightlyMaintenance(talk.database, talk.clock, MemoryConfig())
    talk.clock.set(NOW.replace(day=2))
    await nights.maintain_due()
    [one] = await found()
    assert (one.circle, one.name) == ("Family", "Dacha")
    assert {person.entity_id for person in family} < set(one.members)
    assert await found(OTHER) == []
    await talk.write(lambda c: requests.ask_forget(c, OWNER, family[0].id, now=talk.clock.now()))
    assert await found() == []
