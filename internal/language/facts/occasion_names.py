"""Kinds of occasions and days of the year, and their names in three languages and in facts."""

from collections.abc import Mapping
from datetime import date
from typing import Final

from babel.dates import format_date, format_skeleton

from internal.language.text.tables import table

EVENT: Final = "EVENT_ON"
"""States another day of a person that comes once: an operation, a departure."""
KINDS: Final[Mapping[str, str]] = {
    "birthday": "BORN_ON",
    "name_day": "NAME_DAY_ON",
    "wedding": "WEDDING_ON",
    "anniversary": "ANNIVERSARY_ON",
    "graduation": "GRADUATION_ON",
    "christening": "CHRISTENING_ON",
    "housewarming": "HOUSEWARMING_ON",
    "memorial": "MEMORIAL_ON",
    "event": EVENT,
}
"""Kinds of occasions and the relations that state them."""

_NAMES: Final[Mapping[str, Mapping[str, str]]] = table(__package__, "occasions")["names"]


_LEAP_YEAR: Final = 2000


def occasion_words(kind: str, language: str) -> str:
    """The name of a kind of occasion in a language."""
    return _NAMES[kind][language]


def day_words(month: int, day: int, language: str, year: int | None = None) -> str:
    """A day in words, with its year if it is given: "5 июня", "June 5", "5 June 1990"."""
    if year is None:
        return str(format_skeleton("MMMMd", date(_LEAP_YEAR, month, day), locale=language))
    return str(format_date(date(year, month, day), "long", locale=language))


def day_attributes(month: int, day: int, year: int | None) -> dict[str, object]:
    """The attributes of a fact that contain its day."""
    return {"date": f"{month:02}-{day:02}", **({"year": year} if year else {})}
