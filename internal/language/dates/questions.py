"""Finds the date in a question about another time, and the question without it.

"летом 2023 где я жил?", "where did I live two years ago?": the date is at the beginning or the end, without a mark.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from internal.language.dates.parse import Dated, end_of, resolve, resolve_plainly
from internal.language.text.spelling import Language, words

_MAX_WORDS = 7
"""The most words of a date: "в самом начале мая 2023 года" has six."""

_PUNCTUATION = " \t\n,;:.!?—–-\"'«»“”()"
_WORD = re.compile(r"\S+")
_NUMBER_BEFORE = re.compile(r"(?<!\w)\d{1,4}[\s,]*$")
_NUMBER_AFTER = re.compile(r"[\s,]*\d{1,4}(?!\w)")

_CONNECTORS = words(
    "а и і й так то ж же ну скажи расскажи розкажи was it as of the at in on to from by about с со у в во на к ко до от"
    " із зі з від о об"
)
"""Words that may stand beside a date without being part of it; a date never ends in one of these."""


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    """A question about [begins, ends), or a moment if there is no end. `question` may be empty."""

    begins: datetime
    ends: datetime | None
    question: str


_Reader = Callable[[str, datetime, Language], Dated | None]


def dated_question(text: str, at: datetime, language: Language) -> DatedQuestion | None:
    """The date and the question of a text written at `at` (aware, in the owner's zone); None if no date can be read.

    Loads dateparser, so call it in the language process.
    """
    return _read(text, at, language, resolve)


def dated_question_plainly(text: str, at: datetime, language: Language) -> DatedQuestion | None:
    """Like `dated_question`, for ISO dates, years and relative words only: pure, a millisecond."""
    return _read(text, at, language, resolve_plainly)


def _read(text: str, at: datetime, language: Language, reader: _Reader) -> DatedQuestion | None:
    for phrase, question in _splits(text):
        dated = reader(phrase, at, language)
        if dated is not None and not (dated.precision == "month" and _beside_number(text, phrase)):
            return DatedQuestion(dated.moment, _period_end(dated), question)
    return None


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Possible dates, each with the rest: longer ones first, among equally long ones the one at the beginning."""
    spans = [match.span() for match in _WORD.finditer(text)]
    for count in range(min(_MAX_WORDS, len(spans)), 0, -1):
        end, start = spans[count - 1][1], spans[-count][0]
        phrase = text[:end].strip(_PUNCTUATION)
        if not _ends_in_connector(phrase.rsplit(maxsplit=1)[-1:]):
            yield phrase, text[end:].strip().lstrip(_PUNCTUATION)
        if count < len(spans):
            yield text[start:].strip(_PUNCTUATION), text[:start].rstrip(" \t\n,;:—–-") + _question_mark(text)


def _beside_number(text: str, phrase: str) -> bool:
    """Whether a number is directly beside the date: "30 лютого" is not a day, but not the whole of February either."""
    before, _, after = text.partition(phrase)
    return bool(_NUMBER_BEFORE.search(before) or _NUMBER_AFTER.match(after))


def _ends_in_connector(last: list[str]) -> bool:
    return not last or last[0].lower() in _CONNECTORS


def _question_mark(text: str) -> str:
    return "?" if text.rstrip().endswith("?") else ""


def _period_end(dated: Dated) -> datetime | None:
    """The end of a calendar day, month or year; "three years ago" is a day, not a whole year."""
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
