"""Occasions of the next days, with hints for choosing a present."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.flows.views.person_mentions import mentions_of
from internal.graph.store import owner_node_id
from internal.knowledge import service as knowledge
from internal.knowledge.facts import occasions
from internal.knowledge.facts.occasions import YEARLY, Occasion
from internal.knowledge.model import EvidenceLine, Fact, FactFilter
from internal.language.facts.occasion_names import occasion_words
from internal.people import repository as people

TASTES: Final = ("LIKES", "PREFERS", "WANTS", "DISLIKES")
_MOST_QUOTES: Final = 3
"""The most tastes, and past presents, that are shown."""
_LOOKED_THROUGH: Final = 50
"""The number of episodes in which presents are looked for: some years of messages about one person."""
_PRESENT: Final = re.compile(r"\b(?:подар|дар(?:ил|ю|ит)|gift|present|bought (?:him|her|them)|gave (?:him|her))", re.I)


@dataclass(frozen=True, slots=True)
class UpcomingOccasion:
    """An occasion on one day: its kind then, the number of years, and the person, if he has a profile."""

    occasion: Occasion
    kind: str
    on: date
    years: int | None
    person_id: int | None
    own: bool

    @property
    def repeats(self) -> bool:
        """Whether it repeats every year."""
        return self.kind in YEARLY


def coming(connection: Connection, user: User, begin: date, end: date, *, now: datetime) -> list[UpcomingOccasion]:
    """The occasions between two days, both included, earliest first."""
    known = occasions.of_owner(connection, user.user_id, now=now)
    found = [(one, kind, on) for one in known for kind, on in one.falls_on(begin, end)]
    profiles = people.people_at(connection, user.user_id, {one.node_id for one, *_ in found})
    mine = owner_node_id(user.user_id)
    listed = [
        UpcomingOccasion(one, kind, on, one.years(on), profiles.get(one.node_id), own=one.node_id == mine)
        for one, kind, on in found
    ]
    return sorted(listed, key=lambda one: (one.on, one.occasion.name, one.kind))


def year_ahead(connection: Connection, user: User, *, now: datetime) -> list[UpcomingOccasion]:
    """The occasions of the next twelve months."""
    today = local_day(user, now)
    end = occasions.day_of(today.year + 1, today.month, today.day) - timedelta(days=1)
    return coming(connection, user, today, end, now=now)


def tastes(connection: Connection, user_id: int, one: UpcomingOccasion, *, now: datetime) -> list[Fact]:
    """Facts about somebody's tastes, the last learned first."""
    wanted = FactFilter(node_id=one.occasion.node_id, relations=TASTES)
    found = knowledge.latest_facts(connection, user_id, wanted, now=now, limit=2 * _MOST_QUOTES)
    return [fact for fact in found if fact.source == one.occasion.node_id][:_MOST_QUOTES]


def presents(connection: Connection, user: User, one: UpcomingOccasion) -> Sequence[EvidenceLine]:
    """The lines about presents for somebody, newest first."""
    person = people.resolve(connection, user.user_id, one.person_id) if one.person_id is not None else None
    if person is None:
        return ()
    found = mentions_of(connection, person, zone=ZoneInfo(user.tz), limit=_LOOKED_THROUGH)
    lines = [line for mention in found.page for line in mention.lines if _PRESENT.search(line.quote)]
    return list({line.quote: line for line in lines if line.role == "user"}.values())[:_MOST_QUOTES]


def local_day(user: User, now: datetime) -> date:
    """The current day in the owner's zone."""
    return now.astimezone(ZoneInfo(user.tz)).date()


def title(one: UpcomingOccasion, language: str) -> str:
    """The name of an occasion and its person in a language; those of the owner, and events, keep their wording."""
    if one.own or one.kind == "event":
        return one.occasion.text
    return f"{one.occasion.name}: {occasion_words(one.kind, language)}"
