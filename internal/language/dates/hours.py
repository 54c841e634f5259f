"""Finds the hour that a text names: "at 9", "о пів на", "в 7 вечера", "tonight"."""

from collections.abc import Sequence
from datetime import time
from typing import Final, NamedTuple

from internal.language.dates.normalise import MONTHS
from internal.language.dates.spoken_hours import HALF
from internal.language.dates.units import Span
from internal.language.text.patterns import pattern

_NOON: Final = time(12)
_HALF_DAY: Final = 12
_AT: Final = r"(?:\b(?:at|в|во|о|об|у|к|до|by|около|близько|ровно|рівно|around|about)\s+)"
_SIDE: Final = (
    r"(?P<side>a\.?m\b\.?|p\.?m\b\.?|(?:in the )?morning|(?:in the )?(?:afternoon|evening)|at night"
    r"|утра|вечера|дня|ночи|ранку|вечора|дня|ночі)"
)
_CLOCK: Final = pattern(
    rf"(?:{_AT}(?P<h1>[01]?\d|2[0-3])(?:[:.{HALF}](?P<m1>[0-5]\d))?(?![\d:.]*\d)(?:\s*(?:час(?:ов|а)?|год(?:ин[уиі]?)?|o'clock|h)\b)?"
    rf"(?:\s*{_SIDE})?"
    rf"|\b(?P<h2>[01]?\d|2[0-3])[:](?P<m2>[0-5]\d)(?:\s*{_SIDE.replace('side', 'side2')})?"
    rf"|\b(?P<h3>1[0-2]|0?[1-9])\s*(?P<side3>a\.?m\b\.?|p\.?m\b\.?|утра|вечера|ранку|вечора))"
)
_BARE: Final = pattern(
    r"\s*,?\s*(?:(?:на|to|for|@)\s+)?(?P<h1>[01]?\d|2[0-3])(?:[:.](?P<m1>[0-5]\d))?"
    r"(?=(?:\s*(?:час(?:ов|а)?|год(?:ин[уиі]?)?|h)\b)?\s*(?:[,;!?)]|\.(?!\d)|$))"
)
"""An hour right after its day, not followed by anything that it could count: "to Saturday 11", "на субботу на 11"."""
_NOT_AN_HOUR: Final = pattern(
    r"\s*(?:-?(?:го|е|ое|th|st|nd|rd|й|му)\b|числ|" + "|".join(MONTHS) + r"|%|минут|хвилин|minut|день|дня|дней|дн|days?"
    r"|недел|тиж|weeks?|месяц|місяц|months?|год[уа]\b|лет|рок|year|человек|людей|раз|этаж|поверх|грн|руб|usd|eur|km|км|кг|kg)"
)
_AFTERNOON: Final = ("p", "дня", "вечера", "вечора")
_BY_DAY: Final = r"(?<!\bс )(?<!\bз )(?<!\bіз )(?<!\bзі )\bднем\b(?! (?:рожд|народж|святого|ангела|перемоги|победы))"
"""The word "днем", but not in wishes: "з днем народження", "с днём учителя"."""
_BESIDE: Final = r"(?:(?<=\s\s)|(?<=^)|(?<=[,;(]\s)|(?<=\b(?:this|late|same)\s)|(?<=\bearly\s)|(?<=\bby\s))"
"""The text before a part of the day that stands beside its day, which is blanked out: not "parents evening"."""
_NAMED_HOURS: Final[Sequence[tuple[str, time]]] = (
    (r"\b(?:в полдень|опівдні|о полудні|at noon|noon|at midday)\b", time(12)),
    (r"\b(?:в обед|в обід|at lunch(?:time)?|over lunch)\b", time(13)),
    (r"\b(?:в полночь|опівночі|at midnight)\b", time(0)),
    (
        rf"\b(?:утром|с утра|вранці|уранці|зранку|зрання|in the morning|first thing in the morning|{_BESIDE}morning)\b",
        time(9),
    ),
    (rf"{_BY_DAY}|\b(?:вдень|удень|in the afternoon|{_BESIDE}afternoon)\b", time(14)),
    (rf"\b(?:вечером|ввечері|увечері|вечора|tonight|in the evening|{_BESIDE}evening)\b", time(19)),
    (r"\b(?:at night|на ночь|на ніч|перед сном|before bed)\b", time(22)),
)
_PARTS: Final = [(pattern(shape), hour) for shape, hour in _NAMED_HOURS]


class NamedHour(NamedTuple):
    """An hour and its characters. `part`: only a part of the day is named. `loose`: it may be a.m. or p.m."""

    hour: time
    span: Span
    part: bool
    loose: bool


def named_hour(folded: str, day_end: int | None = None) -> NamedHour | None:
    """The first hour named in a text; `day_end` is where the name of its day ends."""
    part = part_of_day(folded)
    bare = None if day_end is None else _BARE.match(folded, day_end)
    for match in (*_CLOCK.finditer(folded), *([bare] if bare else ())):
        said = {name: value for name, value in match.groupdict().items() if value}
        side = said.get("side") or said.get("side2") or said.get("side3") or ""
        if "h1" in said and "m1" not in said and not side and _NOT_AN_HOUR.match(folded, match.end("h1")):
            continue
        hours = int(said.get("h1") or said.get("h2") or said["h3"])
        minutes = said.get("m1") or said.get("m2") or ""
        if not side and part is not None and part[0] >= _NOON and 1 <= hours < _HALF_DAY:
            hours += _HALF_DAY  # "вечером в 7"
        loose = not side and part is None and 1 <= hours < _HALF_DAY and not said.get("h2", "").startswith("0")
        loose = loose and (not minutes or HALF in match[0])
        return NamedHour(time(_by_side(hours, side), int(minutes or 0)), match.span(), False, loose)
    return None if part is None else NamedHour(*part, True, False)


def _by_side(hours: int, side: str) -> int:
    late = side.startswith(_AFTERNOON) or "afternoon" in side or "evening" in side
    if (side == "at night" or side.startswith(("ноч", "ніч"))) and hours >= 6:
        late = True
    if hours == 12:
        return 12 if late or not side.startswith(("a", "ноч", "ніч")) else 0
    return hours + 12 if late and hours < 12 else hours


def part_of_day(folded: str) -> tuple[time, Span] | None:
    for shape, hour in _PARTS:
        if match := shape.search(folded):
            return hour, match.span()
    return None
