"""Finds what lines told without asking for a task say of days to come: "we fly to Malta on December 12"."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from internal.language.commands.amendments import amend_lines
from internal.language.commands.questions import WEEK, days_of
from internal.language.commands.recognise import is_command
from internal.language.dates.normalise import MONTHS
from internal.language.dates.recurrences import matches_rule
from internal.language.dates.units import fold
from internal.language.tasks.completion import find_completions, find_move, tells_past
from internal.language.tasks.times import find_time
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, sentence_spans, text_language

_MAY_NAME_DAY: Final = pattern(
    rf"\d|days?\b|tonight|tomorrow|week|every|завтра|сегодня|сьогодні|недел|тиж|выходн|вихідн|через|\bза\b|\bin\b|кажд"
    rf"|кожн|понед|вторн|вівтор|сред|серед|четв|пятн|п'ятн|субб|субот|воскр|неділ|\b(?:{'|'.join(MONTHS)})\b"
)
_CLAUSE: Final = pattern(r"[,;]\s+|\s+(?:and|but|и|а|но|та|й|і|але)\s+")
_AGREED: Final = ("на ", "for ")
"""What stands before a day for which something was arranged in the past: "booked for Friday", "moved to Friday"."""


def plans_within(
    lines: Sequence[tuple[str, datetime]], first: datetime, last: datetime, default: Language
) -> list[tuple[str, datetime]]:
    """The sentences that name a day from `first` to before `last`, each with when it was written, without what was
    done, called off or moved since. The lines are the owner's own, in the order of time, in his zone.
    """
    planned: list[tuple[str, datetime]] = []
    for text, at in amend_lines(lines, lambda line: line, lambda line, text: (text, line[1])):
        for start, end in sentence_spans(text):
            sentence = text[start:end].strip()
            language = text_language(sentence, default)
            known = [said for said, _ in planned]
            over = [one.index for one in find_completions(sentence, known)] if known else []
            if known and (moved := find_move(sentence, known, at, language)) is not None:
                over.append(moved[0])
            planned = [one for n, one in enumerate(planned) if n not in over]
            if _is_within(sentence, at, first, last, language):
                planned.append((sentence, at))
    return planned


def _is_within(sentence: str, at: datetime, first: datetime, last: datetime, language: Language) -> bool:
    folded = fold(sentence)
    if not _MAY_NAME_DAY.search(folded) or folded.rstrip().endswith("?") or is_command(sentence, at, changes=True):
        return False
    return any(_names(clause, at, first, last, language) for clause in _CLAUSE.split(folded))


def _names(clause: str, at: datetime, first: datetime, last: datetime, language: Language) -> bool:
    week = WEEK.search(clause)
    time, days = (find_time(clause, at, language), 1) if week is None else days_of(week, at)
    if time is None or time.hour_only or (not time.sure and week is None):
        return False
    start = time.spans[0][0]
    if tells_past(clause) and not (clause.startswith(_AGREED, start) or clause[:start].endswith("to ")):
        return False
    if time.recurrence:
        asked = (first + timedelta(days=ahead) for ahead in range((last - first).days))
        return any(matches_rule(time.recurrence, day.date()) for day in asked)
    begins = time.moment.replace(hour=0, minute=0)
    return begins < last and first < begins + timedelta(days=days)
