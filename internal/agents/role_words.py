"""The role words that a person's stored description has beside the name."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from internal.language.facts.kin_questions import ASKS, Ties, people_of_chain
from internal.language.kinship.kinds import Kin, kin_of_word
from internal.language.kinship.words import FORMER, relations
from internal.language.names.mentions import find_people
from internal.language.names.name_words import name_words
from internal.language.names.person_names import mentions
from internal.language.search.terms import document_terms, topic_terms, words_of
from internal.language.text.morphology import Gender
from internal.language.text.patterns import ANOTHER
from internal.language.text.spelling import name_key, text_language, tokens
from internal.people.model import Person, names_of
from internal.text_caches import cached

_NO_TIES: Final = Ties("", {}, ())
_FORMER: Final = FORMER - {"old", "previous"}


@dataclass(frozen=True, slots=True)
class Calling:
    """Role words in dictionary form (sister, сестра): `roles` beside the person's own name, `loose` without a name."""

    roles: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    gender: Gender | None = None


def calling(person: Person) -> Calling:
    """The role words of a person's bio. A new bio takes some 5 ms."""
    return _calling(names_of(person), person.bio)


@cached(2_000)
def _calling(names: tuple[str, ...], bio: str) -> Calling:
    sightings = find_people(bio, text_language(bio, text_language(" ".join(names))))
    own = [mention for mention in sightings if mentions(mention.name, {0: names})]
    roles = frozenset(mention.role for mention in own if mention.role)
    of_others = frozenset(one.role for one in sightings if one.role and one not in own)
    genders = {mention.gender for mention in own if mention.gender}
    return Calling(roles, roles_of(bio) - roles - of_others, genders.pop() if len(genders) == 1 else None)


def kin_of_profiles(people: Sequence[Person]) -> dict[int, Kin]:
    """The kinship of these people to the owner by the words of their profiles, by id; for the language process."""
    return {person.id: kin for person in people for role in sorted(calling(person).roles) if (kin := kin_of_word(role))}


def roles_of(text: str) -> frozenset[str]:
    """The dictionary forms of all role words of a text."""
    found = tokens(ANOTHER.sub(" ", text))
    return frozenset(role.word for token in found for role in relations().get(token.key, ()))


def people_called(about: str, people: Sequence[Person], ties: Ties = _NO_TIES) -> tuple[int, ...]:
    """The ids of the people whom the owner calls so, by his ties, else by the words of profiles in any language.

    "my sister", "мамин брат", "my former boss"; for the language process.
    """
    roles, former = roles_of(about), _is_former(about)
    if not roles and not former:
        return ()
    if not former and (nodes := people_of_chain(about, ties)) is not None:
        return tuple(one.id for one in people if one.entity_id in nodes)
    own = [(one, calling(one)) for one in people]
    called = [one.id for one, call in own if not roles or _same_role(roles, call.roles | call.loose)]
    return tuple(one.id for one, _ in own if one.id in called and _is_former(one.bio) == former)


def _same_role(asked: Set[str], own: Set[str]) -> bool:
    """Whether two sets of role words have one in common, or one that means the same in another language."""
    kin = {kin for word in own if (kin := kin_of_word(word))}
    meant = (kin_of_word(word) for word in asked)
    return bool(asked & own) or any(
        one.kind == other.kind and (one.gender == other.gender or None in (one.gender, other.gender))
        for one in meant
        if one
        for other in kin
    )


def _is_former(text: str) -> bool:
    return any(token.key in _FORMER for token in tokens(text))


def says_more_than_names(person: Person) -> bool:
    """Whether the bio has a word beyond the person's names: a contact card's bio is only the name."""
    words = {key for name in person.names for word in name_words(name) for key in (word.key, *word.bases)}
    words |= {name_key(person.username or "")}
    return any(token.key not in words for token in tokens(person.bio))


def asks_kinship(said: str, relations: Sequence[str]) -> bool:
    """Whether a question asks only for ties between people; "who is my sister dating" asks for more.

    True for lines about the owner's days, which are in the same block and answer by themselves.
    """
    there = {term for stored in document_terms(relations) for word in words_of(stored) for term in word}
    known = (
        any(term in there or kin_of_word(term) or ASKS.search(term) for term, _ in one) for one in topic_terms(said)
    )
    return not all(" — " in line for line in relations) or all(known)
