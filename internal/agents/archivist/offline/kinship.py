"""Resolves kinship words and pronouns that are the subject of a sentence: "Батько переїхав до ..."."""

import re
from collections.abc import Iterator, Mapping

from internal.agents.archivist.offline import fact_patterns as shapes
from internal.agents.role_words import calling
from internal.language.kinship.kinds import kin_of_word
from internal.language.kinship.words import MY, Relation, relations
from internal.language.text.morphology import Gender
from internal.language.text.spelling import name_key, tokens, words
from internal.people.model import Circle, Person

_HE = words("он він he")
_PRONOUN = re.compile(
    rf"(?:[,;(—–]|(?:^|\s){shapes.JOINT})\s*(?:and\s+|а\s+|и\s+|і\s+|та\s+)?(?P<pronoun>он|она|він|вона|he|she)\s+{shapes.ADVERBS}$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    rf"(?P<before>.*?)(?P<role>[^\W\d_][\w’'-]*)(?:,[^,.]{{1,40}},)?\s+{shapes.ADVERBS}$", re.IGNORECASE | re.DOTALL
)
_OPENS = re.compile(rf"(?:^|[,;:—–.]\s*|(?:^|\s){shapes.JOINT}\s+)\W*{shapes.ADVERBS}$", re.IGNORECASE)
_MINE = re.compile(rf"(?:^|\W)(?:{'|'.join(sorted(MY))})\s+$", re.IGNORECASE)


def meaning(role: str) -> str:
    """The common key of all role words of one meaning in three languages: mother and мать."""
    kin = kin_of_word(role)
    return f"{kin.kind} {kin.gender}" if kin is not None and kin.gender else name_key(role)


def kin_in(sentence: str) -> Iterator[Relation]:
    """The kinship words of a sentence in the nominative, the case of subjects, in order."""
    for token in tokens(sentence):
        for relation in relations().get(token.key, ())[:1]:
            if relation.circle == Circle.FAMILY.value and not relation.plural and name_key(relation.word) == token.key:
                yield relation


def called_so(role: str, known: Mapping[int, Person]) -> list[int]:
    """The ids of the known relatives whose name or profile has a word of this meaning."""
    return [
        number
        for number, person in known.items()
        if person.circle is Circle.FAMILY
        and meaning(role) in {meaning(one) for one in (*calling(person).roles, *person.names)}
    ]


def kin_before(sentence: str, verb: int) -> str | None:
    """The meaning of the kinship word that is the subject of a verb and the only name of the owner's own relative.

    Other people's relatives ("his brother", "брат Олі", "the mother") do not count.
    """
    found = _SUBJECT.fullmatch(sentence[:verb])
    if found is None or not (_OPENS.search(found["before"]) or _MINE.search(found["before"])):
        return None
    return next((meaning(relation.word) for relation in kin_in(found["role"])), None)


def pronoun_within(sentence: str, verb: int) -> tuple[Gender, int] | None:
    """The gender and position of a pronoun that begins a clause within a sentence right before its verb."""
    found = _PRONOUN.search(sentence[:verb])
    if found is None:
        return None
    return ("masc" if name_key(found["pronoun"]) in _HE else "femn"), found.start("pronoun")


def gender_fits(gender: Gender | None, wanted: Gender | None) -> bool:
    """Whether a word of the wanted gender may mean a person of this gender; True if one is unknown."""
    return gender is None or wanted is None or gender == wanted
