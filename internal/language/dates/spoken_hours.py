"""Reads spelt-out hours: "half past four", "без четверти шесть", "о пів на п'яту", "at seven thirty"."""

import re
from typing import Final

from internal.language.text.patterns import pattern
from internal.language.text.tables import table

HALF: Final = "\u00b7"
"""The separator of a spelt-out hour and its minutes, which unlike "4:30" may be a.m. or p.m."""

_CARDINALS, _ORDINALS, _MINUTES = (dict[int, str](pairs) for pairs in table(__package__, "spoken_hours").values())
_ENDING: Final = "(?:ого|его|ої|ьої|ій|[ауюая])"
_CARDINAL: Final = "|".join(_CARDINALS.values())
_ORDINAL: Final = rf"(?:{'|'.join(_ORDINALS.values())}){_ENDING}"
_NUMBER: Final = rf"(?:{_CARDINAL}|[01]?\d|2[0-3])\b(?!:)"
_MINUTE: Final = rf"(?:{'|'.join(_MINUTES.values())}|[1-5]?\d)"
_UNIT: Final = r"(?:\s+(?:min(?:ute)?s?|минут[ыау]?|мин|хвилин[иау]?|хв))"
_AT: Final = r"(?:(?:at|by|around|about|till|until|в|во|о|об|у|к|до|на|около|близько|ровно|рівно)\s+)"
_NOT_COUNTED: Final = (
    r"(?=\s*(?:$|[,.;:!?)(\"»-])|\s\s|\s+(?:[ap]\.?m\b|o'clock|sharp|exactly|tomorrow|today|tonight|this|every|next|on"
    r"|in|at|to|about|for|from|that|and|or|not|instead|please|then|i|because|so|if|when|mon|tue|wed|thu|fri|sat|sun"
    r"|час(?:ов|а)?\b|годин\w*|ровно|рівно|утра|вечера|вечором|дня|ночи|ранку|вечора|ночі|вечером|утром|ввечері|вранці"
    r"|зранку|завтра|послезавтра|післязавтра|сегодня|сьогодні|что|чтоб|чтобы|що|щоб|про|о|об|в|во|у|на|по|и|і|й|та|а|но"
    r"|але|каждый|кожн\w+|ежедневно|щодня|пожалуйста|будь|[а-яіїєґ']+(?:ть|ти|чь|ться|тись|тися)\b))"
)
"""What may follow an hour: nothing that it could count, as in "at two different shops", "в пять раз"."""
SPOKEN: Final = rf"(?:(?:{_CARDINAL})\b{_NOT_COUNTED}|{_ORDINAL}\b)"
"""A spelt-out hour."""
_HINT: Final = pattern(rf"half|past|quarter|пол|пів|чверт|без |\bчас|\d-?[йіт]|\b(?:{_CARDINAL})\b|{_ORDINAL}")
_SHAPES: Final = [
    (pattern(rf"\b{shape}"), towards)
    for shape, towards in (
        (rf"{_AT}?(?:пол(?:овин[еуы])?[\s-]*|пів(?:\s+на\s+|\s+))(?P<next>{_ORDINAL})\b", 30),
        (rf"{_AT}?(?P<m>{_MINUTE}){_UNIT}?\s+past\s+(?P<hour>{_NUMBER})", 0),
        (rf"{_AT}half\s+(?P<half>{_NUMBER})(?!\s*(?:an?\b|min|hour))", 0),
        (rf"{_AT}?(?P<m>{_MINUTE}){_UNIT}?\s+по\s+(?P<hour>{_ORDINAL})\b", 0),
        (rf"(?<!from )(?<!from the ){_AT}?(?P<back>(?:{'|'.join(_MINUTES.values())})|\d+{_UNIT}){_UNIT}?"
         rf"\s+(?:to|till|before)\s+(?P<hour>{_NUMBER}){_NOT_COUNTED}", 0),
        (rf"без\s+(?P<back>{_MINUTE}){_UNIT}?\s+(?P<hour>{_ORDINAL}|{_NUMBER}|час\b)", 0),
        (rf"за\s+(?P<back>{_MINUTE}){_UNIT}?\s+(?P<hour>{_ORDINAL})\b", 0),
        (rf"{_AT}?(?P<m>(?:{_MINUTE}){_UNIT}|четверть)\s+(?P<next>{_ORDINAL})\b", 0),
        (rf"{_AT}?(?P<m>{_MINUTE}){_UNIT}?\s+на\s+(?P<next>{_ORDINAL})\b", 0),
        (rf"{_AT}?(?P<hour>{_CARDINAL}|о(?:б)?\s+{_ORDINAL})\s+(?P<m>(?:{'|'.join(_MINUTES.values())})){_NOT_COUNTED}",
         0),
        (rf"{_AT}(?<!на )(?P<hour>{_CARDINAL}){_NOT_COUNTED}", 0),
        (rf"(?:о|об|до|близько)\s+(?P<hour>{_ORDINAL}|(?:[01]?\d|2[0-3])-?(?:й|ій|у|ту))\b", 0),
        (rf"(?:в|до|к)\s+(?P<one>час)(?:у|а)?(?=\s+(?:дня|ночи)|{_NOT_COUNTED})", 0),
    )
]  # fmt: skip
_VALUES: Final = [
    *((pattern(rf"(?:об?\s+)?(?:{shape})"), number) for number, shape in _CARDINALS.items()),
    *((pattern(rf"(?:об?\s+)?(?:{shape}){_ENDING}"), number) for number, shape in _ORDINALS.items()),
]
_MINUTE_VALUES: Final = [(pattern(rf"(?:{shape}){_UNIT}?"), number) for number, shape in _MINUTES.items()]
_DIGITS: Final = pattern(r"\d+")


def in_digits(folded: str) -> str:
    """The folded text with hours after "at" or "в" in digits; all other characters keep their positions."""
    if _HINT.search(folded) is None:
        return folded
    for shape, half in _SHAPES:
        folded = shape.sub(lambda match, half=half: _written(match, half), folded)  # type: ignore[misc]
    return folded


def _written(match: re.Match[str], half: int) -> str:
    said = {name: value for name, value in match.groupdict().items() if value}
    if "one" in said:
        night = match.string.startswith(" ночи", match.end())
        return f"в{(' 1' if night else '13').rjust(len(match[0]) - 1)}"
    hour = _value(said.get("hour") or said.get("half") or said["next"], _VALUES)
    minutes = 30 if half or "half" in said else _value(said["m"], _MINUTE_VALUES) if "m" in said else 0
    if hour is None or minutes is None:
        return match[0]
    if "back" in said:
        back = _value(said["back"], _MINUTE_VALUES)
        if back is None or not 0 < back < 60:
            return match[0]
        hour, minutes = hour - 1, 60 - back
    elif "next" in said:
        hour -= 1
    hour = hour or 12
    clock = f"{hour}{HALF}{minutes:02}" if minutes else str(hour)
    lead = "at" if match[0].isascii() else "в"
    width = len(match[0]) - len(clock)
    return f"{lead}{' ' * (width - len(lead))}{clock}" if width > len(lead) else match[0]


def _value(said: str, values: list[tuple[re.Pattern[str], int]]) -> int | None:
    for shape, number in values:
        if shape.fullmatch(said):
            return number
    digits = _DIGITS.search(said)
    return int(digits[0]) if digits else None
