"""Which known people a name in a conversation, or another known person, may also be: hints for the archivist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from internal.language.names.mentions import find_people
from internal.language.names.person_names import index_of, mentions
from internal.language.names.same_person import same_person_reason
from internal.language.text.spelling import name_key, text_language

MAX_HINTS = 30
"""A prompt with more suggestions than this is read for none of them."""

_USERNAME_PARTS = re.compile(r"[A-Za-z]{3,}")


class Hint(NamedTuple):
    """`mention` may be the person `person_id`; `reason` as in `same_person_reason`, or username."""

    mention: str
    person_id: int
    reason: str


def hints(people: Mapping[int, Sequence[str]], texts: Sequence[str]) -> list[Hint]:
    """At most 30 suggestions, those about names in the texts first, then pairs of known people that look the same.

    `people` gives display name, aliases and "@username" of each. A name that is exactly somebody's, or that the text
    clearly uses for somebody, is no question and gives no hint.
    """
    found = dict.fromkeys([*_of_texts(people, texts), *_of_pairs(people)])
    return list(found)[:MAX_HINTS]


def _of_texts(people: Mapping[int, Sequence[str]], texts: Sequence[str]) -> Iterator[Hint]:
    known = {name_key(name) for names in people.values() for name in names}
    for name in dict.fromkeys(_named(texts)):
        if name_key(name) in known:
            continue
        if name.startswith("@"):
            yield from _of_username(people, name)
        elif not mentions(name, people):
            yield from _resembling(people, name, people)


def _named(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for sighting in find_people(text, text_language(text, "ru")):
            if sighting.username and sighting.username == sighting.name:
                yield "@" + sighting.username
            else:
                yield sighting.name


def _of_username(people: Mapping[int, Sequence[str]], username: str) -> Iterator[Hint]:
    """@ivan_petrov may be Иван Петров."""
    spelled = " ".join(_USERNAME_PARTS.findall(username))
    for hint in _resembling(people, spelled, people):
        yield Hint(username, hint.person_id, "username")


def _resembling(people: Mapping[int, Sequence[str]], name: str, others: Iterable[int]) -> Iterator[Hint]:
    """Those of the others one of whose names may be this one; the index narrows them down first."""
    near = {match.person_id for match in index_of(people).matches(name, strict=False)}
    near |= {person for person in others if person not in near and _shorter_inside(people[person], name)}
    for person in sorted(near & set(others)):
        reasons = (same_person_reason(name, other) for other in people[person] if not other.startswith("@"))
        reason = next((reason for reason in reasons if reason), None)
        if reason:
            yield Hint(name, person, reason)


def _shorter_inside(names: Sequence[str], name: str) -> bool:
    """Initials are in no index: И. Петров."""
    return any("." in other for other in (*names, name)) and any(same_person_reason(name, other) for other in names)


def _of_pairs(people: Mapping[int, Sequence[str]]) -> Iterator[Hint]:
    """Each pair once, told of the later person; case forms of two nominatives (Александр, Александра) are no pair."""
    for person, names in people.items():
        later = [other for other in people if other > person]
        for name in names:
            if not name.startswith("@"):
                for hint in _resembling(people, name, later):
                    if hint.reason != "declension":
                        yield hint
