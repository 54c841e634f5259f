"""Reads the time in the owner's correction of a fact: since when, until when, whether it is over or was never so.

"Anna works for Zalando since May 2024", "больше не работает", "Анна не мешкає в Берліні". For the language
process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from internal.language.dates.parse import Dated, end_of, resolve
from internal.language.facts.overlap import same_stem
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import Language, name_key, words

Status = Literal["holds", "over", "denied"]

MAX_READ: Final = 300
"""Characters; a longer correction is taken as words only."""

_SINCE: Final = words("since from starting с со начиная з із зі від починаючи")
_UNTIL: Final = words("until till up до")
_THROUGH: Final = words("through по")
_IN: Final = words("in on в во у на о об")
_DATE_WORDS: Final = 6

_WORD = re.compile(r"[^\s,;!?()«»\"“”]+")
_OPENING = re.compile(
    r"^\s*(?:нет|неа|ні|no|nope|actually|да|так|на самом деле|насправді|вообще-то|взагалі-то)\s*[,.!:—–-]+\s*",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"(?<!\w)(?:no longer|(?:not|\w+n['’]t)\b.{1,60}\b(?:any ?more|any longer)|stopped|quit|resigned|has left|have left"
    r"|left|used to|больше не|уже не|перестал[аи]?|уволил(?:ся|ась|ись)|уш[её]л из|ушла из|съехал[аи]?|бросил[аи]?"
    r"|більше не|вже не|перестав|перестала|звільнив(?:ся|сь)|звільнила(?:ся|сь)|пішов (?:з|із|зі)|пішла (?:з|із|зі)"
    r"|кинув|кинула|з['’]їха(?:в|ла))(?!\w)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?<!\w)(?:(?:does|do|did|is|are|was|were|has|have|had|can|will)(?: not|n['’]t)|not|never|untrue|false|wrong"
    r"|не|никогда|ніколи|нема|немає|неправда|ошибка|помилка)(?!\w)",
    re.IGNORECASE,
)
_NOT_A_DENIAL = re.compile(
    r"(?<!\w)(?:not only|не только|не лише|не тільки|не просто|not just|не раньше|не раніше|no wonder)(?!\w)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"[;:—–]|,\s*\w|\s(?:but|instead|а|но|але|зато|натомість|rather)\s", re.IGNORECASE)
"""After a denial the sentence goes on: then it states what is so instead."""


@dataclass(frozen=True, slots=True)
class Correction:
    """`status` is over or denied only for a sentence that says nothing else. Moments are aware; None = not stated."""

    status: Status
    begins: datetime | None = None
    ends: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Date:
    """A date with the preposition before it."""

    start: int
    end: int
    kind: Literal["since", "until", "in"]
    moment: datetime


def read_correction(old: str, text: str, names: Sequence[str], at: datetime, language: Language) -> Correction:
    """The time stated at `at` (aware) by a correction of the fact `old`, about things called `names`.

    A denial that names something new states another fact, not the end of this one.
    """
    if len(text) > MAX_READ:
        return Correction("holds")
    dates = list(_dates(text, at, language))
    plain = _without_dates(_OPENING.sub("", text), text, dates)
    standing = _status(old, plain, names)
    begins = next((found_date.moment for found_date in dates if found_date.kind == "since"), None)
    ends = next((found_date.moment for found_date in dates if found_date.kind == "until"), None)
    inside = next((found_date.moment for found_date in dates if found_date.kind == "in"), None)
    if standing == "holds":
        return Correction("holds", begins or inside, ends)
    end = begins or ends or inside
    if standing == "denied" and end is None:
        return Correction("denied")
    return Correction("over", None, end or at)


def _status(old: str, text: str, names: Sequence[str]) -> Status:
    if _NOT_A_DENIAL.search(text) or _names_something_new(old, text, names):
        return "holds"
    if _OVER.search(text) and not _OVER.search(old):
        return "over"
    denial = _DENIED.search(text)
    if denial is None or _DENIED.search(old) or _CONTRAST.search(text, denial.end()):
        return "holds"
    return "denied"


def _names_something_new(old: str, text: str, names: Sequence[str]) -> bool:
    """Whether a correction names something, with a capital or a digit, that the fact does not name."""
    known = _sounds(" ".join((old, *names)))
    named = [word for word in _WORD.findall(text)[1:] if word[0].isupper() or word[0].isdigit()]
    return any(not _known(word, known) for word in named if len(word) > 1)


def _known(word: str, known: set[str]) -> bool:
    return any(sound == other or same_stem(sound, other) for sound in _sounds(word) for other in known)


def _sounds(text: str) -> set[str]:
    keys = (name_key(word).strip(".'’") for word in _WORD.findall(text))
    return {sound for word in keys for sound in (skeletons(word) or {word})}


def _without_dates(text: str, whole: str, dates: Sequence[_Date]) -> str:
    """A sentence without its dates and the commas before them."""
    for found_date in dates:
        text = text.replace(whole[found_date.start : found_date.end], " ")
    return re.sub(r"\s+([,.])|[,\s]+$", r"\1", text).rstrip(" ,.")


def _dates(text: str, at: datetime, language: Language) -> Iterator[_Date]:
    """The dates of a sentence, the longest at each place, with the prepositions before them."""
    tokens = list(_WORD.finditer(text))
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


def _date_with_preposition(text: str, tokens: Sequence[re.Match[str]], index: int, size: int, dated: Dated) -> _Date:
    before = name_key(tokens[index - 1][0]) if index else ""
    end = tokens[index + size - 1].end()
    start = tokens[index - 1].start() if before in _SINCE | _UNTIL | _THROUGH | _IN else tokens[index].start()
    if before in _SINCE:
        return _Date(start, end, "since", dated.moment)
    if before in _UNTIL:
        return _Date(start, end, "until", dated.moment)
    if before in _THROUGH:
        return _Date(start, end, "until", end_of(dated))
    return _Date(start, end, "in", dated.moment)
