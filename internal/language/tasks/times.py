"""Finds the time at which something is to be done, in three languages: a future moment, a day, or a recurrence.

Like "у п'ятницю о 9", "every other Monday", "by the end of the month". The rules of `dates.parse` look back
and read a separate phrase; here the phrase is part of a sentence and is in the future.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from rapidfuzz.distance import OSA

from internal.language.dates.days import AHEAD, FROM_NOW, NamedDay, named_days
from internal.language.dates.hours import NamedHour, named_hour
from internal.language.dates.normalise import WEEKDAYS, days_in_digits
from internal.language.dates.recurrences import CODES, matches_rule, recurrence
from internal.language.dates.spoken_hours import in_digits
from internal.language.dates.units import COUNT, UNIT, Span, blank_out, day_after, fold, number_of, unit_of
from internal.language.tasks.vocabulary import any_of
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, words

_HALF_HOUR: Final = pattern(
    r"\b(?:через полчаса|за пів ?години|через пів ?години|in half an hour|in a half hour|через пол ?часа)\b"
)
_AND_HALF: Final = pattern(r"\b(?:через полтора часа|за півтори години|через півтори години|in an hour and a half)\b")
_BEFORE: Final = pattern(
    rf"\b(?:за|заранее за|завчасно за)\s+(?:{COUNT}\s*)?{UNIT}(?:\s+до\s+(?:этого|того|цього|того))?"
)
_BEFORE_EN: Final = pattern(rf"\b{COUNT}\s+{UNIT}\s+(?:before(?:hand)?(?: that| it)?|earlier|in advance|ahead)\b")
_RUSSIAN: Final = pattern(r"\b(?:час|минут|недел)")
"""Russian units, with which "за" means how long before; in Ukrainian "за годину" also means "in an hour"."""
_UNTIL: Final = pattern(r"(?:до|к|ко|by|before|until|till|не поз\w+|не піз\w+)\s")
_HOUR: Final = timedelta(hours=1)
_LENGTHS: Final = {"minute": _HOUR / 60, "hour": _HOUR, "day": _HOUR * 24, "week": _HOUR * 24 * 7}
_WAKING_FROM: Final = 6


@dataclass(frozen=True, slots=True)
class TimeFound:
    """A time named in a text. `moment` is aware, in the author's zone; for a `whole_day` it is midnight.

    `recurrence` is an RRULE. `spans` are the characters that name it, in order. Not `sure` if another day may be meant,
    as with "next month". `hour_only`: no day is named; `loose`: nor whether a.m. or p.m.
    """

    moment: datetime
    whole_day: bool
    recurrence: str | None
    spans: tuple[Span, ...]
    sure: bool = True
    hour_only: bool = False
    loose: bool = False
    until: bool = False
    """Whether it is a deadline: by that day at the latest."""


def find_time(text: str, at: datetime, language: Language = "en") -> TimeFound | None:
    """The future time that a text written at `at` (aware, in the owner's zone) names, or None. Some 0.2 ms."""
    folded = _with_days_mended(in_digits(days_in_digits(fold(text))))
    if before := _BEFORE.search(folded) or _BEFORE_EN.search(folded):
        earlier = _time_before(folded, at, language, before)
        if earlier is not None or not before[0].startswith("за ") or _RUSSIAN.search(before[0]):
            return earlier
    ahead = _relative(folded, at)
    again = recurrence(folded)
    if again is not None:
        return _recurring(folded, at, *again)
    if ahead is not None and not ahead.whole_day:
        return ahead
    days = named_days(folded, at, language)
    if ahead is not None and not days:
        days = [NamedDay(ahead.moment.date(), ahead.spans[0], ahead.sure)]
    rest = blank_out(folded, [day.span for day in days])
    clock = named_hour(rest, days[0].span[1] if days else None)
    if not days and clock is None:
        return None
    found = _combine(days, clock, at)
    return replace(found, until=found.whole_day and _UNTIL.match(folded, found.spans[0][0]) is not None)


def unread_time(text: str, time: TimeFound | None, at: datetime, language: Language = "en") -> str:
    """Words of a text that name another time than the one found, and that could not be read; or nothing.

    Another time that can be read is part of the task: "at 9 about the meeting at half past four".
    """
    rest = blank_out(in_digits(days_in_digits(fold(text))), time.spans if time is not None else ())
    match = _TIME_WORDS.search(rest) or next((one for one in _LONG_WORD.finditer(rest) if _misspelt_day(one[0])), None)
    if match is None or find_time(rest, at, language) is not None:
        return ""
    return text[match.start() : match.end()].strip()


_TIME_WORDS: Final = pattern(any_of("time_words"))
_LONG_WORD: Final = pattern(r"[^\W\d_']{5,}")
_ON: Final = r"(?:on|this|next|every|by|until|till|each|в|во|у|на|до|к|кажд\w{2,3}|кожн\w{1,3})"
_ON_LONG_WORD: Final = pattern(rf"(?<!\w){_ON}\s+(?P<day>[^\W\d_][^\W\d_']{{4,}})")
_DAY_NAMES: Final = {
    name: short
    for short, names in {
        "mon": "monday", "tue": "tuesday", "wed": "wednesday", "thu": "thursday", "fri": "friday", "sat": "saturday",
        "sun": "sunday", "пн": "понедельник понеділок", "вт": "вторник вівторок", "ср": "среду середу",
        "чт": "четверг четвер", "пт": "пятницу пятница п'ятницю", "сб": "субботу суботу", "нд": "воскресенье неділю",
    }.items()
    for name in names.split()
}  # fmt: skip
_DAY_LIKE: Final = words("sundae sundry неделю недели неделе неделя завтрак середня середню середину")
_SHORT_DAY: Final = 6


def _misspelt_day(word: str) -> str:
    """The short form of a misspelt day: "wensday", "пятнецу"; empty for other words."""
    if word in _DAY_NAMES or word in _DAY_LIKE or any(shape.fullmatch(word) for shape in _DAY_SHAPES):
        return ""
    for name, short in _DAY_NAMES.items():
        slips = 2 if min(len(word), len(name)) > _SHORT_DAY else 1
        if name[0] == word[0] and OSA.distance(word, name, score_cutoff=slips) <= slips:
            return short
    return ""


_DAY_SHAPES: Final = [pattern(forms) for forms in WEEKDAYS]


def _with_days_mended(folded: str) -> str:
    """The text with misspelt days after "on" in short form; all other characters keep their positions."""
    for match in _ON_LONG_WORD.finditer(folded):
        if short := _misspelt_day(match["day"]):
            folded = f"{folded[: match.start('day')]}{short.rjust(len(match['day']))}{folded[match.end() :]}"
    return folded


def _combine(days: Sequence[NamedDay], clock: NamedHour | None, at: datetime) -> TimeFound:
    """A day and an hour as one moment; an hour alone means its next occurrence."""
    spans = [named_day.span for named_day in days[:1]]
    day = days[0] if days else None
    if clock is None:
        assert day is not None
        if day.loose and day.day <= at.date():
            day = replace(day, day=day.day + timedelta(days=7))
        return TimeFound(_midnight(day.day, at), True, None, tuple(spans), day.sure)
    hour, span, is_part, loose = clock
    spans = sorted([*spans, span])
    if day is None:
        return TimeFound(_next_time(hour, at, loose=loose), False, None, tuple(spans), not is_part, True, loose)
    hour = _waking_hour(hour) if loose else hour
    moment = datetime.combine(day.day, hour, at.tzinfo)
    if day.loose and moment <= at:
        moment = datetime.combine(day.day + timedelta(days=7), hour, at.tzinfo)
    if is_part and day.day == at.date() and moment <= at:  # "tonight", written late in the evening
        moment = _after(at, _HOUR)
    return TimeFound(moment, False, None, tuple(spans), day.sure)


def _time_before(folded: str, at: datetime, language: Language, before: re.Match[str]) -> TimeFound | None:
    """The named time minus the interval of "On Friday at 10, an hour before", or None without a named time.

    If that has passed already, the named time itself is returned.
    """
    time_found = find_time(blank_out(folded, [before.span()]), at, language)
    count, unit = number_of(before["count"]), unit_of(before["unit"])
    if time_found is None or time_found.recurrence or count is None or unit not in _LENGTHS:
        return None
    if time_found.whole_day and unit in ("minute", "hour"):
        return None
    length = _LENGTHS[unit] * count
    moment = _after(time_found.moment, -length) if unit in ("minute", "hour") else time_found.moment - length
    spans = tuple(sorted([*time_found.spans, before.span()]))
    return replace(time_found, moment=moment if moment > at else time_found.moment, spans=spans)


def _relative(folded: str, at: datetime) -> TimeFound | None:
    """A relative time ("in 20 minutes", "через неделю"): minutes and hours give a moment, longer units a day."""
    for shape, minutes in ((_AND_HALF, 90), (_HALF_HOUR, 30)):
        if match := shape.search(folded):
            return TimeFound(_after(at, timedelta(minutes=minutes)), False, None, (match.span(),))
    match = AHEAD.search(folded) or FROM_NOW.search(folded)
    if match is None:
        return None
    count, unit = number_of(match["count"]), unit_of(match["unit"])
    if count is None or (match[0].startswith("за ") and unit not in ("minute", "hour", "day", "week")):
        return None
    if unit == "minute":
        return TimeFound(_after(at, timedelta(minutes=count)), False, None, (match.span(),))
    if unit == "hour":
        return TimeFound(_after(at, _HOUR * count), False, None, (match.span(),))
    day = day_after(at.date(), count, unit)
    return None if day is None else TimeFound(_midnight(day, at), True, None, (match.span(),))


def _recurring(folded: str, at: datetime, rule: str, span: Span, hour: time | None) -> TimeFound:
    """The first future time of a recurrence, and its rule."""
    spans = [span]
    rest = blank_out(folded, spans)
    if "HOURLY" in rule:
        return TimeFound(_after(at, _HOUR * int(rule.partition("INTERVAL=")[2] or 1)), False, rule, tuple(spans))
    starts = named_days(rest, at, "en") if "BYDAY" not in rule and "BYMONTHDAY" not in rule else []
    if starts:
        spans.append(starts[0].span)
        rest = blank_out(rest, [starts[0].span])
        if rule == "FREQ=WEEKLY":
            rule += f";BYDAY={CODES[starts[0].day.weekday()]}"
    if hour is None and (clock := named_hour(rest)) is not None:
        hour = _waking_hour(clock.hour) if clock.loose else clock.hour
        spans.append(clock.span)
    elif hour is not None and (clock := named_hour(rest)) is not None and not clock.part:
        late = clock.loose and hour >= time(12)  # "каждый вечер в 9"
        hour = time(clock.hour.hour + 12, clock.hour.minute) if late else clock.hour
        spans.append(clock.span)
    begin = starts[0].day if starts else at.date()
    for ahead in range(370):
        day = begin + timedelta(days=ahead)
        moment = datetime.combine(day, hour or time(), at.tzinfo)
        if matches_rule(rule, day) and (moment > at if hour is not None else day > at.date() or bool(starts)):
            return TimeFound(moment, hour is None, rule, tuple(sorted(spans)))
    raise AssertionError(f"no day of a year fits {rule}")


def _waking_hour(hour: time) -> time:
    """The afternoon hour for "at 5" and other hours before six, to avoid notifications at night."""
    return time(hour.hour + 12, hour.minute) if 1 <= hour.hour < _WAKING_FROM else hour


def _next_time(hour: time, at: datetime, *, loose: bool) -> datetime:
    """The next occurrence of an hour; if it may be a.m. or p.m., the next one in waking hours."""
    hours = [hour, time(hour.hour + 12, hour.minute)] if loose else [hour]
    for ahead in (0, 1):
        for candidate in hours:
            moment = datetime.combine(at.date() + timedelta(days=ahead), candidate, at.tzinfo)
            if moment > at and (not loose or candidate.hour > _WAKING_FROM):
                return moment
    return datetime.combine(at.date() + timedelta(days=1), hour, at.tzinfo)


def _after(at: datetime, elapsed: timedelta) -> datetime:
    return (at.astimezone(UTC) + elapsed).astimezone(at.tzinfo)


def _midnight(day: date, at: datetime) -> datetime:
    return datetime.combine(day, time(), at.tzinfo)
