"""Finds the future day that a text names: "у п'ятницю", "the day after tomorrow", "by the end of the month"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final

from internal.language.dates import deadlines
from internal.language.dates.normalise import MONTHS, SPELT_DAY, SPELT_DAYS, WEEKDAYS
from internal.language.dates.units import COUNT, UNIT, Span, day_after
from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, name_key

_RELATIVE_DAYS: Final[Sequence[tuple[str, int]]] = (
    (r"\b(?:the )?day after tomorrow\b|\bпослезавтра\b|\bпіслязавтра\b", 2),
    (r"\b(?:на |до |к |by |until |on |till )?(?:завтра|завтрашн\w+|tomorrow)\b", 1),
    (r"\b(?:на |до |by )?(?:сегодня|сьогодні|today|tonight|сегодняшн\w+)\b", 0),
)
_RELATIVE_DAY_PATTERNS: Final = [(pattern(shape), ahead) for shape, ahead in _RELATIVE_DAYS]
AHEAD: Final = pattern(rf"\b(?:через|in|за|within)\s+(?:{COUNT}\s*)?{UNIT}")
FROM_NOW: Final = pattern(rf"\b{COUNT}\s+{UNIT}\s+from now\b")
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
_LONE_DAY: Final = pattern(
    rf"(?:\b(?:{_BEFORE_DAY}|после|після|перед|по)\s+)?(?<![\w-])"
    rf"(?:(?P<n>[0-3]?\d)-(?:го|му)|(?<=на )(?P<on>[0-3]?\d)-[ет]е?|(?P<spelt>{SPELT_DAY})ь?[оея](?:го|му))(?!\w)"
    rf"|\b(?:(?:by|on|till|until|before)\s+(?:the\s+)?(?:(?P<en1>[0-3]?\d)(?:st|nd|rd|th)|(?P<word1>{SPELT_DAY}))"
    r"|(?:the|\w+day|mon|tue|wed|thu|fri|sat|sun)\s+"
    rf"(?:(?P<en2>[0-3]?\d)(?:st|nd|rd|th)|(?P<word2>\w+ty[ -](?:{SPELT_DAY}))))"
    r"(?=\W*$|\s*[,.;:!)?]|\s(?:at|in|for|so|and|but|i|we|he|she|they|it|if|after|with|from|as|when|then|latest|is)\b)"
)
"""A day of a month without the month: "до двадцатого", "the twenty-sixth", "9-го"."""
_HALF: Final = pattern(r"\b(?:полов|пів|пол|четверт|чверт|начал|минут|хвилин)\w*\s+$")
_WEEKS_BEFORE: Final = pattern(r"\b(?P<count>a|one|two|three)\s+(?P<unit>week|fortnight)s?\s+(?:on\s+|from\s+)?$")
_WEEK_BEHIND: Final = pattern(r"\s+(?P<unit>week|fortnight)\b")
_NEXT_UNIT: Final = pattern(
    r"\b(?:на\s+|в\s+|у\s+|до\s+|by\s+|the\s+)?(?:(?:следующ\w+|наступн\w+|next)\s+"
    r"(?P<u>недел\w+|тиж\w+|week|месяц\w*|місяц\w*|month))\b"
)
_WEEKEND: Final = pattern(
    r"\b(?:(?:на|в|за|у)\s+)?(?:(?P<next>next|следующ\w+|наступн\w+)\s+)?(?:(?:эти|ці|ближайши|найближч)\w*\s+)?(?:выходные|выходных|вихідні|вихідних|weekend)\b"
)
_WHICH: Final = (
    r"(?:(?:this|next|coming|following|эт(?:ой|ого)|ц(?:ього|ей)|(?:следующ|будущ|ближайш)(?:ей|его)"
    r"|(?:наступн|найближч)ого)\s+)?"
)
_END: Final = pattern(
    rf"\b(?:до|к|by|before|until|till)\s+(?:{_MONTH_WORD})\b(?!\s+\d)"
    r"|\b(?:до|к|в|by|before|until|till|at|на|не\s+(?:поз|піз)\w+)\s+(?:the\s+)?(?:самого\s+)?(?:конц[аеу]|кінця|кінець|end(?:\s+of)?)\s+"
    rf"(?:the\s+)?{_WHICH}(?:дня|недели|месяца|года|тижня|місяця|року|day|week|month|year|{_MONTH_WORD})\b"
    rf"|\b(?:наприкінці|в кінці|в конце)\s+{_WHICH}(?:тижня|місяця|року|недели|месяца|года)\b"
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
        *(_dates(folded, at, language) or _lone_days(folded, at.date())),
        *(_weeks_on(folded, day) for day in (*_weekdays(folded, at), *_relative_days(folded, at))),
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


def _lone_days(folded: str, today: date) -> list[NamedDay]:
    for match in _LONE_DAY.finditer(folded):
        digits = match["n"] or match["on"] or match["en1"] or match["en2"]
        said = match["spelt"] or match["word1"] or match["word2"]
        number = int(digits) if digits else next(n for shape, n in SPELT_DAYS if shape.fullmatch(said))
        day = _day_of_month(number, today)
        if day is not None and (match[0].isascii() or not _counts(match)):
            return [NamedDay(day, match.span())]
    return []


def _counts(match: re.Match[str]) -> bool:
    """Whether an ordinal is that of a thing or of an hour: "первого класса", "половина девятого"."""
    before, behind = match.string[: match.start()].split(), match.string[match.end() :].split()
    if _HALF.search(match.string[: match.start()]) or (match["spelt"] or "").startswith("друг"):
        return True
    if before and any("PREP" in one.tag.grammemes for one in _readings(before[-1])):
        return True
    marks = [one.tag.grammemes for one in _readings(behind[0])] if behind else []
    return any(one & {"NOUN", "ADJF"} and one & {"gent", "datv"} for one in marks)


def _readings(word: str) -> list[Any]:
    """The likeliest reading of a Cyrillic word in each language that knows it."""
    key = name_key(word)
    languages = [one for one in dictionary_languages(key) if one != "en"]
    return [reading for language in languages for reading in parses(key, language)[:1]]


def _weeks_on(folded: str, day: NamedDay) -> NamedDay:
    """The day some weeks after a named one: "a week tomorrow", "friday fortnight"."""
    before, behind = _WEEKS_BEFORE.search(folded[: day.span[0]]), _WEEK_BEHIND.match(folded, day.span[1])
    weeks = _WEEKS[before["count"]] * _WEEKS[before["unit"]] if before else 0
    weeks += _WEEKS[behind["unit"]] if behind else 0
    span = before.start() if before else day.span[0], behind.end() if behind else day.span[1]
    return replace(day, day=day.day + timedelta(days=7 * weeks), span=span) if weeks else day


_WEEKS: Final = {"a": 1, "one": 1, "two": 2, "three": 3, "week": 1, "fortnight": 2}


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
        # On Saturday Sunday is left.
        ahead = (5 - at.weekday()) % 7 + 7 * bool(match["next"]) or 1
        return [NamedDay(at.date() + timedelta(days=ahead), match.span(), sure=False)]
    if match := _NEXT_UNIT.search(folded):
        if match["u"].startswith(("недел", "тиж", "week")):
            return [NamedDay(at.date() + timedelta(days=7 - at.weekday()), match.span(), sure=False)]
        first = day_after(at.date().replace(day=1), 1, "month")
        return [] if first is None else [NamedDay(first, match.span(), sure=False)]
    return []
