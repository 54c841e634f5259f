"""Leaves out quotes that sound secret (health, money, private matters) unless they are asked for."""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Final

from internal.agents.model import ResponderRequest
from internal.agents.responder.offline.people_in_dialogue import Subject, people_named_in
from internal.language.discretion.meaning import topic_odds
from internal.language.discretion.sensitivity import Topic, private_topics
from internal.language.names.mentions import find_people
from internal.language.search.subjects import subjects_of
from internal.language.search.terms import query_terms, terms_in, topic_terms
from internal.language.text.spelling import sentence_spans, text_language, words
from internal.language.worker.embedding import passage_states

_CLAUSE: Final = re.compile(
    r"(?<=[,;:—–])\s+|\s+(?=(?:but|and|though|because|но|и|а|хотя|але|та|і|й|хоча|проте|бо)\s)", re.IGNORECASE
)
_NAMES: Final[dict[Topic, re.Pattern[str]]] = {
    "health": re.compile(r"\b(?:health|wellbeing|здоров\w*|самочувств\w*|самопочутт\w*)", re.IGNORECASE),
    "money": re.compile(r"\b(?:money|finances?\b|деньг\w*|финанс\w*|грош\w*|фінанс\w*)", re.IGNORECASE),
}
_SURELY: Final = 1.0
"""Log-odds of a topic that leave no doubt."""
_OF_ALL: Final = words("know new up знать знати дело дела справа справи новый нового новий")
"""Of questions that ask for everything about somebody."""


def topics_named(said: str) -> frozenset[Topic]:
    """The private topics that a question names as such: "how is my health"."""
    return frozenset(topic for topic, name in _NAMES.items() if name.search(said))


def discreet(
    request: ResponderRequest, said: str, known: Sequence[Subject]
) -> tuple[ResponderRequest, Sequence[Subject], Callable[[str], str]]:
    """What is given and the people, without secret sentences and clauses beside what answers a question.

    Lines are chosen whole, for one clause leads to the next; the last result takes such clauses from what is quoted. A
    question that only names somebody asks for everything.
    """
    language = text_language(said, request.owner.language)
    names = [name for one in people_named_in(said, known) for name in one.names] + [
        p.name for p in find_people(said, language)
    ]
    people = {term for name in names for word in query_terms(name) for term, _ in word} | _OF_ALL
    meant = [{term for term, _ in word} for word in topic_terms(said)]
    asked = {term for word in meant if not word & people for term in word}
    if not asked:
        return request, known, str
    topics, subjects = private_topics(said) | topics_named(said), subjects_of(said)

    def fits(part: str) -> bool:
        return not _secrets(part, topics, subjects) or bool(asked & terms_in(part) or subjects & subjects_of(part))

    def kept(text: str) -> str:
        if not private_topics(text) - topics:
            return text
        parts = (_CLAUSE.split(text[start:end].strip()) for start, end in sentence_spans(text))
        left = [(" ".join(filter(fits, part)).rstrip(" ,;:—–-"), part) for part in parts]
        return " ".join(one if one.endswith(part[-1]) else f"{one}." for one, part in left if one) or text

    given = replace(
        request,
        facts=[replace(one, text=kept(one.text)) for one in request.facts],
        memories=[replace(one, text=kept(one.text)) for one in request.memories],
    )
    people_kept = [
        replace(one, news=kept(one.news), person=one.person and replace(one.person, bio=kept(one.person.bio)))
        for one in known
    ]
    return given, people_kept, kept


def _secrets(text: str, topics: Set[Topic], subjects: Set[str]) -> Set[Topic]:
    """The topics of a text that nobody asked for; who "sits in" an office is in no prison."""
    found = private_topics(text) - topics
    if "legal" not in found or not subjects & {"work", "study"}:
        return found
    return found - ({"legal"} if topic_odds(text, passage_states([text])[0])["legal"] < _SURELY else set())
