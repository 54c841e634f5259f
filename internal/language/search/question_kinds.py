"""What a question about messages asks for (a time, a number, a place, an order and so on) and which dates it names.

Pure, in Russian, Ukrainian and English, some 50 microseconds a question.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from internal.language.dates.normalise import canonical
from internal.language.dates.questions import dated_question_plainly
from internal.language.text.spelling import Language, name_key, words
from internal.language.text.tables import any_of

_WHEN: Final = re.compile(any_of("internal.language.search", "asks_when"))
_MANY: Final = re.compile(any_of("internal.language.search", "asks_many"))
_PLACE_OR_PERSON: Final = re.compile(any_of("internal.language.search", "asks_place_or_person"))
_ORDER: Final = re.compile(any_of("internal.language.search", "asks_order"))
_SUMMARY: Final = re.compile(any_of("internal.language.search", "asks_summary"))

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_MONTH: Final = re.compile(r"month(\d+)")
_YEAR: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_DAY: Final = re.compile(r"(?<![\d.,:])([12]?\d|3[01])(?:st|nd|rd|th|-?(?:го|е|ое|го))?(?![\d:])")
_NO_MONTHS: Final = words("мар маю мае маем сен сент дек окт авг янв фев ноя апр")
"""Short forms that are rather other words inside a question."""

_CAPITAL_ONLY: Final = words("may march mar jan")
_SOME_YEAR_BACK: Final = re.compile(r"\b(?:last|прошл\w+|минул\w+|торік|торішн\w+)\b", re.IGNORECASE)
"""Beside a month without a year: "last May" is one May, "in May" may be any."""

_LONGEST_DAY_RANGE: Final = 1.5
_LONGEST_MONTH_RANGE: Final = 32
_LONGEST_YEAR_RANGE: Final = 367


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """What a question asks for; most ask for none of these. `order`: how something went from one time to the next."""

    when: bool = False
    many: bool = False
    place_or_person: bool = False
    order: bool = False
    summary: bool = False


@dataclass(frozen=True, slots=True)
class NamedDates:
    """The months (1-12), years and days of a month (1-31) that a question names."""

    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()


def question_kind(text: str) -> QuestionKind:
    """What a question asks for: a time, a place and a person by its beginning, the others anywhere."""
    key = name_key(text)
    asked = (_WHEN, _MANY, _PLACE_OR_PERSON, _ORDER, _SUMMARY)
    return QuestionKind(*(bool(pattern.search(key)) for pattern in asked))


def named_dates(text: str, at: datetime) -> NamedDates:
    """The dates that a question names, asked at `at` (aware): "в июне", "on 5 May 2023", "last month".

    Days count only beside a month. Relative dates must be first or last in the question.
    """
    months = {month for match in _WORD.finditer(text) if (month := _month(match.group()))}
    years = {int(year) for year in _YEAR.findall(text)}
    days = {int(day) for day in _DAY.findall(text) if int(day)} if months else set()
    if not months and not years:
        return _relative(text, at)
    if not years and _SOME_YEAR_BACK.search(text):
        relative = _relative(text, at)
        years = set(relative.years) if relative.months == months else set()
    return NamedDates(frozenset(months), frozenset(years), frozenset(days))


def _month(written: str) -> int | None:
    key = name_key(written)
    if key in _NO_MONTHS or (key in _CAPITAL_ONLY and not written[0].isupper()):
        return None
    match = _MONTH.fullmatch(canonical(key) or "")
    return int(match[1]) if match else None


def _relative(text: str, at: datetime) -> NamedDates:
    dated = dated_question_plainly(text, at, _language(text))
    if dated is None:
        return NamedDates()
    begins, length = dated.begins, ((dated.ends or dated.begins) - dated.begins).total_seconds() / 86400
    years = frozenset({begins.year} if length <= _LONGEST_YEAR_RANGE else ())
    months = frozenset({begins.month} if length <= _LONGEST_MONTH_RANGE else ())
    return NamedDates(months, years, frozenset({begins.day} if length <= _LONGEST_DAY_RANGE else ()))


def _language(text: str) -> Language:
    key = name_key(text)
    if re.search("[іїєґ]", key):
        return "uk"
    return "ru" if re.search("[а-я]", key) else "en"
