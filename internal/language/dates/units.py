"""Building blocks of patterns for future times: folded text, counts and units."""

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Final

from internal.language.dates.normalise import NUMBERS

Span = tuple[int, int]
_UNIFIED: Final = str.maketrans("ёЁ’ʼ`´‘′–—−", "еЕ''''''---")
COUNT: Final = (
    r"(?P<count>\d{1,3}|"
    + "|".join(rf"(?:{forms})" for number, forms in NUMBERS.items())
    + r"|полтор[аы]|півтор[аиі]|half an|пол|пів|other|второй|вторую|второе|другий|другу|друге)"
)
_UNITS: Final = {
    "minute": r"минут[ауы]?|хвилин[ауи]?|min(?:ute)?s?|мин|хв",
    "hour": r"час(?:а|ов|ик|ок)?|годин[ауи]?|годинк[ауи]|hours?|hrs?",
    "day": r"день|дня|дней|дни|днів|дні|сутки|суток|добу|days?",
    "week": r"недел[яюиье]|недель|неделей|неделю|тиж(?:день|ня|ні|нів|нем)|weeks?",
    "month": r"месяц(?:а|ев|е|ы|ем)?|місяц(?:ь|я|і|ів|ю|ем)|months?",
    "year": r"год(?:а|у|ов)?|лет|рік|рок(?:у|и|ів)|years?",
}
UNIT: Final = r"(?P<unit>" + "|".join(rf"(?:{forms})" for forms in _UNITS.values()) + r")\b"


def fold(text: str) -> str:
    """The text in lower case with one kind of apostrophe and dash; all characters keep their positions."""
    if len(lowered := text.lower()) != len(text):
        lowered = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    return lowered.translate(_UNIFIED)


def day_after(today: date, count: float, unit: str) -> date | None:
    """The day `count` units after today, or None outside the calendar."""
    if unit in ("day", "week"):
        return today + timedelta(days=round(count * (7 if unit == "week" else 1)))
    months = today.year * 12 + today.month - 1 + round(count * (12 if unit == "year" else 1))
    for day in range(today.day, today.day - 4, -1):
        try:
            return date(months // 12, months % 12 + 1, day)
        except ValueError:
            continue
    return None


def blank_out(text: str, spans: Sequence[Span]) -> str:
    """The text with these characters replaced by spaces."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def number_of(text: str | None) -> float | None:
    """The number that a word or digits mean, 1 for None; None if unknown."""
    if text is None:
        return 1
    if text.isdecimal():
        return int(text)
    if text.startswith(("полтор", "півтор")):
        return 1.5
    if text in ("half an", "пол", "пів"):
        return 0.5
    if text.startswith(("other", "втор", "друг")):
        return 2
    return next((number for shape, number in _NUMBER_SHAPES if shape.fullmatch(text)), None)


_NUMBER_SHAPES: Final = [(re.compile(forms), number) for number, forms in NUMBERS.items()]
_UNIT_SHAPES: Final[Sequence[tuple[Callable[[str], object], str]]] = [
    (re.compile(forms).fullmatch, unit) for unit, forms in _UNITS.items()
]


def unit_of(text: str) -> str:
    return next(unit for matches, unit in _UNIT_SHAPES if matches(text))
