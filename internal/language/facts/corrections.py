"""Reads the time in the owner's correction of a fact: since when, until when, whether it ended or was never true.

"Anna works for Zalando since May 2024", "больше не работает", "Анна не мешкає в Берліні". For the language
process.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from internal.language.dates.in_text import WORD, NamedDate, dates_in
from internal.language.dates.precision import DatePrecision
from internal.language.facts.overlap import same_stem
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import Language, name_key

Status = Literal["holds", "over", "denied"]

MAX_READ: Final = 300
"""The most characters of a correction whose time is read; a longer one only gives new words."""

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
    r"(?<!\w)(?:(?:does|do|did|is|are|was|were|has|have|had|can|will)(?: not|n['’]t)"
    r"|(?:has|have|had|is|are) no|not|never|untrue|false|wrong|mistake"
    r"|не|нет|никогда|ніколи|нема|немає|неправда|ошибка|помилка)(?!\w)",
    re.IGNORECASE,
)
_NOT_A_DENIAL = re.compile(
    r"(?<!\w)(?:not only|не только|не лише|не тільки|не просто|not just|не раньше|не раніше|no wonder)(?!\w)",
    re.IGNORECASE,
)
_MISTAKE = re.compile(
    r"(?:^|[,;:—–-])\s*(?:[^\W\d][\w'’]*\s+){0,3}?(?:ошибк\w+|помилк\w+|неправда|mistake|error|wrong|untrue)\W*$",
    re.IGNORECASE,
)
"""The last clause of a sentence that only says that it is a mistake."""
_CONTRAST = re.compile(r"[;:—–]|,\s*\w|\s(?:but|instead|а|но|але|зато|натомість|rather)\s", re.IGNORECASE)
"""A continuation after a denial, which states what is true instead."""


@dataclass(frozen=True, slots=True)
class Correction:
    """`status` is over or denied only if the sentence says nothing else. Moments are aware; None: not stated."""

    status: Status
    begins: datetime | None = None
    ends: datetime | None = None
    begins_as: DatePrecision | None = None
    ends_as: DatePrecision | None = None


def read_correction(old: str, text: str, names: Sequence[str], at: datetime, language: Language) -> Correction:
    """The time stated by a correction, written at `at` (aware), of the fact `old` about things called `names`.

    A denial that names something new states another fact, not the end of this one.
    """
    if len(text) > MAX_READ:
        return Correction("holds")
    dates = list(dates_in(text, at, language))
    plain = _without_dates(_OPENING.sub("", text), text, dates)
    standing = _status(old, plain, names)
    begins, ends, inside = (next((one for one in dates if one.kind == kind), None) for kind in ("since", "until", "in"))
    if standing == "holds":
        return _corrected("holds", begins or inside, ends)
    end = begins or ends or inside
    if standing == "denied" and (end is None or _MISTAKE.search(plain)):
        return Correction("denied")
    return _corrected("over", None, end) if end is not None else Correction("over", None, at)


def _corrected(status: Status, begins: NamedDate | None, ends: NamedDate | None) -> Correction:
    found = Correction(status)
    if begins is not None:
        found = replace(found, begins=begins.moment, begins_as=begins.precision)
    return found if ends is None else replace(found, ends=ends.moment, ends_as=ends.precision)


def _status(old: str, text: str, names: Sequence[str]) -> Status:
    if _NOT_A_DENIAL.search(text) or _names_something_new(old, text, names):
        return "holds"
    if _OVER.search(text) and not _OVER.search(old):
        return "over"
    denial, mistake = _DENIED.search(text), _MISTAKE.search(text)
    stated_until = mistake.start() if mistake else len(text)
    if denial is None or _DENIED.search(old) or _CONTRAST.search(text, denial.end(), stated_until):
        return "holds"
    return "denied"


def _names_something_new(old: str, text: str, names: Sequence[str]) -> bool:
    """Whether a correction names something, with a capital or a digit, that the fact does not name."""
    known = _sounds(" ".join((old, *names)))
    named = [word for word in WORD.findall(text)[1:] if word[0].isupper() or word[0].isdigit()]
    return any(not _is_known_word(word, known) for word in named if len(word) > 1)


def _is_known_word(word: str, known: set[str]) -> bool:
    return any(sound == other or same_stem(sound, other) for sound in _sounds(word) for other in known)


def _sounds(text: str) -> set[str]:
    keys = (name_key(word).strip(".'’") for word in WORD.findall(text))
    return {sound for word in keys for sound in (skeletons(word) or {word})}


def _without_dates(text: str, whole: str, dates: Sequence[NamedDate]) -> str:
    """A sentence without its dates and the commas before them."""
    for found_date in dates:
        text = text.replace(whole[found_date.start : found_date.end], " ")
    return re.sub(r"\s+([,.])|[,\s]+$", r"\1", text).rstrip(" ,.")
