"""Hints for the archivist: known people whom a name in a conversation, or another known person, may also be."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from internal.language.names.mentions import find_people
from internal.language.names.person_names import index_of, mentions
from internal.language.names.same_person import same_person_reason
from internal.language.text.spelling import name_key, text_language

MAX_HINTS = 30
"""The most hints in a prompt; a longer list would not be used."""

_USERNAME_PARTS = re.compile(r"[A-Za-z]{3,}")


class Hint(NamedTuple):
    """`mention` may be the person `person_id`; `reason` as in `same_person_reason`, or username."""

    mention: str
    person_id: int
    reason: str


def hints_of_texts(people: Mapping[int, Sequence[str]], texts: Sequence[str]) -> list[Hint]:
    """Hints about names in the texts.

    `people` maps ids to display name, aliases and "@username". A name that is exactly a person's, or that the text
    clearly uses for a person, gives no hint.
    """
    return list(_of_names(people, dict.fromkeys(_names_in(texts))))


def _of_names(people: Mapping[int, Sequence[str]], found: Iterable[str]) -> Iterator[Hint]:
    known = {name_key(name) for names in people.values() for name in names}
    for name in found:
        if name_key(name) in known:
            continue
        if name.startswith("@"):
            yield from _username_hints(people, name)
        elif not mentions(name, people):
            yield from _similar_people(people, name, people)


def _names_in(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for mention in find_people(text, text_language(text, "ru")):
            if mention.username and mention.username == mention.name:
                yield "@" + mention.username
            else:
                yield mention.name


def _username_hints(people: Mapping[int, Sequence[str]], username: str) -> Iterator[Hint]:
    """Hints for a username: @ivan_petrov may be Иван Петров."""
    spelled = " ".join(_USERNAME_PARTS.findall(username))
    for hint in _similar_people(people, spelled, people):
        yield Hint(username, hint.person_id, "username")


def _similar_people(people: Mapping[int, Sequence[str]], name: str, others: Iterable[int]) -> Iterator[Hint]:
    """Hints for those of the others who may have this name too; the index narrows them down first."""
    candidates = {match.person_id for match in index_of(people).matches(name, strict=False)}
    candidates |= {person for person in others if person not in candidates and _with_initials(people[person], name)}
    for person in sorted(candidates & set(others)):
        reasons = (same_person_reason(name, other) for other in people[person] if not other.startswith("@"))
        reason = next((reason for reason in reasons if reason), None)
        if reason:
            yield Hint(name, person, reason)


def _with_initials(names: Sequence[str], name: str) -> bool:
    """Whether one of the names may be this one with initials, which no index contains: И. Петров."""
    return any("." in other for other in (*names, name)) and any(same_person_reason(name, other) for other in names)


def hints_of_pairs(people: Mapping[int, Sequence[str]]) -> list[Hint]:
    """Hints for each pair, once, for the later person; two nominatives (Александр, Александра) are no pair."""
    found = []
    for person, names in people.items():
        later = [other for other in people if other > person]
        for name in names:
            if not name.startswith("@"):
                found += [hint for hint in _similar_people(people, name, later) if hint.reason != "declension"]
    return found
