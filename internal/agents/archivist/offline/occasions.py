"""Finds birthdays, weddings and other occasions in a sentence, as facts about the people named there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from internal.agents.archivist.offline.bio_quotes import cleaned
from internal.agents.archivist.offline.kinship import gender_fits
from internal.agents.archivist.offline.people import Dossier, Reading, SentenceReading
from internal.language.facts.occasion_names import KINDS, day_attributes, day_words, occasion_words
from internal.language.facts.occasions import OWNER, NamedOccasion, called_off, find_occasions, parents
from internal.language.facts.statements import Judge, stated
from internal.language.kinship.kinds import kin_of_word
from internal.language.kinship.words import Relation, possessor, relations
from internal.language.names.mention_words import POSSESSIVE, possessor_named
from internal.language.names.mentions import gender_of
from internal.language.text.spelling import name_key, text_language, tokens
from internal.people.model import Circle

Candidate = tuple[int, int, Dossier | Relation]
"""The position of a person in a sentence, named by name or by a word of kinship."""
_CELEBRATIONS: Final = ("wedding", "graduation", "christening", "housewarming")
_OF_ANOTHER: Final = re.compile(rf"(?:^|\s)[А-ЯЁІЇЄҐ](?:{POSSESSIVE.pattern.removesuffix('$')})\s+$")
_KNOWN: Final = re.compile(
    r"(?P<text>(?P<whose>[^:]+): (?P<what>[^,]+), (?P<day>[^\d]*\d+[^\d]*?)(?: \d{4})?)(?: \(.*\))?"
)
"""A fact that states an occasion, as the archivist is shown it: "Tom: wedding, June 5 (since 2026-03-02)"."""
_NOBODY: Final[Any] = "nobody"
"""The gender of a name without a role word, which fits no other."""


def occasion_facts(
    said: SentenceReading, reading: Reading, judge: Judge | None = None
) -> Iterator[tuple[dict[str, Any], Dossier | None]]:
    """The occasions of one sentence as facts without their source, each with its person; None = the owner."""
    candidates = _candidates(said)
    language = text_language(said.text, reading.language)
    spans = [(start, end) for start, end, _ in candidates]
    for found in find_occasions(said.text, said.line.at, spans, language, judge):
        whose = None if found.whose == OWNER else candidates[found.whose][2]
        dossier = reading.relative(whose) if isinstance(whose, Relation) else whose
        if dossier is not None:
            dossier.lines.add(said.line.number)
        yield _fact(found, dossier, said, reading.language), dossier


def ended_occasions(
    said: SentenceReading, reading: Reading, known: Sequence[str], judge: Judge | None = None
) -> Iterator[tuple[dict[str, Any], Dossier]]:
    """The known occasions of people named in a sentence that it calls off, as facts that have ended.

    A judge tells of a sentence in unknown words that it calls off the only celebration known of them.
    """
    kind = called_off(said.text)
    if kind is None and (not known or not said.named or stated(said.text, judge, ("off",)) is None):
        return
    meant = {occasion_words(one, reading.language): one for one in ((kind,) if kind else _CELEBRATIONS)}
    facts = [one for one in map(_KNOWN.fullmatch, known) if one and one["what"] in meant]
    exact = [(one, who) for one in facts for _, who in said.named if one["whose"] in who.names]
    alike = [(one, who) for one in facts for _, who in said.named if _may_be(one["whose"], who)]
    for fact, whose in exact if kind and exact else alike if len(alike) == 1 else ():
        ended = {"relation": KINDS[meant[fact["what"]]], "target": fact["day"], "fact": fact["text"]}
        ended |= {"evidence": [said.line.number], "invalid_at": said.line.at.isoformat(timespec="minutes")}
        yield ended, whose


def _may_be(name: str, who: Dossier) -> bool:
    """Whether a name may be this person's: it has all words of one of his, or one of his has all of its."""
    words = set(name.split())
    return any(words <= set(one.split()) or words >= set(one.split()) for one in who.names)


def _fact(found: NamedOccasion, dossier: Dossier | None, said: SentenceReading, language: str) -> dict[str, Any]:
    day = day_words(found.month, found.day, language)
    dated = f"{day} {found.year}" if found.year else day
    named = f"{max(dossier.names, key=len)}: {occasion_words(found.kind, language)}, {dated}" if dossier else ""
    text = named if named and found.kind != "event" else f"{cleaned(said.text)} ({dated})"
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
    roles = {one.start - said.start: gender_of(replace(one, gender=None)) for one, _ in said.named if one.kin}
    found = [
        one
        for one in named
        if _ITSELF.match(said.text, one[1]) or not possessor_named(name_key(said.text[one[0] : one[1]]))
    ]
    words = tokens(said.text)
    for index, token in enumerate(words):
        own = _ITSELF.match(said.text, token.end) is not None
        mine = relations().get(token.key) or relations().get(possessor(token.key) if own else "", ())
        kin = next((one for one in mine if one.circle == Circle.FAMILY.value), None)
        if kin is None or kin.plural or any(start <= token.start < end for start, end, _ in named):
            continue
        beside = [one for one in named if said.text[token.end : one[0]].isspace()]
        if _OF_ANOTHER.search(said.text[: token.start]) or (token.latin and beside):
            continue  # "Tom's mum", "uncle Ray"
        if index and possessor(words[index - 1].key):
            continue  # "мамина сестра"
        of = beside or [one for one in named if _possessed(said.text, one, token.start)]
        if not of:
            found.append((token.start, token.end, kin))
        elif not gender_fits(roles.get(of[0][0], _NOBODY), kin.gender):
            found = [one for one in found if one is not of[0]]
    found = sorted(found, key=lambda one: one[0])
    born_to = [found[number][2] for number in parents(said.text, [(start, end) for start, end, _ in found])]
    if all(isinstance(one, Relation) and _kind(one) == "spouse" for one in born_to):
        return found
    return [one for one in found if not (isinstance(one[2], Relation) and _kind(one[2]) == "child")]


def _kind(relation: Relation) -> str | None:
    kin = kin_of_word(relation.word)
    return kin.kind if kin is not None else None


_ITSELF: Final = re.compile(
    r"\s+(?:\S+\s+)?(?:д(?:ень|ня|ню|н[её]м)\s|др(?!\w)|днюх|юбил|ювіл|годовщ|річниц|свадь|весілл|им[её]н|імен|вып|вип|новос)",
    re.IGNORECASE,
)
"""An occasion after the possessive of its person: "папин юбилей", not "папина собака родилась"."""


def _possessed(text: str, one: Candidate, offset: int) -> bool:
    between = text[one[1] : offset].strip()
    return one[1] < offset and between in ("'s", "’s", "'", "’")
