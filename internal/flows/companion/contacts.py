"""Being in touch: when the owner last met or called somebody, and which people a rhythm means."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.flows.views.person_mentions import mentions_of
from internal.knowledge.model import EvidenceLine
from internal.language.tasks.contacts import contacts_in, named_in
from internal.language.text.spelling import name_key
from internal.language.worker.embedding import judge_statement
from internal.language.worker.process_pool import LanguageWorker
from internal.people import repository as people
from internal.people.circle_words import circles_named
from internal.people.model import Person, names_of
from internal.storage.database import Database
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskKind, TaskState

_LOOKED_THROUGH: Final = 40
"""The number of episodes in which the last contact is looked for."""
_MOST_OF_CIRCLE: Final = 30
"""The most people of a circle whose last contacts are compared."""


@dataclass(frozen=True, slots=True)
class LastContact:
    """The person whom a rhythm means now, and the line about the last contact."""

    person: Person | None
    line: EvidenceLine | None = None


@dataclass(frozen=True, slots=True)
class Contacts:
    """Finds contacts in the owner's own words, in the language process."""

    database: Database
    worker: LanguageWorker

    async def last(self, user: User, person: Person) -> EvidenceLine | None:
        """The newest line in which the owner says that he was in touch with somebody, or None."""
        lines = await self.database.read(lambda c: _lines(c, user, person))
        meetings = await self.worker.run(
            contacts_in, [one.quote for one in lines], {person.id: names_of(person)}, judge_statement
        )
        return next((line for line, meant in zip(lines, meetings, strict=True) if meant), None)

    async def of_rhythm(self, user: User, task: Task) -> LastContact:
        """The person whom to be in touch with by a rhythm; of a circle, the one whose last contact is longest ago."""
        known = await self.database.read(lambda c: people.listing(c, user.user_id))
        if task.person_id is not None:
            person_id = task.person_id
            person = await self.database.read(lambda c: people.resolve(c, user.user_id, person_id))
            meant = [person] if person is not None else []
        else:
            [named] = await self.worker.run(named_in, [task.title], {one.id: names_of(one) for one in known})
            meant = [one for one in known if one.id in named]
            meant = meant or [one for one in known if one.circle in circles_named(task.title)]
        found = [LastContact(one, await self.last(user, one)) for one in meant[:_MOST_OF_CIRCLE]]
        return min(found, key=_contact_time, default=LastContact(None))


def open_with(connection: Connection, user_id: int, person_id: int) -> list[Task]:
    """The open tasks, promises and waitings with somebody, without the rhythm itself."""
    meant = {person_id, *people.sources_of(connection, user_id, person_id)}
    found = [with_person(connection, one) for one in tasks.pending(connection, user_id)]
    about = [one for one in found if one.person_id in meant and one.state is TaskState.OPEN]
    return [one for one in about if one.kind is not TaskKind.CONTACT]


def with_person(connection: Connection, task: Task) -> Task:
    """A task of waiting for somebody, with his id even if his profile was created after the promise."""
    if task.kind is not TaskKind.WAITING or task.person_id is not None:
        return task
    named = people.by_name_keys(connection, task.user_id, {name_key(task.title.partition(":")[0])})
    return replace(task, person_id=named[0].id) if len(named) == 1 else task


def _contact_time(one: LastContact) -> tuple[bool, datetime | None]:
    return (one.line is not None, one.line.at if one.line is not None else None)


def _lines(connection: Connection, user: User, person: Person) -> Sequence[EvidenceLine]:
    found = mentions_of(connection, person, zone=ZoneInfo(user.tz), limit=_LOOKED_THROUGH)
    own = [line for one in found.page for line in one.lines if line.role == "user" and line.forwarded_from is None]
    return sorted(
        {(line.episode_id, line.segment): line for line in own}.values(), key=lambda line: line.at, reverse=True
    )
