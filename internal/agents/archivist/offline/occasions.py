"""Finds birthdays, weddings and other occasions in a sentence, as facts about the people named there."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from internal.agents.archivist.offline.bio_quotes import cleaned
from internal.agents.archivist.offline.kinship import gender_fits, gender_of
from internal.agents.archivist.offline.people import Dossier, Reading, SentenceReading
from internal.language.facts.occasion_names import KINDS, day_attributes, day_words, occasion_words
from internal.language.facts.occasions import OWNER, NamedOccasion, find_occasions
from internal.language.kinship.words import Relation, relations
from internal.language.text.spelling import text_language, tokens
from internal.people.model import Circle

Candidate = tuple[int, int, Dossier | Relation]
"""The position of a person in a sentence, named by name or by a word of kinship."""


def occasion_facts(said: SentenceReading, reading: Reading) -> Iterator[tuple[dict[str, Any], Dossier | None]]:
    """The occasions of one sentence as facts without their source, each with its person; None = the owner."""
    candidates = _candidates(said)
    language = text_language(said.text, reading.language)
    spans = [(start, end) for start, end, _ in candidates]
    for found in find_occasions(said.text, said.line.at, spans, language):
        whose = None if found.whose == OWNER else candidates[found.whose][2]
        dossier = reading.relative(whose) if isinstance(whose, Relation) else whose
        if dossier is not None:
            dossier.lines.add(said.line.number)
        yield _fact(found, dossier, said, reading.language), dossier


def _fact(found: NamedOccasion, dossier: Dossier | None, said: SentenceReading, language: str) -> dict[str, Any]:
    day = day_words(found.month, found.day, language)
    dated = f"{day} {found.year}" if found.year else day
    what = occasion_words(found.kind, language)
    text = f"{max(dossier.names, key=len)}: {what}, {dated}" if dossier else f"{cleaned(said.text)} ({dated})"
    return {
        "relation": KINDS[found.kind],
        "target": day,
        "fact": text,
        "attributes": day_attributes(found.month, found.day, found.year),
        "evidence": [said.line.number],
    }


def _candidates(said: SentenceReading) -> list[Candidate]:
    """The people who may be meant; "Tom's mom" and "мама Тома" are not the owner's relatives."""
    named: list[Candidate] = [(one.start - said.start, one.end - said.start, dossier) for one, dossier in said.named]
    roles = {one.start - said.start: gender_of(replace(one, gender=None)) for one, _ in said.named if one.role}
    found = list(named)
    for token in tokens(said.text):
        kin = next((one for one in relations().get(token.key, ()) if one.circle == Circle.FAMILY.value), None)
        if kin is None or kin.plural or any(start <= token.start < end for start, end, _ in named):
            continue
        of = [
            one for one in named if said.text[token.end : one[0]].isspace() or _possessed(said.text, one, token.start)
        ]
        if not of:
            found.append((token.start, token.end, kin))
        elif not gender_fits(roles.get(of[0][0], _NOBODY), kin.gender):
            found = [one for one in found if one is not of[0]]
    return sorted(found, key=lambda one: one[0])


_NOBODY: Final[Any] = "nobody"
"""The gender of a name without a role word, which fits no other."""


def _possessed(text: str, one: Candidate, offset: int) -> bool:
    between = text[one[1] : offset].strip()
    return one[1] < offset and between in ("'s", "’s", "'", "’")
