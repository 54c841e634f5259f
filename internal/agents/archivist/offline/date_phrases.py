"""Finds the words of a sentence that are a date: a future one of a goal, or a past one of an event."""

import re
from collections.abc import Iterator
from datetime import datetime

from internal.language.dates import deadlines, parse
from internal.language.text.spelling import Language, words

_MOST = 6
"""Most words of one date."""

_HEADS = words("до к ко в во у на по через by in on until before till within from next this coming с з із від")
"""Words with which a date may begin; a bare number or month needs none."""
_BARE = re.compile(
    r"(?:прошл|следующ|будущ|ближайш|эт[оаи]|минул|наступн|ц[ьеіи]|торік|цьогоріч|last|next|this|позапрошл|позамин)\w*"
    r"|лет(?:ом|о)|весной|осенью|зимой|влітку|навесні|восени|взимку|tomorrow|завтра|послезавтра|післязавтра|\d{1,4}\S*",
    re.IGNORECASE,
)


def ahead_in(text: str, at: datetime, language: Language) -> str | None:
    """The longest phrase that names a moment after `at`; None if there is none."""

    def is_ahead(phrase: str) -> bool:
        found = deadlines.resolve(phrase, at, "ahead", language)
        return found is not None and found > at

    return next(filter(is_ahead, _phrases(text)), None)


def past_in(text: str, at: datetime, language: Language, *, days: bool = False) -> str | None:
    """The longest phrase that names a month, season or year that has begun, or a day by its number.

    With `days` any day, also "yesterday". A bare number is no year: it may be that of a contract.
    """

    def has_been(phrase: str) -> bool:
        if phrase.isdigit():
            return False
        found = parse.resolve(phrase, at, language)
        if found is None or found.moment > at or found.precision == "time":
            return False
        return days or found.precision not in ("day", "week") or re.search(r"\d", phrase) is not None

    return next(filter(has_been, _phrases(text)), None)


def _phrases(text: str) -> Iterator[str]:
    """Runs of words that may be a date, the longest first."""
    found = [word.strip(',;:!?()«»"“”') for word in text.rstrip(".!?… ").split()]
    for size in range(min(_MOST, len(found)), 0, -1):
        for start in range(len(found) - size + 1):
            if _opens(found[start], size) and found[start + size - 1].casefold() not in _HEADS:
                yield " ".join(found[start : start + size])


def _opens(word: str, size: int) -> bool:
    return (word.casefold() in _HEADS and size > 1) or _BARE.fullmatch(word) is not None
