"""Days in scripted texts: `{date +3}` becomes the date three days later, in the user's own language."""

import re
from datetime import date, timedelta

_FIELD = re.compile(r"\{(date|weekday|month)(?: ?([+-]\d{1,4}))?\}")
_BRACE = re.compile(r"[{}]")

_MONTHS = {
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "uk": "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "en": "January February March April May June July August September October November December",
}
"""Months in the genitive, as after a day or after `с` and `з`."""

_WEEKDAYS = {
    "ru": "понедельник вторник среду четверг пятницу субботу воскресенье",
    "uk": "понеділок вівторок середу четвер п'ятницю суботу неділю",
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
}
"""Weekdays in the accusative, as after `в` and `у`."""


def check_templates(text: str) -> None:
    """Raises ValueError for braces that are not a day template."""
    if _BRACE.search(_FIELD.sub("", text)):
        raise ValueError("in braces stand {date}, {weekday} or {month}, each with days to add as in {date +3}")


def fill_dates(text: str, day: date, language: str) -> str:
    """The text with the days filled in. `language` is ru, uk or en."""

    def put(found: re.Match[str]) -> str:
        meant = day + timedelta(days=int(found[2] or 0))
        month = _MONTHS[language].split()[meant.month - 1]
        match found[1]:
            case "weekday":
                return _WEEKDAYS[language].split()[meant.weekday()]
            case "month":
                return month
        return f"{month} {meant.day}" if language == "en" else f"{meant.day} {month}"

    return _FIELD.sub(put, text)
