"""Finds the dates that a sentence names, with the prepositions before them. For the language process."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from internal.language.dates.parse import Dated, end_of, resolve
from internal.language.dates.precision import DatePrecision, date_precision, finest
from internal.language.text.spelling import Language, name_key, words

Kind = Literal["since", "until", "in"]

WORD: Final = re.compile(r"[^\s,;!?()«»\"“”]+")

_SINCE: Final = words("since from starting с со начиная з із зі від починаючи")
_UNTIL: Final = words("until till up до")
_THROUGH: Final = words("through по")
_IN: Final = words("in on в во у на о об")
_DATE_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date in a text; `kind` is the meaning of the preposition before it."""

    start: int
    end: int
    kind: Kind
    moment: datetime
    precision: DatePrecision


Stated = tuple[datetime, Sequence[str], datetime]
"""A day, the lines that state it, and the time at which they were written."""


def stated_precisions(stated: Sequence[Stated], language: Language) -> list[DatePrecision]:
    """The precision with which each day is stated in its lines: 2018-01-01 for "in 2018" is a year only."""
    return [_stated(moment, lines, at, language) for moment, lines, at in stated]


def _stated(moment: datetime, lines: Sequence[str], at: datetime, language: Language) -> DatePrecision:
    named = [one.precision for line in lines for one in dates_in(line, at, language) if one.moment == moment]
    return finest(list(named)) or "day"


def dates_in(text: str, at: datetime, language: Language) -> Iterator[NamedDate]:
    """The dates of a sentence, the longest at each place, with the prepositions before them."""
    tokens = list(WORD.finditer(text))
    index = 0
    while index < len(tokens):
        size, dated = _date_at(text, tokens, index, at, language)
        if dated is None:
            index += 1
            continue
        yield _date_with_preposition(text, tokens, index, size, dated)
        index += size


def _date_at(
    text: str, tokens: Sequence[re.Match[str]], index: int, at: datetime, language: Language
) -> tuple[int, Dated | None]:
    for size in range(min(_DATE_WORDS, len(tokens) - index), 0, -1):
        phrase = text[tokens[index].start() : tokens[index + size - 1].end()].rstrip(".,")
        if name_key(tokens[index][0]) in _SINCE | _UNTIL | _THROUGH | _IN or not _may_be_date(phrase):
            continue
        dated = resolve(phrase, at, language)
        if dated is not None and (dated.precision != "time" or any(map(str.isdigit, phrase))):
            return size, dated
    return 0, None


def _may_be_date(phrase: str) -> bool:
    """Whether a phrase may be a date: one to three digits alone are a number."""
    return not re.fullmatch(r"\d{1,3}", phrase)


def _date_with_preposition(
    text: str, tokens: Sequence[re.Match[str]], index: int, size: int, dated: Dated
) -> NamedDate:
    before = name_key(tokens[index - 1][0]) if index else ""
    end = tokens[index + size - 1].end()
    start = tokens[index - 1].start() if before in _SINCE | _UNTIL | _THROUGH | _IN else tokens[index].start()
    kind: Kind = "since" if before in _SINCE else "until" if before in _UNTIL | _THROUGH else "in"
    moment = end_of(dated) if before in _THROUGH else dated.moment
    return NamedDate(start, end, kind, moment, date_precision(dated.precision))
