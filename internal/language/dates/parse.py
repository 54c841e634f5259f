"""Parses dates as people and models write them, in three languages, relative to the time of writing.

Relative dates ("позавчера", "last May", "з понеділка") are read by rules, written ones ("15th of May 2020", "1
вересня") by dateparser, which misreads or does not know the former. An unknown date is None, never a guess.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any, Literal

from internal.language.dates.normalise import canonical
from internal.language.text.spelling import Language, name_key, words

Precision = Literal["time", "day", "week", "month", "season", "year", "decade"]

MAX_PHRASE = 100
"""The most characters of a phrase; a longer text is not a date."""

UNKNOWN = words("unknown ? ?? ??? - n/a na none null never unclear неизвестно неясно невідомо tbd") | {
    "не указано",
    "не вказано",
    "not stated",
    "not known",
}
"""Words by which models denote an unknown date."""

_ISO_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[t ]\d{1,2}:\d{2}.*")
_ISO_MONTH = re.compile(r"(\d{4})[-/.](\d{1,2})")
_MONTH_FIRST = re.compile(r"(\d{1,2})[./](\d{4})")
_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})")
_CLOCK = re.compile(r"(?:\b(?:at|в|о|об|у)\s+)?\b([01]?\d|2[0-3]):([0-5]\d)\b")
_YEARS = range(1000, 2200)
"""The range of four digits that count as a year."""

_WRITTEN = re.compile(r"\d.*[^\W\d_]{3}|[^\W\d_]{3}.*\d")
"""A written date, which contains a number and a word."""

_NEAR = timedelta(days=14)
"""The time within which a day without a year means the next one: "from 7 November", on the 6th, is tomorrow."""

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class Dated:
    """The moment, aware, at which a named time begins, and its precision."""

    moment: datetime
    precision: Precision


def resolve(phrase: str, at: datetime, language: Language = "en") -> Dated | None:
    """The moment that a phrase written at `at` (aware, in the owner's zone) means; None if it is unknown.

    A bare date is midnight in the owner's zone, a month or a year its first day, a weekday or a month without a year
    the latest one that has begun ("next", "следующий" reverse that). Loads dateparser (0.2 s), so call it in the
    language process; `language` decides what 03/04/2021 is, and for English that is unknown.
    """
    return resolve_plainly(phrase, at, language) or _written_out(phrase, at, language)


def resolve_plainly(phrase: str, at: datetime, language: Language = "en") -> Dated | None:
    """Like `resolve`, for ISO dates and relative words only: pure, some 50 microseconds."""
    text = name_key(phrase).strip(" .,;!\"'«»“”()")
    if not text or len(phrase) > MAX_PHRASE or text in UNKNOWN:
        return None
    return _iso(phrase.strip(), text, at) or _numeric(text, at, language) or _relative(text, at)


def resolve_all(phrases: Sequence[tuple[str, datetime]], language: Language) -> list[Dated | None]:
    """Resolves phrases, each with its time of writing; one call of the language process."""
    return [resolve(phrase, at, language) for phrase, at in phrases]


def end_of(dated: Dated) -> datetime:
    """The moment at which a named time ends: for a day the next midnight, for a year the next New Year."""
    if dated.precision in _DAYS:
        return dated.moment + timedelta(days=_DAYS[dated.precision])
    return _months_later(dated.moment, _MONTHS[dated.precision])


_DAYS: Mapping[Precision, int] = {"time": 0, "day": 1, "week": 7}
_MONTHS: Mapping[Precision, int] = {"month": 1, "season": 3, "year": 12, "decade": 120}


def _iso(phrase: str, text: str, at: datetime) -> Dated | None:
    if _ISO_TIME.fullmatch(text):
        return _timestamp(phrase, at)
    if match := _ISO_DAY.fullmatch(text):
        return _day(at, int(match[1]), int(match[2]), int(match[3]))
    if match := _ISO_MONTH.fullmatch(text):
        return _day(at, int(match[1]), int(match[2]), 1, "month")
    if match := _MONTH_FIRST.fullmatch(text):
        return _day(at, int(match[2]), int(match[1]), 1, "month")
    return None


def _timestamp(phrase: str, at: datetime) -> Dated | None:
    try:
        moment = datetime.fromisoformat(phrase.strip().upper().replace("UTC", "Z").replace(" Z", "Z"))
        aware = moment if moment.tzinfo else moment.replace(tzinfo=at.tzinfo)
        return Dated(aware.astimezone(at.tzinfo), "time")
    except (ValueError, OverflowError):
        return None


def _numeric(text: str, at: datetime, language: Language) -> Dated | None:
    """Parses 15.05.2020. With slashes an English date is known only if one number cannot be a month."""
    match = _NUMERIC.fullmatch(text)
    if match is None:
        return None
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if len(match[4]) == 2:
        year += 2000 if 2000 + year <= at.year + 1 else 1900
    if second > 12 >= first:
        first, second = second, first
    elif match[2] != "." and language == "en" and first <= 12 and first != second:
        return None
    return _day(at, year, second, first)


def _day(at: datetime, year: int, month: int, day: int, precision: Precision = "day") -> Dated | None:
    """Midnight in the owner's zone; None for a day that does not exist."""
    try:
        return Dated(datetime.combine(date(year, month, day), time(), at.tzinfo), precision)
    except ValueError:
        return None


# --- Relative words

_DIRECTIONS = {"last": -1, "this": 0, "next": 1, "beforelast": -2}
_YEAR_AFTER = re.compile(r"(?<=\w) (last|this|next|beforelast) year$")
"""12 декабря прошлого года"""

_Rule = Callable[[re.Match[str], datetime], Dated | None]


def _relative(text: str, at: datetime) -> Dated | None:
    clock = _CLOCK.search(text)
    symbols = canonical(_CLOCK.sub(" ", text) if clock else text)
    if symbols is None:
        return None
    symbols = _YEAR_AFTER.sub(lambda match_: f" {at.year + _DIRECTIONS[match_[1]]}", symbols)
    for shape, rule in _RULES:
        if match := shape.fullmatch(symbols):
            dated = rule(match, at)
            return _at_clock(dated, clock) if clock else dated
    return None


def _at_clock(dated: Dated | None, clock: re.Match[str]) -> Dated | None:
    if dated is None or dated.precision != "day":
        return None
    return Dated(dated.moment.replace(hour=int(clock[1]), minute=int(clock[2])), "time")


def _days_from(at: datetime, days: int, precision: Precision = "day") -> Dated | None:
    try:
        then = at.date() + timedelta(days=days)
    except OverflowError:
        return None
    return _day(at, then.year, then.month, then.day, precision)


def _now(match: re.Match[str], at: datetime) -> Dated | None:
    return Dated(at, "time")


def _named_day(match: re.Match[str], at: datetime) -> Dated | None:
    return _days_from(at, int(match[1]))


def _weekday(match: re.Match[str], at: datetime) -> Dated | None:
    """The latest weekday before today; with "next" the first one after it, with "this" the one in this week."""
    direction, weekday = match[1], int(match[2])
    ahead = weekday - at.weekday()
    if direction == "this":
        return _days_from(at, ahead)
    if direction == "next":
        return _days_from(at, ahead if ahead > 0 else ahead + 7)
    if direction == "beforelast":
        return _days_from(at, (ahead if ahead < 0 else ahead - 7) - 7)
    return _days_from(at, ahead if ahead < 0 else ahead - 7)


def _weekday_of_week(match: re.Match[str], at: datetime) -> Dated | None:
    return _days_from(at, int(match[1]) - at.weekday() + 7 * _DIRECTIONS[match[2]])


def _period(match: re.Match[str], at: datetime) -> Dated | None:
    return _period_at(match[2], _DIRECTIONS[match[1]], at)


def _period_at(unit: str, steps: int, at: datetime) -> Dated | None:
    """The beginning of the week, month or year `steps` away."""
    if unit == "day":
        return _days_from(at, steps)
    if unit == "week":
        return _days_from(at, 7 * steps - at.weekday(), "week")
    if unit == "month":
        months = at.year * 12 + at.month - 1 + steps
        return _day(at, months // 12, months % 12 + 1, 1, "month")
    years = 10 if unit == "decade" else 1
    return _day(at, (at.year // years + steps) * years, 1, 1, "decade" if unit == "decade" else "year")


def _month(match: re.Match[str], at: datetime) -> Dated | None:
    """The latest month that has begun: last May has ended, next May has not begun."""
    direction, month = match[1], int(match[2])
    year = at.year - (month > at.month)
    if direction == "this":
        year = at.year
    elif direction == "last" and month == at.month:
        year -= 1
    elif direction == "beforelast":
        year -= 1 + (month == at.month)
    elif direction == "next":
        year = at.year + (month <= at.month)
    return _day(at, year, month, 1, "month")


def _month_of_year(match: re.Match[str], at: datetime) -> Dated | None:
    return _day(at, int(match[2]), int(match[1]), 1, "month")


def _day_of_month(match: re.Match[str], at: datetime) -> Dated | None:
    """The latest 15th of May that is not in the future, or the next one if that is near."""
    years = (at.year + step for step in (1, 0, -1))
    near = at + _NEAR
    found = (_day(at, year, int(match[2]), int(match[1])) for year in years)
    return next((dated for dated in found if dated is not None and dated.moment <= near), None)


def _date(match: re.Match[str], at: datetime) -> Dated | None:
    return _day(at, int(match[3]), int(match[2]), int(match[1]))


def _year(match: re.Match[str], at: datetime) -> Dated | None:
    year = int(match[1])
    return _day(at, year, 1, 1, "year") if year in _YEARS else None


def _decade(match: re.Match[str], at: datetime) -> Dated | None:
    years = int(match[1])
    return _day(at, years if years > 99 else (1900 if years >= 30 else 2000) + years, 1, 1, "decade")


def _season(match: re.Match[str], at: datetime) -> Dated | None:
    """The latest season that has begun, also with "this". Winter belongs to the year in which it begins."""
    direction, month = match[1], _SEASONS[match[2]]
    year = at.year - (month > at.month)
    if direction == "next":
        year += 1
    elif direction == "last" and _months_between(year, month, at) < 3:
        year -= 1
    elif direction == "beforelast":
        year -= 1 + (_months_between(year, month, at) < 3)
    return _day(at, year, month, 1, "season")


def _season_of_year(match: re.Match[str], at: datetime) -> Dated | None:
    """The year only, since the winter of 2020 may be at its beginning or its end."""
    if match[1] == "winter":
        return _day(at, int(match[2]), 1, 1, "year")
    return _day(at, int(match[2]), _SEASONS[match[1]], 1, "season")


def _ago(match: re.Match[str], at: datetime) -> Dated | None:
    return _days_away(float(match[1]), match[2], -1, at)


def _ahead(match: re.Match[str], at: datetime) -> Dated | None:
    return _days_away(float(match[1]), match[2], 1, at)


def _days_away(count: float, unit: str, sign: int, at: datetime) -> Dated | None:
    """The day `count` units away; the unit gives the precision."""
    try:
        if unit in ("minute", "hour"):
            elapsed = timedelta(minutes=count * (60 if unit == "hour" else 1))
            return Dated((at.astimezone(UTC) + sign * elapsed).astimezone(at.tzinfo), "time")
        if unit in ("day", "week"):
            days = round(count * (7 if unit == "week" else 1))
            return _days_from(at, sign * days, "week" if unit == "week" else "day")
        months = round(count * {"month": 1, "year": 12, "decade": 120}[unit])
        moment = _months_later(datetime.combine(at.date(), time(), at.tzinfo), sign * months)
    except (ValueError, OverflowError):
        return None
    return Dated(moment, "decade" if unit == "decade" else "month" if unit == "month" or count % 1 else "year")


def _months_later(moment: datetime, months: int) -> datetime:
    """The same day of another month, or that month's last one. Raises ValueError outside the calendar."""
    month_index = moment.year * 12 + moment.month - 1 + months
    for day in range(moment.day, moment.day - 4, -1):
        try:
            return moment.replace(year=month_index // 12, month=month_index % 12 + 1, day=day)
        except ValueError:
            if not 1 <= month_index // 12 <= 9999:
                raise
    raise ValueError("no month is shorter than 28 days")


def _months_between(year: int, month: int, at: datetime) -> int:
    return (at.year - year) * 12 + at.month - month


_DIRECTION = r"(?:(last|this|next|beforelast) )?"
_RULES: Sequence[tuple[re.Pattern[str], _Rule]] = [
    (re.compile(shape), rule)
    for shape, rule in (
        (r"now", _now),
        (r"day([+-]\d+)", _named_day),
        (_DIRECTION + r"weekday(\d)", _weekday),
        (r"weekday(\d) (last|this|next|beforelast) week", _weekday_of_week),
        (r"(last|this|next|beforelast) (day|week|month|year|decade)", _period),
        (_DIRECTION + r"month(\d+)", _month),
        (r"month(\d+) (\d{4})", _month_of_year),
        (r"(\d{1,2}) month(\d+)", _day_of_month),
        (r"(\d{1,2}) month(\d+) (\d{4})", _date),
        (r"(\d{4})(?: year)?", _year),
        (r"(\d{2}|\d{3}0) decade", _decade),
        (_DIRECTION + r"(spring|summer|autumn|winter)", _season),
        (r"(spring|summer|autumn|winter) (\d{4})", _season_of_year),
        (r"(\d+(?:\.\d+)?) (minute|hour|day|week|month|year|decade) ago", _ago),
        (r"ahead (\d+(?:\.\d+)?) (minute|hour|day|week|month|year|decade)", _ahead),
    )
]


# --- Written dates


@cache
def _dateparser() -> Any:
    from dateparser.date import DateDataParser

    return DateDataParser


def _written_out(phrase: str, at: datetime, language: Language) -> Dated | None:
    """Reads a date with a number and the name of a month by dateparser; without a year the latest one."""
    text = name_key(phrase)[:MAX_PHRASE]
    if not _WRITTEN.search(text) or _is_impossible_day(text):
        return None
    settings = {
        "RELATIVE_BASE": at.replace(tzinfo=None),
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "DATE_ORDER": "DMY",
        "RETURN_TIME_AS_PERIOD": True,
        "PARSERS": ["absolute-time"],
    }
    languages = list(dict.fromkeys((language, "ru", "uk", "en")))
    parsed = _dateparser()(languages=languages, settings=settings).get_date_data(text)
    if parsed.date_obj is None:
        return None
    moment = parsed.date_obj.replace(tzinfo=at.tzinfo)
    if parsed.period == "time":
        return Dated(moment, "time")
    if parsed.period not in ("day", "month", "year"):
        return None
    return Dated(datetime.combine(moment.date(), time(), at.tzinfo), parsed.period)


_DAY_OF_MONTH = re.compile(r"(\d{1,2}) month(\d+)(?: \d{4})?")
_NUMBER_FIRST = re.compile(r"\d\s*[^\W\d_]{3}")
_LEAP_YEAR = 2000


def _is_impossible_day(text: str) -> bool:
    """Whether the text is a day like "32 мая", whose number dateparser would take for the year 1932."""
    match = _DAY_OF_MONTH.fullmatch(canonical(text) or "")
    if match is None or not _NUMBER_FIRST.search(text):
        return False
    return not 1 <= int(match[1]) <= monthrange(_LEAP_YEAR, int(match[2]))[1]
