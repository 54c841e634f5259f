"""Whom the owner of a test knows: people in several circles, what is told of them, and the conversations behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection
from support.product.console_product import House

from internal.access import repository as users
from internal.access.model import Role, User, UserState
from internal.chronicle import mention_repository, repository as chronicle
from internal.dialogue import repository as dialogue
from internal.flows.sessions.lifecycle import UNJUDGED
from internal.graph import store
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Episode, Segment
from internal.people import repository as people, service as people_service
from internal.people.model import Circle, Person
from internal.storage.types import new_id

VIRA, LONELY = 300, 301
"""Vira knows people; nobody is known of the other one."""

HOSTILE: Final = "<b onmouseover='document.title=1'>Zed</b>"

_PEOPLE: Final = (
    ("Maria Koval", Circle.FAMILY, 41, "Vira's sister, lives in Lviv.", ("Masha",)),
    ("Mariia K.", Circle.OTHER, 2, "Sends photos.", ()),
    ("Petro Bondar", Circle.WORK_INNER, 17, "Leads the Falcon project.", ("Petya",)),
    ("Olha Savchuk", Circle.FRIENDS, 9, "Runs marathons.", ()),
    (HOSTILE, Circle.WORK_OUTER, 4, "Sells parts.", ()),
)


@dataclass(frozen=True, slots=True)
class Acquaintances:
    """`ids` of people by name; `maria` is her node in the graph, `session` the conversation about her."""

    ids: dict[str, int]
    maria: str
    session: str


async def acquainted(house: House) -> Acquaintances:
    """Both move in and Vira gets to know people, once a house."""
    now = house.app.clock.now()

    def work(connection: Connection) -> Acquaintances:
        move_in(connection, now)
        return acquaint(connection, now)

    if house.rest not in _KNOWN:
        _KNOWN[house.rest] = await house.app.database.write(work)
    return _KNOWN[house.rest]


_KNOWN: Final[dict[str, Acquaintances]] = {}


def move_in(connection: Connection, now: datetime) -> None:
    for user_id, name in ((VIRA, "Vira"), (LONELY, "Lonely")):
        known = User(user_id, Role.OWNER, UserState.ACTIVE, name, None, "en", "Europe/Kyiv", True, now, {})
        users.add(connection, known)


def acquaint(connection: Connection, now: datetime) -> Acquaintances:
    """Maria worked for Rubin and works for Vector now; a conversation and a memory are about her."""
    known = {
        name: people.create(
            connection,
            Person(
                id=0,
                user_id=VIRA,
                entity_id=new_id(),
                display_name=name,
                circle=circle,
                bio=bio,
                aliases=aliases,
                first_seen=now - timedelta(days=200),
                last_seen=now,
                mention_count=count,
            ),
            by="archivist",
            now=now,
        )
        for name, circle, count, bio, aliases in _PEOPLE
    }
    maria = known["Maria Koval"]
    vira = store.ensure_owner_node(connection, VIRA, "Vira", now)
    rubin, vector = (_company(connection, name, now) for name in ("Rubin", "Vector"))
    _told(connection, vira.id, "SISTER_OF", maria, "Maria Koval is Vira's sister.", now - timedelta(days=600), now)
    _works(connection, maria, rubin, "Maria Koval works for Rubin.", now - timedelta(days=500), now)
    _works(connection, maria, vector, "Maria Koval works for Vector.", now - timedelta(days=90), now)
    memory = store.add_node(connection, VIRA, "Memory", {"content": "Tea with Maria by the river."}, now=now)
    store.add_edge(connection, VIRA, "MENTIONS", memory.id, maria.entity_id, {}, now=now)
    return Acquaintances({name: one.id for name, one in known.items()}, maria.entity_id, _talk(connection, maria, now))


def _company(connection: Connection, name: str, now: datetime) -> str:
    return store.add_node(connection, VIRA, "Entity", {"name": name, "type": "organization"}, now=now).id


def _works(connection: Connection, person: Person, company: str, words: str, since: datetime, now: datetime) -> None:
    _told(connection, person.entity_id, "WORKS_FOR", None, words, since, now, target=company, about=person)


def _told(
    connection: Connection,
    source: str,
    relation: str,
    person: Person | None,
    words: str,
    since: datetime,
    now: datetime,
    *,
    target: str = "",
    about: Person | None = None,
) -> None:
    """A fact with the line that says so."""
    meant = person or about
    assert meant is not None
    said = dialogue.add(connection, VIRA, "user", words, now=since)
    episode = Episode(VIRA, new_id(), "message", f"dialogue {since:%Y-%m-%d}", "", "", None, since, now)
    episodes.add_episode(connection, episode, [Segment(1, since, None, said.id)])
    claim = NewClaim(
        source=source,
        relation=relation,
        target=target or meant.entity_id,
        fact=words,
        said_at=since,
        valid_at=since,
        valid_stated=True,
        episode_id=episode.id,
        lines=[ClaimLine(1, words, said.id)],
    )
    knowledge.record_claims(connection, VIRA, [claim], now=now)
    people_service.note_mentions(connection, VIRA, episode.id, {meant.id: [since]}, now=now)
    people.add_evidence(connection, VIRA, meant.id, episode.id, {1: said.id}, operation="created", run_id=None)


def _talk(connection: Connection, person: Person, now: datetime) -> str:
    asked = dialogue.add(connection, VIRA, "user", "Where does Maria work?", now=now)
    UNJUDGED.heard(connection, asked, tz="Europe/Kyiv", now=now)
    said = dialogue.add(connection, VIRA, "assistant", "For Vector.", now=now)
    event = UNJUDGED.answered(connection, said, [asked], tz="Europe/Kyiv", now=now)
    [first, *_] = chronicle.events_of_session(connection, VIRA, event.session_id)
    mention_repository.replace(connection, VIRA, {first.id: {person.entity_id: 5}}, run_id=None)
    return event.session_id
