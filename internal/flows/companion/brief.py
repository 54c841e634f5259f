"""The brief before meeting somebody: who it is, the last talks, what is open, the people around, what to ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.flows.companion.contacts import open_with
from internal.flows.companion.occasions import UpcomingOccasion, coming, local_day
from internal.flows.views.person_mentions import mentions_of
from internal.flows.views.status import only_asks
from internal.graph.store import owner_node_id
from internal.knowledge import service as knowledge
from internal.knowledge.model import EvidenceLine, Fact, FactFilter
from internal.language.facts.occasion_names import KINDS
from internal.people import repository as people
from internal.people.model import Person
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskKind, TaskState

_EPISODES: Final = 12
_TALKS: Final = 3
_FACTS: Final = 5
_AROUND: Final = timedelta(days=30)
"""The longest time since an occasion that is still mentioned."""
_AHEAD: Final = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief; `facts` name their sources, `talks` are the owner's own lines, `people` facts about others around."""

    person: Person
    facts: Sequence[Fact]
    people: Sequence[Fact]
    talks: Sequence[EvidenceLine]
    still_open: Sequence[Task]
    occasions: Sequence[UpcomingOccasion]

    @property
    def waiting(self) -> Sequence[Task]:
        """Promises to the owner, to ask about."""
        return [one for one in self.still_open if one.kind is TaskKind.WAITING]


def brief(connection: Connection, user: User, person: Person, *, now: datetime) -> Brief:
    """Reads half a page about a person, the newest first."""
    wanted = FactFilter(node_id=person.entity_id)
    latest = knowledge.latest_facts(connection, user.user_id, wanted, now=now, limit=40)
    known = list({one.fact: one for one in latest if one.name not in KINDS.values()}.values())  # each sentence once
    ends = {fact.target if fact.source == person.entity_id else fact.source for fact in known}
    others = people.people_at(connection, user.user_id, ends)
    around = {*others, owner_node_id(user.user_id)}
    beside = [one for one in known if {one.source, one.target} - {person.entity_id} <= around]
    found = mentions_of(connection, person, zone=ZoneInfo(user.tz), limit=_EPISODES)
    own = [line for one in found.page for line in one.lines if line.role == "user" and line.forwarded_from is None]
    named = tasks.of_lines(connection, user.user_id, [line.message_id or "" for line in own])
    orders = {one.message_id for one in named}
    still_open = open_with(connection, user.user_id, person.id)
    # A promise made before the profile existed has no person, but its line names him.
    open_ids = {one.id for one in still_open}
    nobodys = [one for one in named if one.person_id is None and one.id not in open_ids]
    still_open += [one for one in nobodys if one.state is TaskState.OPEN and one.kind is not TaskKind.CONTACT]
    stated = {one.fact.rstrip(".") for one in known}
    said = [line for line in own if line.message_id not in orders and not only_asks(line.quote)]
    fresh = {line.quote: line for line in said if line.quote.rstrip(".") not in stated}
    newest = sorted(fresh.values(), key=lambda line: line.at, reverse=True)
    today = local_day(user, now)
    shown: dict[str, UpcomingOccasion] = {}
    for one in coming(connection, user, today - _AROUND, today + _AHEAD, now=now):
        if one.person_id == person.id:
            shown.setdefault(one.occasion.fact_id, one)
    return Brief(
        person,
        facts=[one for one in known if one not in beside][:_FACTS],
        people=beside[:_FACTS],
        talks=newest[:_TALKS],
        still_open=still_open,
        occasions=list(shown.values()),
    )
