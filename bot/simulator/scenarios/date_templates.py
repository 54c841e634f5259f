"""Days in what is said: `{date +3}` becomes the day after the day after tomorrow, in the user's own language."""

from __future__ import annotations

import re
from datetime import date, timedelta

_PLACE = re.compile(r"\{(date|weekday|month)(?: ?([+-]\d{1,4}))?\}")
_BRACE = re.compile(r"[{}]")

_MONTHS = {
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "uk": "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "en": "January February March April May June July August September October November December",
}
"""As they stand behind a day, or behind `с` and `з`: in the genitive."""

_WEEKDAYS = {
    "ru": "понедельник вторник среду четверг пятницу субботу воскресенье",
    "uk": "понеділок вівторок середу четвер п'ятницю суботу неділю",
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
}
"""As they stand behind `в` and `у`: in the accusative."""


def check_places(text: str) -> None:
    """Raises ValueError for a brace that is no place for a day."""
    if _BRACE.search(_PLACE.sub("", text)):
        raise ValueError("in braces stand {date}, {weekday} or {month}, each with days to add as in {date +3}")


def spoken(text: str, day: date, language: str) -> str:
    """The text as it is said on a day. `language` is ru, uk or en."""

    def put(found: re.Match[str]) -> str:
        meant = day + timedelta(days=int(found[2] or 0))
        month = _MONTHS[language].split()[meant.month - 1]
        match found[1]:
            case "weekday":
                return _WEEKDAYS[language].split()[meant.weekday()]
            case "month":
                return month
        return f"{month} {meant.day}" if language == "en" else f"{meant.day} {month}"

    return _PLACE.sub(put, text)
