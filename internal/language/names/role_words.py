"""Finds the role word of a name: мой начальник Петренко, Оля, моя сестра, Sarah is my manager."""

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
"""Somebody else follows these: "записав батька до кардіолога Олега Романюка"."""


@dataclass(frozen=True, slots=True)
class Span:
    """A run of tokens that is one name; `kinds` of its words: first, patronymic, surname, username."""

    start: int
    end: int
    kinds: tuple[str, ...]


def relation_of(
    text_tokens: Sequence[Token],
    span: Span,
    text: str = "",
    bounds: tuple[int, int] | None = None,
    spans: Sequence[Span] = (),
) -> Relation | None:
    """The relation to the owner that the words around a name state, or None.

    Without `text` only the words directly before the name are read.
    """
    before = _before(text_tokens, span, text)
    if before is not None or not text or bounds is None:
        return before
    return _after(text_tokens, span, text, bounds, spans) or _stated_by_sentence(text_tokens, span, text, bounds, spans)


def is_genitive_of_role(text_tokens: Sequence[Token], span: Span) -> bool:
    """Whether the name is a genitive after a role word: жена Петрова is about a wife, and about Петров.

    A lone surname that may be either (Петрова) is taken for the genitive; with a first name it agrees with the
    role.
    """
    if not span.start or not text_tokens[span.start].joined:
        return False
    role = text_tokens[span.start - 1]
    owned = span.start > 1 and text_tokens[span.start - 2].key in MY
    if role.key not in relations() or role.latin or owned:
        return False
    name_cases, role_cases = _name_cases(text_tokens, span), _word_cases(role)
    return (
        "gent" in name_cases
        and "gent" not in role_cases
        and (span.kinds == ("surname",) or not name_cases & role_cases)
    )


def _before(text_tokens: Sequence[Token], span: Span, text: str) -> Relation | None:
    for position in range(span.start - 1, max(span.start - 1 - _REACH_BEFORE, -1), -1):
        if text_tokens[position].key in _NOT_BETWEEN or not (
            text_tokens[position + 1].joined or _set_off(text_tokens, position, span, text)
        ):
            return None
        meanings = _meanings(text_tokens[position])
        named = any(token.key in _NAMING for token in text_tokens[position + 1 : span.start])
        if meanings and not is_genitive_of_role(text_tokens, span) and (named or _agrees(text_tokens, position, span)):
            return _former_or_present(_first_meaning(meanings), text_tokens, position)
        if text_tokens[position].capital and not text_tokens[position].opens and position + 1 < span.start:
            return None
    return None


def _set_off(text_tokens: Sequence[Token], position: int, span: Span, text: str) -> bool:
    """Whether a comma stands between an owned role and its name: Our CTO, Hiroshi Sato, ..."""
    owned = position > 0 and text_tokens[position - 1].key in MY
    return (
        owned
        and position + 1 == span.start
        and text[text_tokens[position].end : text_tokens[span.start].start].strip() == ","
    )


def _after(
    text_tokens: Sequence[Token], span: Span, text: str, bounds: tuple[int, int], spans: Sequence[Span]
) -> Relation | None:
    rest = text[text_tokens[span.end - 1].end : bounds[1]]
    opening = _APPOSITION.match(rest)
    if opening is None or not opening.group().strip():
        return None
    limit = next((other.start for other in spans if other.start >= span.end), len(text_tokens))
    for position in range(span.end, min(span.end + _REACH_AFTER, limit)):
        if text_tokens[position].start >= bounds[1]:
            return None
        meanings = _meanings(text_tokens[position])
        if meanings and not _owns_another(text_tokens, position, text):
            return _former_or_present(_first_meaning(meanings), text_tokens, position)
    return None


def _owns_another(text_tokens: Sequence[Token], position: int, text: str) -> bool:
    """Whether a role belongs to somebody else: Tom, her brother's neighbour."""
    before = text_tokens[position - 1].key if position else ""
    return before in {"his", "her", "their", "его", "её", "ее", "их", "його", "її", "їх", "your", "твой", "твоя"} or (
        text[text_tokens[position].end : text_tokens[position].end + 1] in ("'", "’")
    )


def _stated_by_sentence(
    text_tokens: Sequence[Token], span: Span, text: str, bounds: tuple[int, int], spans: Sequence[Span]
) -> Relation | None:
    inside = [other for other in spans if bounds[0] <= text_tokens[other.start].start < bounds[1]]
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


def _first_meaning(meanings: Sequence[Relation]) -> Relation:
    """The first meaning in the table of a word with several (жінка, баба, чоловік)."""
    return meanings[0]


def _former_or_present(relation: Relation, text_tokens: Sequence[Token], position: int) -> Relation:
    former = text_tokens[position].key.startswith(("ex-", "экс-", "екс-")) or any(
        token.key in FORMER for token in text_tokens[max(0, position - 2) : position]
    )
    if former and relation.circle == "Work_Inner":
        return replace(relation, circle="Work_Outer")
    return relation


def _agrees(text_tokens: Sequence[Token], position: int, span: Span) -> bool:
    """Whether a role and its name are in one case: in "брат Оли приехал" Оля is not the brother."""
    if text_tokens[position].latin or text_tokens[span.start].latin:
        return True
    name, role = _name_cases(text_tokens, span), _word_cases(text_tokens[position])
    return not name or not role or bool(name & role)


def _name_cases(text_tokens: Sequence[Token], span: Span) -> frozenset[str]:
    shared: frozenset[str] = frozenset()
    for token in text_tokens[span.start : span.end]:
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
