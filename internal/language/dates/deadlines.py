"""Dates by which something is to be reached, and periods: as in `parse`, but ahead, and to the end of what is named.

"до кінця року" is its last day, "к весне" the first day of spring, "in May" the last of the May to come. The rules of
`parse` look back, for that is what people tell of; a goal lies ahead.
"""

from __future__ import annotations

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
"""What a date is of: what has been, what is aimed at, where a period begins, where it ends."""

_ENDING = re.compile(r"\b(?:конц[аеу]|конец|кінця|кінці|кінець|наприкінці|end)\b(?:\s+of)?(?:\s+the)?")
_BEFORE = re.compile(r"^(?:до|к|ко|by|before|until|till|не позднее|не пізніше)\s+")
_UNIT = re.compile(
    r"^(?:the\s+)?(?:год[ау]?|року|рік|year|месяц[ау]?|місяц[яь]|month|недел[июя]|тижня|тиждень|week|десятилетия|decade)$"
)
_EXPLICIT = re.compile(r"\d{4}|\b\d{1,2}[./]\d{1,2}[./]\d{2}\b")
_TURNED = re.compile(
    r"прошл|следующ|будущ|ближайш|минул|наступн|майбутн|найближч|last|next|coming|назад|тому|ago|вчера|завтра|сегодня|вчора"
    r"|сьогодні|today|tomorrow|yesterday"
)
_NEW_YEAR = re.compile(r"(?:нов(?:ый|ого|ому)|нов(?:ий|ого|ому)) (?:год[ау]?|рік|року)|new year(?:'s)?(?: eve| day)?")
_FROM_NOW = "ahead "
"""How `date_words` writes "in two months": that is a day, however long the months are."""

_SHIFTED = ("day", "month", "season")


@dataclass(frozen=True, slots=True)
class Period:
    """From its first moment to its last day; aware."""

    begin: datetime
    end: datetime


def resolve_all(asked: Sequence[tuple[str, datetime, Kind]], language: Language) -> list[datetime | None]:
    """One answer for each phrase, the time it was said at, and what it is of; for one call of the language process."""
    return [resolve(phrase, at, kind, language) for phrase, at, kind in asked]


def resolve(phrase: str, at: datetime, kind: Kind, language: Language = "en") -> datetime | None:
    """The moment a phrase means, said at `at` (aware, in the owner's zone); None if that cannot be known."""
    if kind in ("past", "begin"):
        found = parse.resolve(phrase, at, language)
        return found.moment if found else None
    text = _NEW_YEAR.sub(f"{at.year + 1}-01-01", name_key(phrase).strip(" .,;!"))
    ending = _ENDING.search(text) is not None
    before = _BEFORE.search(text) is not None
    found = _named(
        _BEFORE.sub("", text) if not ending else _ENDING.sub(" ", _BEFORE.sub("", text)), phrase, at, language
    )
    if found is None:
        return None
    begins = (before and not ending) or (canonical(text) or "").startswith(_FROM_NOW)
    if kind == "ahead":
        found = _ahead(found, text, at, language, begins=begins)
    return found.moment if begins else last_day(found)


def period(phrase: str, at: datetime, language: Language = "en") -> tuple[Period, bool] | None:
    """What a time marker's own words name, and whether that is a point: a day or less."""
    found = parse.resolve(phrase, at, language)
    return (Period(found.moment, last_day(found)), _exact(found)) if found else None


def periods(asked: Sequence[tuple[str, datetime]], language: Language) -> list[tuple[Period, bool] | None]:
    """`period` of each phrase; for one call of the language process."""
    return [period(phrase, at, language) for phrase, at in asked]


def last_day(found: Dated) -> datetime:
    """Midnight of the last day of what was named; of a day itself."""
    return found.moment if _exact(found) else parse.end_of(found) - timedelta(days=1)


def _exact(found: Dated) -> bool:
    return found.precision in ("time", "day")


def _named(text: str, phrase: str, at: datetime, language: Language) -> Dated | None:
    bare = " ".join(text.split())
    if _UNIT.fullmatch(bare):
        bare = f"this {bare.removeprefix('the ')}"
    return parse.resolve(bare, at, language) or parse.resolve(phrase, at, language)


def _ahead(found: Dated, text: str, at: datetime, language: Language, *, begins: bool) -> Dated:
    """The next one of what comes every year or week, where no year and no turn was told.

    `begins`: its beginning is meant. "Before autumn", said in autumn, is before the next one; a day lasts to its end.
    """
    comes = found.moment if begins and not _exact(found) else parse.end_of(found)
    if found.precision not in _SHIFTED or comes > at or _EXPLICIT.search(text) or _TURNED.search(text):
        return found
    bare = re.sub(r"^(?:до|к|ко|в|у|во|на|by|before|until|till|in|on)\s+", "", text)
    turned = parse.resolve(f"next {bare}", at, language)
    if turned is not None and turned.moment > at:
        return turned
    try:
        return Dated(found.moment.replace(year=found.moment.year + 1), found.precision)
    except ValueError:  # the 29th of February
        return found
