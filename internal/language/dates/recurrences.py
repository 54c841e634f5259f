"""Finds a recurrence in a text ("every other Friday", "по будням", "щоранку") as an RRULE."""

import re
from collections.abc import Sequence
from datetime import date, time, timedelta
from typing import Final

from internal.language.dates.hours import part_of_day
from internal.language.dates.normalise import WEEKDAYS
from internal.language.dates.units import COUNT, UNIT, Span, number_of, unit_of
from internal.language.text.patterns import pattern
from internal.language.text.tables import table

CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_EVERY: Final = r"(?:кажд\w{2,3}|кожн\w{1,3}|every|each)"
_BY_WEEKDAYS, _EVERY_WEEKDAY_UK = (tuple[str, ...](one) for one in table(__package__, "weekdays").values())
_PLURALS: Final = ("mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays")
_WEEKDAY: Final = "|".join(
    rf"(?P<e{n}>{forms}|{_PLURALS[n]}|{_BY_WEEKDAYS[n]}|{_EVERY_WEEKDAY_UK[n]})" for n, forms in enumerate(WEEKDAYS)
)
_WEEKDAY_UNNAMED: Final = re.sub(r"\(\?P<e\d>", "(?:", _WEEKDAY)
_ON_WEEKDAYS: Final = pattern(
    rf"\b(?:(?:{_EVERY}\s+(?:(?P<other>other|second|втор\w{{2,3}}|друг\w{{1,3}})\s+)?)(?:{_WEEKDAY_UNNAMED})"
    rf"|(?:по|on|у|в)\s+(?:{'|'.join((*_BY_WEEKDAYS, *_PLURALS))})|по\s+(?:пн|вт|ср|чт|пт|сб|вс|нд)"
    rf"|(?:{'|'.join(_EVERY_WEEKDAY_UK)}))"
    rf"(?P<more>(?:\s*(?:,|and|и|та|і|й)\s*(?:{_EVERY}\s+|по\s+|on\s+)?(?:{_WEEKDAY_UNNAMED}))*)\b"
)
_ANY_DAY: Final = pattern(rf"\b(?:{_WEEKDAY})\b")
_ON_MONTHDAY: Final = pattern(
    rf"\b(?:{_EVERY}\s+(?P<d1>[0-3]?\d)(?:-?[а-яіїє]{{1,3}})?\s+числ[оа](?:\s+(?:месяца|місяця))?"
    rf"|(?P<d2>[0-3]?\d)(?:-?[а-яіїє]{{1,3}})?\s+числ[ао]\s+(?:каждого|кожного)\s+(?:месяца|місяця)"
    rf"|(?:щомісяця|ежемесячно|{_EVERY}\s+(?:месяц|місяць|month)|monthly)\s+(?:on\s+the\s+)?(?P<d3>[0-3]?\d)(?:st|nd|rd|th|-?го)?(?:\s+числа)?(?!\d|:)"
    rf"|(?:on\s+)?the\s+(?P<d4>[0-3]?\d)(?:st|nd|rd|th)\s+of\s+(?:every|each)\s+month)\b"
)
_PERIODIC_WORDS: Final[Sequence[tuple[str, str]]] = table(__package__, "recurrences")
_PERIODIC: Final = [(pattern(shape), rule) for shape, rule in _PERIODIC_WORDS]
_EVERY_UNIT: Final = pattern(
    rf"\b(?:{_EVERY}|раз (?:в|на|у)(?: {_EVERY})?|once (?:in|every|per))\s+(?:{COUNT}\s+)?{UNIT}"
)
_EVERY_PART: Final = pattern(
    rf"\b{_EVERY}\s+(?P<part>утро|ранок|ранку|morning|вечер|вечір|вечора|evening|night|ночь|ніч|обед|обід|afternoon)\b"
)
_FREQUENCY: Final = {"hour": "HOURLY", "day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}


def recurrence(folded: str) -> tuple[str, Span, time | None] | None:
    """The RRULE named in a text, the characters that name it, and its hour; None if there is none."""
    if match := _EVERY_PART.search(folded):
        part = part_of_day(_PART_OF_DAY[match["part"][:3]])
        return "FREQ=DAILY", match.span(), part and part[0]
    if match := _ON_WEEKDAYS.search(folded):
        days = sorted(
            {int(name[1]) for match_ in _ANY_DAY.finditer(match[0]) for name, v in match_.groupdict().items() if v}
        )
        interval = ";INTERVAL=2" if match["other"] else ""
        return f"FREQ=WEEKLY{interval};BYDAY={','.join(CODES[n] for n in days)}", match.span(), None
    if match := _ON_MONTHDAY.search(folded):
        day = int(match["d1"] or match["d2"] or match["d3"] or match["d4"])
        return (f"FREQ=MONTHLY;BYMONTHDAY={day}", match.span(), None) if 1 <= day <= 31 else None
    for shape, rule in _PERIODIC:
        if match := shape.search(folded):
            return rule, match.span(), _HOUR_OF.get(match[0])
    if match := _EVERY_UNIT.search(folded):
        count, unit = number_of(match["count"]), unit_of(match["unit"])
        if unit in _FREQUENCY and count is not None and count == int(count) and count >= 1:
            interval = f";INTERVAL={int(count)}" if count > 1 else ""
            return f"FREQ={_FREQUENCY[unit]}{interval}", match.span(), None
    return None


_HOUR_OF: Final = {"щоранку": time(9), "щоранок": time(9), "щовечора": time(19)}
_PART_OF_DAY: Final = {
    "утр": "утром",
    "ран": "вранці",
    "mor": "in the morning",
    "веч": "вечером",
    "eve": "in the evening",
    "nig": "at night",
    "ноч": "at night",
    "ніч": "at night",
    "обе": "в обед",
    "обі": "в обед",
    "aft": "in the afternoon",
}


def matches_rule(rule: str, day: date) -> bool:
    """Whether a day belongs to a rule."""
    if "BYDAY=" in rule:
        return CODES[day.weekday()] in rule.partition("BYDAY=")[2].split(";")[0].split(",")
    if "BYMONTHDAY=" in rule:
        month_day = int(rule.partition("BYMONTHDAY=")[2])
        last = (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
        return day.day == min(month_day, last.day)
    return True
