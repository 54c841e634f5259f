"""Finds the future day that a text names: "у п'ятницю", "the day after tomorrow", "by the end of the month"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from internal.language.dates import deadlines
from internal.language.dates.normalise import MONTHS, WEEKDAYS
from internal.language.dates.units import Span, day_after
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language

_RELATIVE_DAYS: Final[Sequence[tuple[str, int]]] = (
    (r"\b(?:the )?day after tomorrow\b|\bпослезавтра\b|\bпіслязавтра\b", 2),
    (r"\b(?:на |до |к |by |until |on |till )?(?:завтра|завтрашн\w+|tomorrow)\b", 1),
    (r"\b(?:на |до |by )?(?:сегодня|сьогодні|today|tonight|сегодняшн\w+)\b", 0),
)
_RELATIVE_DAY_PATTERNS: Final = [(pattern(shape), ahead) for shape, ahead in _RELATIVE_DAYS]
_BEFORE_DAY: Final = r"(?:в|во|у|к|ко|до|на|с|з|із|on|by|before|until|till|this|from|for|не поз(?:днее|же)|не пізніше)"
_NEXT: Final = (
    r"(?P<next>след(?:ующ\w{2,3})?\.?|наст(?:упн\w{1,3})?\.?|next|ближайш\w{2,3}|найближч\w{1,3}|coming|эт(?:от|у|о)"
    r"|ц(?:ей|ю|я|е|ього))"
)
_WEEKDAY: Final = pattern(
    rf"\b(?:{_BEFORE_DAY}\s+)?(?:(?:the\s+)?{_NEXT}\s+)?(?P<day>"
    + "|".join(rf"(?P<w{n}>{forms})" for n, forms in enumerate(WEEKDAYS))
    + r")\b(?P<nextweek>\s+(?:на\s+)?(?:следующ\w+\s+недел\w+|наступного\s+тижня|next\s+week))?"
)
_MONTH_WORD: Final = "|".join(rf"(?:{forms})" for forms in MONTHS)
_DATE: Final = pattern(
    rf"\b(?:{_BEFORE_DAY}\s+)?(?:the\s+)?(?P<date>\d{{1,2}}(?:st|nd|rd|th|-?го|-?е|-?е)?(?:\s+of)?\s+(?:{_MONTH_WORD})"
    rf"|(?:{_MONTH_WORD})\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?(?!\d|:))\b(?P<year>,?\s+\d{{4}}(?:\s*(?:года|року|г\.|р\.))?)?"
)
_NUMERIC: Final = pattern(
    rf"\b(?:{_BEFORE_DAY}\s+)?(?P<d>[0-3]?\d)\.(?P<m>[01]\d)(?:\.(?P<y>\d{{4}}|\d{{2}}))?(?![\d.]*\d)"
)
_ISO: Final = pattern(
    rf"\b(?:{_BEFORE_DAY}\s+)?(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})(?:[t ](?P<isot>\d{{1,2}}:\d{{2}})(?::\d{{2}})?)?"
)
_OF_MONTH: Final = pattern(
    rf"\b(?:{_BEFORE_DAY}\s+)?(?:(?P<n1>[0-3]?\d)(?:-?го|-?е|-?ого)?\s+числ[ао]|(?:the\s+)(?P<n2>[0-3]?\d)(?:st|nd|rd|th))\b"
)
_NEXT_UNIT: Final = pattern(
    r"\b(?:на\s+|в\s+|у\s+|до\s+|by\s+|the\s+)?(?:(?:следующ\w+|наступн\w+|next)\s+"
    r"(?P<u>недел\w+|тиж\w+|week|месяц\w*|місяц\w*|month))\b"
)
_WEEKEND: Final = pattern(
    r"\b(?:на выходных|на вихідних|at the weekend|on the weekend|this weekend|over the weekend)\b"
)
_END: Final = pattern(
    rf"\b(?:до|к|by|before|until|till)\s+(?:{_MONTH_WORD})\b(?!\s+\d)"
    r"|\b(?:до|к|в|by|before|until|till|at|на)\s+(?:the\s+)?(?:самого\s+)?(?:конц[аеу]|кінця|кінець|end(?:\s+of)?)\s+(?:the\s+|this\s+|эт\w+\s+|ц\w+\s+)?"
    rf"(?:дня|недели|месяца|года|тижня|місяця|року|day|week|month|year|{_MONTH_WORD})\b|\bнаприкінці\s+(?:тижня|місяця|року)\b"
    r"|\bв конце\s+(?:недели|месяца|года)\b|\bat the end of\s+(?:the\s+|this\s+)?(?:week|month|year)\b"
)


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day and the characters that name it; `sure` is False if another day may be meant."""

    day: date
    span: Span
    sure: bool = True
    loose: bool = False
    """Whether it is today, or in a week if the hour is past."""


def named_days(folded: str, at: datetime, language: Language) -> list[NamedDay]:
    """The days named in a text, the most exact first."""
    days = [
        *_dates(folded, at, language),
        *_weekdays(folded, at),
        *_relative_days(folded, at),
        *_periods(folded, at, language),
    ]
    return days if len({day.day for day in days if day.sure}) <= 1 else days[:1]


def _dates(folded: str, at: datetime, language: Language) -> list[NamedDay]:
    days: list[NamedDay] = []
    if match := _ISO.search(folded):
        days += _named_day(match, _plain_date(match["iso"]), end=match.end("iso"))
    if match := _DATE.search(folded):
        phrase = match["date"] + (match["year"] or "")
        moment = deadlines.resolve(phrase, at, "ahead", language)
        days += _named_day(match, moment.date() if moment else None)
    if not days and (match := _NUMERIC.search(folded)):
        days += _named_day(match, _numeric(match, at.date()))
    if not days and (match := _OF_MONTH.search(folded)):
        days += _named_day(match, _day_of_month(int(match["n1"] or match["n2"]), at.date()))
    return days


def _named_day(match: re.Match[str], day: date | None, end: int | None = None) -> list[NamedDay]:
    return [] if day is None else [NamedDay(day, (match.start(), end or match.end()))]


def _plain_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _numeric(match: re.Match[str], today: date) -> date | None:
    year = match["y"]
    try:
        if year is not None:
            return date(int(year) + (2000 if len(year) == 2 else 0), int(match["m"]), int(match["d"]))
        day = date(today.year, int(match["m"]), int(match["d"]))
    except ValueError:
        return None
    return day if day >= today else day.replace(year=today.year + 1)


def _day_of_month(number: int, today: date) -> date | None:
    for ahead in range(4):
        month = today.month - 1 + ahead
        try:
            day = date(today.year + month // 12, month % 12 + 1, number)
        except ValueError:
            continue
        if day >= today:
            return day
    return None


def _weekdays(folded: str, at: datetime) -> list[NamedDay]:
    days = []
    for match in _WEEKDAY.finditer(folded):
        if _bare_abbreviation(match):
            continue
        weekday = next(n for n in range(7) if match[f"w{n}"])
        ahead = (weekday - at.weekday()) % 7
        if match["nextweek"]:
            ahead = weekday - at.weekday() + 7
        elif (match["next"] or "").startswith(("next", "след", "наст")):
            # "Next Friday" said on Monday means the later one to half of the people; the nearer one can be postponed.
            ahead = ahead or 7
        days.append(NamedDay(at.date() + timedelta(days=ahead), match.span(), loose=ahead == 0))
    return days[:1]


def _bare_abbreviation(match: re.Match[str]) -> bool:
    """Whether a match is only "sun", "ср" and the like, which are also words: no preposition, no hour after it."""
    bare = match["day"] == match[0]
    if match["day"] in ("sun", "sat", "mon", "wed", "среды", "середи"):
        return bare
    short = len(match["day"]) <= _ABBREVIATED and not match["day"].isascii()
    return bare and short and _HOUR_BEHIND.match(match.string, match.end()) is None


_ABBREVIATED: Final = 4
_HOUR_BEHIND: Final = pattern(r"\.?,?\s*(?:в|во|о|об)?\s*\d|\.?,?\s+(?:утром|вечером|днем|вранці|ввечері|зранку|вдень)")


def _relative_days(folded: str, at: datetime) -> list[NamedDay]:
    for shape, ahead in _RELATIVE_DAY_PATTERNS:
        if match := shape.search(folded):
            tonight = match[0] == "tonight"
            span = (match.end(), match.end()) if tonight else match.span()
            return [NamedDay(at.date() + timedelta(days=ahead), span)]
    return []


def _periods(folded: str, at: datetime, language: Language) -> list[NamedDay]:
    if match := _END.search(folded):
        phrase = match[0]
        if re.search(r"(?:дня|day)$", phrase):
            return [NamedDay(at.date(), match.span())]
        moment = deadlines.resolve(phrase, at, "ahead", language)
        return _named_day(match, moment.date() if moment else None)
    if match := _WEEKEND.search(folded):
        return [NamedDay(at.date() + timedelta(days=(5 - at.weekday()) % 7), match.span(), sure=False)]
    if match := _NEXT_UNIT.search(folded):
        if match["u"].startswith(("недел", "тиж", "week")):
            return [NamedDay(at.date() + timedelta(days=7 - at.weekday()), match.span(), sure=False)]
        first = day_after(at.date().replace(day=1), 1, "month")
        return [] if first is None else [NamedDay(first, match.span(), sure=False)]
    return []
