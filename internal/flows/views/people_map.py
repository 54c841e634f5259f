"""The map of an owner's people: typed facts between them, and relations that their profiles state."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from internal.access.model import User
from internal.agents.role_words import kin_of_profiles, people_called
from internal.errors import ModelUnavailable
from internal.graph.store import owner_node_id
from internal.knowledge import fact_repository, service as knowledge
from internal.knowledge.model import FactFilter
from internal.language.facts.kin_questions import ASKS, Ties, kin_lines
from internal.language.kinship.chains import StatedTie
from internal.language.kinship.kinds import kin_of_relation
from internal.language.text.spelling import text_language
from internal.language.worker.calls import LanguageCalls
from internal.language.worker.process_pool import LanguageCallFailed
from internal.people import repository as people
from internal.people.model import Circle, Person, names_of
from internal.scheduling.clock import Clock
from internal.storage.database import Database

_MOST_FACTS = 2_000
_MOST_PROFILES = 100
"""The most profiles read for a relation that no fact states; some 5 ms each, once."""


def read_ties(connection: Connection, user_id: int, now: datetime) -> tuple[Ties, list[Person]]:
    """The ties between the owner and people with a profile, and the people."""
    owner, listed = owner_node_id(user_id), people.listing(connection, user_id)
    known = {person.entity_id: names_of(person) for person in listed}
    relations = {name: kin for name in fact_repository.relations(connection, user_id) if (kin := kin_of_relation(name))}
    stated = []
    if relations:
        wanted = FactFilter(relations=list(relations))
        for fact in knowledge.facts_about(connection, user_id, wanted, now=now, limit=_MOST_FACTS):
            of_kin, end = relations[fact.name]
            who, whom = (fact.source, fact.target) if end == "source" else (fact.target, fact.source)
            if {who, whom} <= {owner, *known}:
                stated.append(StatedTie(who, of_kin, whom, fact.id))
    return Ties(owner, known, stated), listed


class PeopleMaps:
    """Reads the map of an owner's people, and answers who somebody is."""

    def __init__(self, database: Database, clock: Clock, language: LanguageCalls) -> None:
        self._database, self._clock, self._language = database, clock, language

    async def ties(self, user_id: int) -> tuple[Ties, list[Person]]:
        """The ties of an owner; for close relations without a fact, those that profiles state count."""
        now = self._clock.now()
        ties, listed = await self._database.read(lambda c: read_ties(c, user_id, now))
        tied = {node for one in ties.stated for node in (one.who, one.whom)}
        silent = [one for one in listed if one.entity_id not in tied and one.circle is not Circle.OTHER][
            :_MOST_PROFILES
        ]
        if silent:
            called = await self._language.run(kin_of_profiles, silent)
            stated = [
                StatedTie(person.entity_id, called[person.id], ties.owner) for person in silent if person.id in called
            ]
            ties = replace(ties, stated=[*ties.stated, *stated])
        return ties, listed

    async def called(self, user_id: int, words: str) -> list[Person]:
        """The people whom the owner calls so, by a relation to him. Raises what the language process raises."""
        ties, listed = await self.ties(user_id)
        ids = await self._language.run(people_called, words, listed, ties)
        return [person for person in listed if person.id in ids]

    async def answer(self, user: User, question: str) -> Sequence[str]:
        """Answers who somebody is by relation, a line for each; empty for other questions."""
        if not ASKS.search(question):
            return ()
        try:
            ties, _ = await self.ties(user.user_id)
            return await self._language.run(kin_lines, question, ties, text_language(question, user.lang))
        except (ModelUnavailable, LanguageCallFailed):
            return ()
