"""Reads deadlines and periods: dates as in `parse`, but in the future and up to the end of the named time.

"до кінця року" is the last day of the year, "к весне" the first day of spring, "in May" the last day of the next May.
The rules of `parse` look back, since people mostly write about the past; a goal is in the future.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from internal.language.dates import parse
from internal.language.dates.normalise import canonical
from internal.language.dates.parse import Dated
from internal.language.text.spelling import Language, name_key

Kind = Literal["past", "ahead", "begin", "end"]
"""The use of a date: in the past, as a goal, as the beginning of a period, or as its end."""

_ENDING = re.compile(r"\b(?:конц[аеу]|конец|кінця|кінці|кінець|наприкінці|end)\b(?:\s+of)?(?:\s+the)?")
_BEFORE = re.compile(r"^(?:до|к|ко|by|before|until|till|не позднее|не пізніше)\s+")
_UNIT = re.compile(
    r"^(?:год[ау]?|року|рік|year|месяц[ау]?|місяц[яь]|month|недел[июя]|тижня|тиждень|week|десятилетия|decade)$"
)
_EXPLICIT = re.compile(r"\d{4}|\b\d{1,2}[./]\d{1,2}[./]\d{2}\b")
_DIRECTION = re.compile(
    r"прошл|следующ|будущ|ближайш|минул|наступн|майбутн|найближч|last|next|coming|назад|тому|ago|вчера|завтра|сегодня|вчора"
    r"|сьогодні|today|tomorrow|yesterday"
)
_NEW_YEAR = re.compile(r"(?:нов(?:ый|ого|ому)|нов(?:ий|ого|ому)) (?:год[ау]?|рік|року)|new year(?:'s)?(?: eve| day)?")
_FROM_NOW = "ahead "
"""How `normalise` writes "in two months", which is a day, however long the months are."""

_RECURRING = ("day", "month", "season")


@dataclass(frozen=True, slots=True)
class Period:
    """A period from its first moment to its last day; both aware."""

    begin: datetime
    end: datetime


def resolve_all(phrases: Sequence[tuple[str, datetime, Kind]], language: Language) -> list[datetime | None]:
    """Resolves phrases, each with its time of writing and its kind; one call of the language process."""
    return [resolve(phrase, at, kind, language) for phrase, at, kind in phrases]


def resolve(phrase: str, at: datetime, kind: Kind, language: Language = "en") -> datetime | None:
    """The moment that a phrase written at `at` (aware, in the owner's zone) means; None if it is unknown."""
    if kind in ("past", "begin"):
        dated = parse.resolve(phrase, at, language)
        return dated.moment if dated else None
    text = _NEW_YEAR.sub(f"{at.year + 1}-01-01", name_key(phrase).strip(" .,;!"))
    is_end = _ENDING.search(text) is not None
    is_before = _BEFORE.search(text) is not None
    dated = _parse_unit(
        _BEFORE.sub("", text) if not is_end else _ENDING.sub(" ", _BEFORE.sub("", text)), phrase, at, language
    )
    if dated is None:
        return None
    begins = (is_before and not is_end) or (canonical(text) or "").startswith(_FROM_NOW)
    if kind == "ahead":
        dated = _next_occurrence(dated, text, at, language, begins=begins)
    return dated.moment if begins else last_day(dated)


def period(phrase: str, at: datetime, language: Language = "en") -> tuple[Period, bool] | None:
    """The period that a time marker names, and whether it is a point in time: a day or less."""
    dated = parse.resolve(phrase, at, language)
    return (Period(dated.moment, last_day(dated)), _exact(dated)) if dated else None


def periods(phrases: Sequence[tuple[str, datetime]], language: Language) -> list[tuple[Period, bool] | None]:
    """Calls `period` for each phrase; one call of the language process."""
    return [period(phrase, at, language) for phrase, at in phrases]


def last_day(dated: Dated) -> datetime:
    """Midnight of the last day of a named period; a day is its own last day."""
    return dated.moment if _exact(dated) else parse.end_of(dated) - timedelta(days=1)


def _exact(dated: Dated) -> bool:
    return dated.precision in ("time", "day")


def _parse_unit(text: str, phrase: str, at: datetime, language: Language) -> Dated | None:
    bare = " ".join(text.split()).removeprefix("the ")
    if _UNIT.fullmatch(bare):
        bare = f"this {bare}"
    return parse.resolve(bare, at, language) or parse.resolve(phrase, at, language)


def _next_occurrence(dated: Dated, text: str, at: datetime, language: Language, *, begins: bool) -> Dated:
    """The next occurrence of a yearly or weekly date, unless a year or a direction was stated.

    `begins`: its beginning is meant. "Before autumn", in autumn, is before the next one; a day lasts to its end.
    """
    ends = dated.moment if begins and not _exact(dated) else parse.end_of(dated)
    if dated.precision not in _RECURRING or ends > at or _EXPLICIT.search(text) or _DIRECTION.search(text):
        return dated
    bare = re.sub(r"^(?:до|к|ко|в|у|во|на|by|before|until|till|in|on)\s+", "", text)
    next_one = parse.resolve(f"next {bare}", at, language)
    if next_one is not None and next_one.moment > at:
        return next_one
    try:
        return Dated(dated.moment.replace(year=dated.moment.year + 1), dated.precision)
    except ValueError:  # 29 February
        return dated
