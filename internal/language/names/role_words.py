"""Which role word belongs to a name: мой начальник Петренко, Оля, моя сестра, Sarah is my manager."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from internal.language.names.kinship import FORMER, MY, Relation, relations
from internal.language.text.morphology import dictionary_languages, name_readings, parses
from internal.language.text.spelling import Token, words

_REACH_BEFORE = 3
_REACH_AFTER = 5
_APPOSITION = re.compile(
    r"\s*(?:[,(—–]|-\s|(?:is|was|'s|это|эта|этот|це|то|ведь|тоже)\b)\s*"
    r"(?:(?:is|was|это|це|он|она|він|вона|he|she|то)(?:'s)?\b)?"
)
_WORK = re.compile(
    r"работа(?:ю|ем|ем вместе|ла|л|ет со мной) (?:с|со|вместе)\b|вместе (?:работа|делаем)|работа\w+ вместе|моей команде"
    r"|нашей команде|працю(?:ю|ємо) (?:з|із|разом)|разом (?:\S+ ){0,4}працю|моїй команді|нашій команді"
    r"|\bworks? with\b|\bworking with\b|\b(?:my|our) team\b",
    re.IGNORECASE,
)
_FRIENDLY = re.compile(r"\bдруж(?:у|им|имо|ит|ить)\b|учились вместе|вчилися разом|grew up with|hang out", re.IGNORECASE)
_NAMING = words("зовут звать звали зовуть звати звали називають named called is")
_NOT_BETWEEN = words("и а но или та але чи of and or but до к ко от від из із з с со у в во для from to with at in")
"""Behind these stands somebody else: "записав батька до кардіолога Олега Романюка"."""


@dataclass(frozen=True, slots=True)
class Span:
    """A run of tokens that is one name; `kinds` of its words: first, patronymic, surname, username."""

    start: int
    end: int
    kinds: tuple[str, ...]


def relation_of(
    found: Sequence[Token],
    span: Span,
    text: str = "",
    bounds: tuple[int, int] | None = None,
    spans: Sequence[Span] = (),
) -> Relation | None:
    """The role the words around say this person has to the owner; None if they say none.

    Without `text` only the words directly before the name are asked.
    """
    before = _before(found, span, text)
    if before is not None or not text or bounds is None:
        return before
    return _after(found, span, text, bounds, spans) or _said_by_sentence(found, span, text, bounds, spans)


def attributive(found: Sequence[Token], span: Span) -> bool:
    """Whether the name is a genitive after a role word: жена Петрова speaks of a wife, and of Петров.

    A lone surname that may be either (Петрова) is taken for the genitive; with a first name it agrees with the role.
    """
    if not span.start or not found[span.start].joined:
        return False
    role = found[span.start - 1]
    owned = span.start > 1 and found[span.start - 2].key in MY
    if role.key not in relations() or role.latin or owned:
        return False
    name, own = _name_cases(found, span), _word_cases(role)
    return "gent" in name and "gent" not in own and (span.kinds == ("surname",) or not name & own)


def _before(found: Sequence[Token], span: Span, text: str) -> Relation | None:
    for place in range(span.start - 1, max(span.start - 1 - _REACH_BEFORE, -1), -1):
        if found[place].key in _NOT_BETWEEN or not (found[place + 1].joined or _set_off(found, place, span, text)):
            return None
        meanings = _meanings(found[place])
        named = any(token.key in _NAMING for token in found[place + 1 : span.start])
        if meanings and not attributive(found, span) and (named or _agrees(found, place, span)):
            return _dated(_chosen(meanings), found, place)
        if found[place].capital and not found[place].opens and place + 1 < span.start:
            return None
    return None


def _set_off(found: Sequence[Token], place: int, span: Span, text: str) -> bool:
    """Our CTO, Hiroshi Sato, ...: a comma between an owned role and its name."""
    owned = place > 0 and found[place - 1].key in MY
    return owned and place + 1 == span.start and text[found[place].end : found[span.start].start].strip() == ","


def _after(
    found: Sequence[Token], span: Span, text: str, bounds: tuple[int, int], spans: Sequence[Span]
) -> Relation | None:
    rest = text[found[span.end - 1].end : bounds[1]]
    opening = _APPOSITION.match(rest)
    if opening is None or not opening.group().strip():
        return None
    limit = next((other.start for other in spans if other.start >= span.end), len(found))
    for place in range(span.end, min(span.end + _REACH_AFTER, limit)):
        if found[place].start >= bounds[1]:
            return None
        meanings = _meanings(found[place])
        if meanings and not _owns_another(found, place, text):
            return _dated(_chosen(meanings), found, place)
    return None


def _owns_another(found: Sequence[Token], place: int, text: str) -> bool:
    """Tom, her brother's neighbour: a role that belongs to somebody else."""
    before = found[place - 1].key if place else ""
    return before in {"his", "her", "their", "его", "её", "ее", "их", "його", "її", "їх", "your", "твой", "твоя"} or (
        text[found[place].end : found[place].end + 1] in ("'", "’")
    )


def _said_by_sentence(
    found: Sequence[Token], span: Span, text: str, bounds: tuple[int, int], spans: Sequence[Span]
) -> Relation | None:
    inside = [other for other in spans if bounds[0] <= found[other.start].start < bounds[1]]
    sentence = text[bounds[0] : bounds[1]]
    if len(inside) != 1 or inside[0] != span:
        return None
    if _WORK.search(sentence):
        return Relation("", "Work_Inner", "en", None)
    return Relation("", "Friends", "en", None) if _FRIENDLY.search(sentence) else None


def _meanings(token: Token) -> tuple[Relation, ...]:
    key = token.key
    for prefix in ("ex-", "экс-", "екс-"):
        key = key.removeprefix(prefix)
    shouted = token.text.isupper()
    return relations().get(key, ()) if token.opens or shouted or not token.capital else ()


def _chosen(meanings: Sequence[Relation]) -> Relation:
    """A word that means several things (жінка, баба, чоловік) has its first meaning in the table."""
    return meanings[0]


def _dated(relation: Relation, found: Sequence[Token], place: int) -> Relation:
    former = found[place].key.startswith(("ex-", "экс-", "екс-")) or any(
        token.key in FORMER for token in found[max(0, place - 2) : place]
    )
    if former and relation.circle == "Work_Inner":
        return replace(relation, circle="Work_Outer")
    return relation


def _agrees(found: Sequence[Token], place: int, span: Span) -> bool:
    """A role and its name stand in one case: in "брат Оли приехал" Оля is not the brother."""
    if found[place].latin or found[span.start].latin:
        return True
    name, role = _name_cases(found, span), _word_cases(found[place])
    return not name or not role or bool(name & role)


def _name_cases(found: Sequence[Token], span: Span) -> frozenset[str]:
    shared: frozenset[str] = frozenset()
    for token in found[span.start : span.end]:
        cases = frozenset(reading.case for reading in name_readings(token.text) if reading.known)
        shared = cases if not shared else (shared & cases or shared)
    return shared


def _word_cases(token: Token) -> frozenset[str]:
    return frozenset(
        str(parse.tag.case)
        for language in dictionary_languages(token.key)
        if language != "en"
        for parse in parses(token.key, language)
        if parse.tag.case is not None and parse.tag.POS in ("NOUN", "ADJF")
    )
