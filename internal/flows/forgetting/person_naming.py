"""Recognises texts that name a person who is being erased."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.flows.visibility import name_traces
from internal.language.names.forms import case_forms
from internal.people import removal_repository, repository as people
from internal.people.bio import sentences_of_bio
from internal.people.model import Person
from internal.storage.forgetting import traces

_LONG_SENTENCE: Final = 12
"""The shortest bio sentence, in characters, that is searched in stored texts; shorter ones may fit other people."""


@dataclass(frozen=True, slots=True)
class PersonNaming:
    """The profiles of a person with everybody merged into them, and tests that tell texts about them from others.

    `own` are the names that nobody else has, `others` the names of the owner and of other people. `by_name` tests for a
    name alone, `mentions` also for a username, an id, or a sentence of a profile.
    """

    profiles: Sequence[Person]
    own: Sequence[str]
    others: Sequence[str]
    by_name: traces.Holds
    mentions: traces.Holds

    @classmethod
    def of(cls, connection: Connection, user_id: int, person_id: int) -> Self:
        """Reads the profiles of a person. Raises NotFound."""
        ids = {person_id} | people.sources_of(connection, user_id, person_id)
        profiles = removal_repository.profiles(connection, user_id, ids)
        if not profiles:
            raise NotFound(f"there is no person {person_id}")
        others = name_traces.names_of_others(connection, user_id, ids)
        words = name_traces.words_of(name for person in profiles for name in person.names)
        words |= {str(one) for person in profiles for one in (person.username, person.telegram_id) if one}
        phrases = {one for person in profiles for one in sentences_of_bio(person.bio) if len(one) >= _LONG_SENTENCE}
        own = name_traces.own_names(words, others)
        by_name = name_traces.naming_person(own, others)
        pattern = traces.mention_pattern(words | case_forms(words), ids, phrases)
        return cls(profiles, own, others, by_name, traces.either(pattern, by_name))

    @property
    def own_names(self) -> set[str]:
        """The profiles' full names that nobody else has."""
        return {name for person in self.profiles for name in person.names if name in self.own}
