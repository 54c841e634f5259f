"""Finds occasions mentioned in passing, in three languages: the word for one, its day, and its person.

Works by word classes: any order of the three, several people and days in one sentence, numbers of years ("turns 60").
A question, a doubt or a supposition states no occasion, and neither does a visit to a birthday party, whose day may
be a different one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from internal.language.dates.days import AHEAD, FROM_NOW, NamedDay, named_days
from internal.language.dates.in_text import dates_in
from internal.language.dates.normalise import MONTHS, NUMBERS, canonical
from internal.language.dates.units import blank_out, day_after, fold, number_of, unit_of
from internal.language.facts.statements import OCCASIONS, Judge, stated
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, name_key
from internal.language.text.tables import table

OWNER: Final = -1
"""The value of `whose` for the owner."""

_WORDS: Final = table(__package__, "occasions")
"""The shapes of occasions, with placeholders for numbers and the like."""
_TENS_IN_WORDS: Final = {int(number): forms for number, forms in _WORDS["tens"].items()}
_COUNTS: Final = NUMBERS | {
    number: "|".join(filter(None, (NUMBERS.get(number), forms))) for number, forms in _TENS_IN_WORDS.items()
}
_ONCE: Final = ("wedding", "event")
_TENS: Final = "|".join(_COUNTS[number] for number in range(20, 100, 10))
_UNITS: Final = "|".join(_COUNTS[number] for number in range(1, 10))
_N: Final = rf"(?:\d{{1,3}}|(?:{_TENS})[\s-]+(?:{_UNITS})(?!\w)|{'|'.join(_COUNTS.values())})"
_YEARS: Final = r"(?:лет|год\w{0,4}|ро(?:к|чк)\w{0,2}|рік|years?)"
_TOGETHER: Final = r"(?:вместе|разом|together|женат\w*|замужем|married|в браке|у шлюбі|одружен\w*|пожени\w+)"
_PLACES: Final = {
    "NUMBER": _N, "YEARS": _YEARS, "TOGETHER": _TOGETHER, "MONTHS": "|".join(MONTHS),
    "TENS": "|".join(_TENS_IN_WORDS.values()),
}  # fmt: skip
_PLACE: Final = re.compile("|".join(_PLACES))
_SHAPES: Final = {kind: _PLACE.sub(lambda match: _PLACES[match[0]], shape) for kind, shape in _WORDS["shapes"].items()}
_WORD: Final = pattern("|".join(rf"(?P<{kind}>\b(?:{forms})(?!\w))" for kind, forms in _SHAPES.items()), re.IGNORECASE)
_AGE: Final = pattern(rf"\b{_N}(?:-?(?:th|st|nd|rd))?[-\s]?(?:{_YEARS}|лети\w+|річч\w+|birthday|anniversary)", re.I)
_A_YEAR: Final = pattern(r"\b(?:a year|год|рік),?\s+(?:since|as|как|як)\b", re.IGNORECASE)
_OF_AGE: Final = pattern(rf"\b(?:ей|ему|їй|йому|he is|she is)\s+(?:будет\s+|буде\s+)?{_N}\b", re.IGNORECASE)
_COUNT: Final = pattern(rf"\b{_N}(?:-oh)?(?!\w*[^\W\d])|\b{_N}(?=лети|річч)|\d+", re.IGNORECASE)
_VISITED: Final = pattern(r"\b(?:на|к|ко|до|после|після|перед|for|to|at|after|before)\s+(?:\S+\s+)?$", re.IGNORECASE)
_GOVERNED: Final = pattern(
    r"\b(?:на|к|ко|до|по|про|о|с|со|з|із|for|to|at|with|on|about|of)\s+(?:\S+\s+){0,2}$", re.IGNORECASE
)
_FROM: Final = pattern(r"\b(?:from\s+(?:(?:the|an?|his|her|our|my|\S+['’]s)\s+)?|(?:со?|з|із|зі)\s+)$", re.IGNORECASE)
_INSTRUMENTAL: Final = pattern(r"^\w+(?:[еёоя]м|ми|[ое]ю|ой)\b", re.IGNORECASE)
_SINCE: Final = pattern(r"since|as|как|як|нет|немає", re.IGNORECASE)
_DOUBT: Final = pattern(_WORDS["doubt"], re.IGNORECASE)
_OFF: Final = pattern(_WORDS["called_off"], re.IGNORECASE)
_PAST: Final = pattern(_WORDS["past"], re.IGNORECASE)
_MINE: Final = (
    r"\b(?:my|our|мой|моя|мо[её]|моего|мій|моє|мого|наш\w{0,2}|нашого|нашої|у меня|у мене|у нас|мы|ми|мне|мені|we|i)\s+"
    r"(?:\S+\s+){0,2}$"
)
_MINE_BEFORE: Final = pattern(_MINE, re.IGNORECASE)
_WE: Final = pattern(r"\b(?:мы|ми|нам|наш\w*|we|our|у нас)\b", re.IGNORECASE)
_FIRST_PERSON: Final = pattern(_WORDS["first_person"], re.IGNORECASE)
_CLAUSE_BORDER: Final = pattern(r"[,;]|\s(?:and|but|и|а|но|і|й|та|але)\s", re.IGNORECASE)
_FUNERAL: Final = pattern(_WORDS["funeral"], re.IGNORECASE)
_SAYING: Final = rf"(?:{_WORDS['saying']})"
_SAYS: Final = pattern(rf"\s+{_SAYING}\b", re.IGNORECASE)
_SAID_BY: Final = pattern(rf"\b{_SAYING}\s+(?:(?:my|our|мо\w+|наш\w*)\s+)?$", re.IGNORECASE)
_AT_SOMEBODY: Final = pattern(r"\b(?:у|в)\s+(?:\S+\s+){0,2}$", re.IGNORECASE)
_OF_SOMEBODY: Final = pattern(r"\s+(?:(?:of|у|в|is|—|-)\s+)?(?:(?:my|our|мо\w+|наш\w*)\s+)?(?:\S+\s+)?", re.IGNORECASE)
_POSSESSIVE: Final = pattern(r"['’]s?\s+(?:\S+\s+){0,2}", re.IGNORECASE)
_AND: Final = pattern(r"\s+(?:and|&|и|й|і|та|со?|з|із|зі)\s+(?:(?:my|our|мо\w+|наш\w*|сво\w+)\s+)?", re.IGNORECASE)
_BORN: Final = pattern(r"born|родил|народи", re.IGNORECASE)
_GAVE_BIRTH: Final = pattern(
    r"\b(?:родил[аи]?|народи(?:ла|ли|в)|gave birth|(?:had|welcomed) (?:a|their) (?:baby|boy|girl|son|daughter)"
    r"|became (?:a )?(?:mum|mother|dad|father|parent)s?|ста(?:ла?|ли|в) (?:мам|пап|тат|отц|бать|родит)\w+)(?!\w)",
    re.IGNORECASE,
)
_TO_PARENT: Final = pattern(
    r"\b(?:born to|[ув])\s+(?:(?:my|our|мо\w+|наш\w+)\s+)?"
    r"(?:(?:сестр|брат|подру|друг|друз|доч|доньк|сын|син|колег|коллег|сосед|сусід|кум|sister|brother|friend)\w*\s+)?$",
    re.IGNORECASE,
)
_BORN_I: Final = pattern(r"\b(?:я|i)\s+(?:\S+\s+){0,2}$", re.IGNORECASE)
_AGED: Final = pattern(r"turn|will be|исполн|виповн|стукн|буд", re.IGNORECASE)
_NOT: Final = pattern(
    r"\b(?:не|not)\s+(?:(?:в|on|the|an?|his|her|their|its|его|е[её]|їх|його|її|\S+['’]s)\s+)?$", re.IGNORECASE
)
_TOKEN: Final = pattern(r"[^\s,;!?()«»\"“”—–]+")
_DAY_MONTH: Final = pattern(r"(\d{1,2}) month(\d{1,2})(?: (\d{4}))?")
_NUMERIC: Final = pattern(r"(?<![\d.])([0-3]?\d)[./]([01]?\d)(?:[./](\d{4}))?(?![\d.]*\d)")
_ISO: Final = pattern(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_LONGEST_DATE: Final = 5


@dataclass(frozen=True, slots=True)
class NamedOccasion:
    """An occasion of the person with the index `whose` among those given, or of the OWNER.

    `year` is that of the beginning, of a wedding and the like its own; None if unknown.
    """

    kind: str
    month: int
    day: int
    year: int | None
    whose: int


@dataclass(frozen=True, slots=True)
class _Day:
    start: int
    end: int
    month: int
    day: int
    year: int | None
    on: date | None = None
    """The day itself if it was named relative to the message: "tomorrow"."""


Span = tuple[int, int]


def find_occasions(
    sentence: str, at: datetime, people: Sequence[Span], language: Language, judge: Judge | None = None
) -> Iterator[NamedOccasion]:
    """The occasions in a sentence written at `at` (aware, in the owner's zone); `people` are the places of names.

    A judge finds those in words that no rule knows.
    """
    if _DOUBT.search(blank_out(sentence, people)) or sentence.rstrip().endswith("?"):
        return
    named = list(_WORD.finditer(sentence))
    words = [word for word in named if not _NOT.search(sentence[: word.start()])]
    past = _PAST.search(sentence) is not None
    days = _days(sentence, at, language, past=past) if words or people else []
    if words:
        yield from _by_words(sentence, at, people, words, days)
        return
    whose = _only_one(sentence, people) if days and not named else None
    if whose is not None and (kind := stated(sentence, judge, OCCASIONS)):
        kind = "event" if kind == "memorial" and _FUNERAL.search(sentence) else kind
        if not (past and kind in _ONCE) and (kind == "birthday" or not parents(sentence, people)):
            yield _occasion(sentence, kind, days[0], whose, at, _years(sentence))


def _by_words(
    sentence: str, at: datetime, people: Sequence[Span], words: Sequence[re.Match[str]], days: Sequence[_Day]
) -> Iterator[NamedOccasion]:
    heads_first = bool(days and people) and days[0].start < min(start for start, _ in people)
    for number, day in enumerate(days):
        word = min(words, key=lambda one: _apart(sentence, one.span(), (day.start, day.end)))
        kind, region = str(word.lastgroup), _region(days, number, len(sentence), heads_first=heads_first)
        years = _years(sentence if len(days) == 1 else _clause(sentence, day))
        if _party_only(sentence, word, kind, day) or (_SINCE.match(word[0]) and years is None):
            continue
        near = [
            position
            for position, span in enumerate(people)
            if region[0] <= span[0] < region[1]
            and not (_BORN.match(word[0]) and position in parents(sentence, people))
            and not (_AGED.match(word[0]) and _POSSESSIVE.match(sentence, span[1]))
        ]
        own_word = region[0] <= word.start() and not _FIRST_PERSON.search(sentence, *region)
        if not near and len(days) > 1 and len(people) == 1 and own_word:
            near = [0]  # "Tom's name day is 4 December, and his birthday is 23 February"
        whose = _whose(sentence, word.span(), near, people, kind)
        if whose is not None:
            yield _occasion(sentence, kind, day, whose, at, years)


def _apart(sentence: str, word: Span, day: Span) -> tuple[bool, int]:
    """How far a word stands from a day: whether in another clause, and by how many characters."""
    return _CLAUSE_BORDER.search(sentence, min(word[1], day[1]), max(word[0], day[0])) is not None, _distance(word, day)


def _clause(sentence: str, day: _Day) -> str:
    """The part of a sentence about this day among several."""
    start = max((one.end() for one in _CLAUSE_BORDER.finditer(sentence, 0, day.start)), default=0)
    end = _CLAUSE_BORDER.search(sentence, day.end)
    return sentence[start : end.start() if end else len(sentence)]


def _only_one(sentence: str, people: Sequence[Span]) -> int | None:
    """The only person of a sentence whose occasion it may state, besides one who only says so; None if unsure."""
    born_to = parents(sentence, people)
    meant = [
        position
        for position, (start, end) in enumerate(people)
        if position not in born_to
        and (len(people) == 1 or not (_SAYS.match(sentence, end) or _SAID_BY.search(sentence[:start])))
    ]
    return meant[0] if len(meant) == 1 else None


def parents(sentence: str, people: Sequence[Span]) -> set[int]:
    """Those to whom a child is born, which is not their own birthday: "Зоя родила дочку", "у Зои родилась дочка"."""
    birth, born = _GAVE_BIRTH.search(sentence), _BORN.search(sentence)
    found: set[int] = set()
    for number, (start, _) in enumerate(people):
        with_one = number - 1 in found and _AND.fullmatch(sentence, people[number - 1][1], start)
        if (birth and start < birth.end()) or (born and (_TO_PARENT.search(sentence[:start]) or with_one)):
            found.add(number)
    return found


def called_off(sentence: str) -> str | None:
    """The kind of occasion that a sentence says will not take place: "the wedding's off"."""
    off = _OFF.search(sentence)
    if off is None or sentence.rstrip().endswith("?") or _DOUBT.search(blank_out(sentence, [off.span()])):
        return None
    word = _WORD.search(off[0])
    return word.lastgroup if word else None


def is_occasion(title: str) -> bool:
    """Whether a text is the name of an occasion: "Masha's birthday", not "buy a gift for the birthday"."""
    return any(_GOVERNED.search(title[: match.start()]) is None for match in _WORD.finditer(title))


def _occasion(sentence: str, kind: str, day: _Day, whose: int, at: datetime, years: int | None) -> NamedOccasion:
    on = day.on or _next(day, at.date(), past=_PAST.search(sentence) is not None)
    if kind in ("birthday", "anniversary", "memorial", "name_day"):
        begun = day.year if day.year is not None and day.year < at.year else None
        return NamedOccasion(kind, day.month, day.day, begun or (on.year - years if years and on else None), whose)
    return NamedOccasion(kind, day.month, day.day, day.year or (on.year if on else None), whose)


def _years(sentence: str) -> int | None:
    """The number of years of an occasion: "turns 60", "10 лет как вместе", "30th birthday"."""
    for shape in (_AGE, _WORD, _OF_AGE):
        for match in shape.finditer(sentence):
            if count := _COUNT.search(match[0]):
                return _number(name_key(count[0]))
    return 1 if _A_YEAR.search(sentence) else None


def _number(text: str) -> int | None:
    """The sum of a number's parts: "35", "тридцать пять"."""
    if text.isdecimal():
        return int(text)
    if text.endswith("-oh"):  # "the big three-oh"
        return 10 * (_number(text.removesuffix("-oh")) or 0) or None
    parts = [
        number for part in re.split(r"[\s-]+", text) for number, forms in _COUNTS.items() if re.fullmatch(forms, part)
    ]
    return sum(parts) or None


def _next(day: _Day, today: date, *, past: bool) -> date | None:
    """The next occurrence of this day, or the last one in a sentence about the past."""
    years = (today.year, today.year - 1) if past else (today.year, today.year + 1)
    for year in years:
        try:
            found = date(day.year if day.year and day.year >= today.year else year, day.month, day.day)
        except ValueError:
            continue
        if (found <= today) if past else (found >= today):
            return found
    return None


def _party_only(sentence: str, word: re.Match[str], kind: str, day: _Day) -> bool:
    """Whether a line only mentions a visit to a birthday ("tomorrow we go to Tom's birthday"), or what is from one."""
    if _FROM.search(sentence[: word.start()]) and not _INSTRUMENTAL.search(word[0]):
        return True
    if kind not in ("birthday", "name_day") or _VISITED.search(sentence[: word.start()]) is None:
        return False
    return day.on is not None or day.start < word.start()


def _region(days: Sequence[_Day], number: int, length: int, *, heads_first: bool) -> Span:
    """The region where the person of a day is named: before it, or after it if the sentence begins with a day."""
    if len(days) == 1:
        return 0, length
    if heads_first:
        return days[number].start, days[number + 1].start if number + 1 < len(days) else length
    return days[number - 1].end if number else 0, days[number].end


def _whose(sentence: str, word: Span, near: Sequence[int], people: Sequence[Span], kind: str) -> int | None:
    before = sentence[: word[0]]
    born = _BORN.match(sentence, word[0]) is not None  # "a daughter was born to us, Eve"
    mine = (_BORN_I if born else _MINE_BEFORE).search(before)
    if mine and not any(mine.start() < people[position][0] < word[0] for position in near):
        return OWNER
    ranked = sorted(
        near, key=lambda position: (_rank(sentence, word, people[position]), _distance(people[position], word))
    )
    if ranked:
        first = max(ranked[0] - 1, 0)  # "Ann and Tom's wedding"
        return first if _AND.fullmatch(sentence, people[first][1], people[ranked[0]][0]) else ranked[0]
    return OWNER if kind not in ("birthday", "name_day", "memorial") and (_WE.search(sentence) or not people) else None


def _rank(sentence: str, word: Span, person: Span) -> int:
    """A rank, 0 for the surest sign that an occasion is this person's."""
    start, end = person
    if start >= word[1]:
        return 0 if _OF_SOMEBODY.fullmatch(sentence[word[1] : start]) else 3
    if _POSSESSIVE.fullmatch(sentence[end : word[0]]):
        return 0
    return 1 if _AT_SOMEBODY.search(sentence[:start]) else 2


def _distance(one: Span, other: Span) -> int:
    return max(0, one[0] - other[1], other[0] - one[1])


def _days(sentence: str, at: datetime, language: Language, *, past: bool) -> list[_Day]:
    """The days that a sentence names, in order: calendar days, else days relative to the message."""
    # "turns 22 on June 23": the age is not a day
    blanked = _WORD.sub(lambda match: "~" * len(match[0]), sentence)
    found = [*_calendar_days(blanked), *_numeric_days(blanked)]
    found = [day for day in found if not _NOT.search(sentence[: day.start])]
    if found:
        return sorted(found, key=lambda day: day.start)
    if past or not (ahead := named_days(fold(sentence), at, language) or _units_ahead(fold(sentence), at.date())):
        named = [one for one in dates_in(sentence, at, language) if one.precision == "day"]
        return [_relative(one.start, one.end, one.moment.date()) for one in named[:1]]
    return [_relative(*ahead[0].span, ahead[0].day)] if ahead[0].sure else []


def _units_ahead(folded: str, today: date) -> list[NamedDay]:
    """The day that a number of days, weeks or months leads to: "in nine days"."""
    match = AHEAD.search(folded) or FROM_NOW.search(folded)
    if match is None or match[0].startswith("за "):  # "за неделю до свадьбы" is before another day
        return []
    count, unit = number_of(match["count"]), unit_of(match["unit"])
    day = day_after(today, count, unit) if count and unit not in ("minute", "hour") else None
    return [NamedDay(day, match.span())] if day else []


def _relative(start: int, end: int, on: date) -> _Day:
    return _Day(start, end, on.month, on.day, None, on)


def _calendar_days(sentence: str) -> Iterator[_Day]:
    tokens = list(_TOKEN.finditer(sentence))
    index = 0
    while index < len(tokens):
        for size in range(min(_LONGEST_DATE, len(tokens) - index), 1, -1):
            last = tokens[index + size - 1]
            match = _DAY_MONTH.fullmatch(
                canonical(name_key(" ".join(one[0].rstrip(".") for one in tokens[index : index + size]))) or ""
            )
            if match and _exists(int(match[2]), int(match[1])):
                year = int(match[3]) if match[3] else None
                yield _Day(tokens[index].start(), last.end(), int(match[2]), int(match[1]), year)
                index += size - 1
                break
        index += 1


def _numeric_days(sentence: str) -> Iterator[_Day]:
    for match in _ISO.finditer(sentence):
        if _exists(int(match[2]), int(match[3])):
            yield _Day(match.start(), match.end(), int(match[2]), int(match[3]), int(match[1]))
    for match in _NUMERIC.finditer(sentence):
        if "." in match[0] and _exists(int(match[2]), int(match[1])):
            yield _Day(match.start(), match.end(), int(match[2]), int(match[1]), int(match[3]) if match[3] else None)


def _exists(month: int, day: int) -> bool:
    try:
        date(2000, month, day)
    except ValueError:
        return False
    return True
