"""Questions about another time: the date among the words, and what is asked about it.

"летом 2023 где я жил?", "where did I live two years ago?": the date comes first or last, and nobody is made to mark it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from internal.language.dates.parse import Dated, end_of, resolve, resolve_plainly
from internal.language.text.spelling import Language, words

_LONGEST = 7
"""Words of the longest date: "в самом начале мая 2023 года" has six."""

_AROUND = " \t\n,;:.!?—–-\"'«»“”()"
_WORD = re.compile(r"\S+")
_NUMBER_BEFORE = re.compile(r"(?<!\w)\d{1,4}[\s,]*$")
_NUMBER_BEHIND = re.compile(r"[\s,]*\d{1,4}(?!\w)")

_OPENS = words(
    "а и і й так то ж же ну скажи расскажи розкажи was it as of the at in on to from by about с со у в во на к ко до от"
    " із зі з від о об"
)
"""What may stand beside a date without being part of it; a date never ends in one of these."""


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    """A question about [begins, ends), or, with no end, about a moment. `question` is empty if only a date was said."""

    begins: datetime
    ends: datetime | None
    question: str


_Reader = Callable[[str, datetime, Language], Dated | None]


def dated_question(text: str, at: datetime, language: Language) -> DatedQuestion | None:
    """The date and the question of a text said at `at` (aware, in the owner's zone); None if no date can be read.

    Loads dateparser, so it belongs into the language process.
    """
    return _read(text, at, language, resolve)


def dated_question_plainly(text: str, at: datetime, language: Language) -> DatedQuestion | None:
    """As `dated_question`, for ISO dates, years and relative words only: pure, a millisecond."""
    return _read(text, at, language, resolve_plainly)


def _read(text: str, at: datetime, language: Language, reader: _Reader) -> DatedQuestion | None:
    for phrase, question in _cuts(text):
        dated = reader(phrase, at, language)
        if dated is not None and not (dated.precision == "month" and _torn(text, phrase)):
            return DatedQuestion(dated.moment, _end(dated), question)
    return None


def _cuts(text: str) -> Iterator[tuple[str, str]]:
    """Dates that may be there, each with the rest: longer ones first, of two as long the one at the beginning."""
    places = [match.span() for match in _WORD.finditer(text)]
    for count in range(min(_LONGEST, len(places)), 0, -1):
        end, start = places[count - 1][1], places[-count][0]
        phrase = text[:end].strip(_AROUND)
        if not _loose(phrase.rsplit(maxsplit=1)[-1:]):
            yield phrase, text[end:].strip().lstrip(_AROUND)
        if count < len(places):
            yield text[start:].strip(_AROUND), text[:start].rstrip(" \t\n,;:—–-") + _mark(text)


def _torn(text: str, phrase: str) -> bool:
    """Whether a number stands right before or behind: "30 лютого" is no day, but not the whole of February either."""
    before, _, behind = text.partition(phrase)
    return bool(_NUMBER_BEFORE.search(before) or _NUMBER_BEHIND.match(behind))


def _loose(last: list[str]) -> bool:
    return not last or last[0].lower() in _OPENS


def _mark(text: str) -> str:
    return "?" if text.rstrip().endswith("?") else ""


def _end(dated: Dated) -> datetime | None:
    """The end of a calendar's day, month or year; "three years ago" is the day that it leads to, not a year from it."""
    if dated.precision == "time":
        return None
    moment = dated.moment
    aligned = {
        "week": moment.weekday() == 0,
        "month": moment.day == 1,
        "season": moment.day == 1,
        "year": (moment.month, moment.day) == (1, 1),
        "decade": (moment.month, moment.day) == (1, 1),
    }
    if aligned.get(dated.precision, True):
        return end_of(dated)
    return moment + timedelta(days=1)
