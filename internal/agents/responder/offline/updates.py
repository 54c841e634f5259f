"""Finds the later line that updates an older one: "he left the mall" and, hours later, "on a welding course now".

Lines are weighed by a few signs and by how near in meaning they are to the older one. The weights were learned from 190
changes of jobs, homes, partners, cars, pets and schools in three languages, each amid other talk.
"""

import re
from collections.abc import Sequence, Set
from typing import Final

from internal.agents.responder.offline.asked_people import SPEAKER, AskedPeople
from internal.agents.responder.offline.said_line import SaidLine
from internal.language.commands.vocabulary import readings
from internal.language.discretion.meaning import usual
from internal.language.facts.occasions import is_occasion
from internal.language.names.places import place_ids
from internal.language.search.subjects import subjects_of, tells_change, tells_state
from internal.language.search.terms import terms_in
from internal.language.text.linear_model import Vector
from internal.language.text.spelling import tokens
from internal.language.worker.embedding import embed_queries
from internal.text_caches import cached

_MOST: Final = 8
"""Lines whose vectors are compared, those with the best signs: 5 ms for one not seen before."""
_LEAST: Final = -0.4
"""Log-odds from which a line counts as an update: 3 of 4 are found, 1 of 20 is wrong."""
_ENDED: Final = -1.6
"""The same where the older state is known to be over."""
_USUAL: Final = -6.0
_NEAR: Final = 63.6
"""What the distance of a vector from the usual counts."""
_QUANTITIES: Final = frozenset({"pay", "weight", "height"})
"""Subjects whose news is a number."""
_NUMBER: Final = re.compile(r"\d")
_BEGINNING: Final = 4
"""Words of a line whose verb tells who does it."""


def newest_update(
    older: str,
    later: Sequence[SaidLine],
    people: AskedPeople,
    subjects: Set[str],
    besides: Set[str],
    *,
    ended: bool = False,
) -> SaidLine | None:
    """The line that most likely updates an older text; `besides` are the terms that a question asks with.

    `ended`: what the older text says is known to be over, so that a line may well tell what came instead.
    """
    known = terms_in(older)
    answering = known - besides

    def signs(line: SaidLine) -> float:
        there, of = terms_in(line.text), subjects_of(line.text)
        of = of | {"home"} if "home" in subjects and not there.isdisjoint(place_ids()) else of
        found = 1.0 * bool(of & subjects) - 0.85 * bool(subjects and of - subjects) + 1.8 * tells_change(line.text)
        named = people.named and people.same(line.text, there)
        return found + 1.4 * bool(answering & there) + 1.2 * named

    def may_update(line: SaidLine) -> bool:
        of = subjects_of(line.text)
        beside = bool(of and subjects) and not of & subjects and not answering & terms_in(line.text)
        beside = beside or of_other_days(line.text, older, people)
        beside = beside or not states(subjects, line.text)
        stated = not (line.speaker or line.in_file) and tells_state(line.text)
        return stated and not beside and people.may_go_on(line.text) and not terms_in(line.text) <= known

    likely = sorted(((signs(line), line) for line in filter(may_update, later)), key=lambda one: -one[0])[:_MOST]
    odds = [
        (sign + _of_whom(line, people, ended=ended) + _NEAR * _nearness(line.text, older), line)
        for sign, line in likely
    ]
    best = max(odds, key=lambda one: one[0], default=None)
    return best[1] if best is not None and best[0] + _USUAL > (_ENDED if ended else _LEAST) else None


def states(subjects: Set[str], text: str) -> bool:
    """Whether a line may tell what is asked: news of a quantity has a word of it, or a number and no other subject."""
    of = subjects_of(text)
    return subjects.isdisjoint(_QUANTITIES) or bool(of & subjects if of else _NUMBER.search(text))


def of_other_days(text: str, older: str, people: AskedPeople) -> bool:
    """Whether a line tells of a birthday or another day, and the older text does not, or somebody's other news."""
    if is_occasion(older):
        return not is_occasion(text) and people.named and people.same(text, terms_in(text))
    return is_occasion(text)


def _of_whom(line: SaidLine, people: AskedPeople, *, ended: bool) -> float:
    """What speaks against a line's being about those asked about: another subject, or a verb in another person."""
    if people.named and people.same(line.text, terms_in(line.text)):
        return 0.0
    begins = [token.key for token in tokens(line.text)[:_BEGINNING]]
    marks = frozenset[str]().union(*(marks for word in begins for _, marks in readings(word)[:1]))
    another = ("1per" if people.named else "3per") in marks
    if people.begins_with_somebody(line.text):
        return -2.1 - 1.4 * another
    elliptic = people.named and not (another or ended) and SPEAKER.isdisjoint(begins)
    return -1.4 * another - 1.1 * elliptic


def _nearness(line: str, older: str) -> float:
    return float((_vector(line) - usual()) @ _vector(older))


@cached(2_000)
def _vector(text: str) -> Vector:
    vector: Vector = embed_queries([text])[0]
    return vector
