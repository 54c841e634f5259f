"""Traits of a message: whether it asks, names a time or a number, and how many names it holds."""

import re
from functools import partial
from typing import Final

from internal.language.text.tables import any_of
from internal.text_caches import cached

_any: Final = partial(any_of, "internal.language.search")

ENDS_AS_QUESTION: Final = 1
ASKS: Final = 1 << 1
TIME: Final = 1 << 2
NUMBER: Final = 1 << 3
PICTURE: Final = 1 << 4
WISH: Final = 1 << 5

NAMES_SHIFT: Final = 8
MOST_NAMES: Final = 15

_CACHED_WORDS: Final = 1 << 15
"""Words whose traits are cached: 3 MB at most."""

_MAX_CHARACTERS: Final = 20_000
"""Characters that are read: the traits are those of a message, not of a book."""

_MONTHS: Final = _any("months")
_WEEKDAYS: Final = _any("weekdays")
_SPANS: Final = _any("spans")
_POINTS: Final = _any("points")
_NUMBERS: Final = _any("numbers")
_TIME_WORD = re.compile(rf"(?:{_MONTHS}|{_WEEKDAYS}|{_SPANS}|{_POINTS}|(?:19|20)\d\d)")
_NUMBER_WORD = re.compile(rf"(?:\w*\d\w*|{_NUMBERS})")

_WORD = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")
_QUESTION_END = re.compile(r"\?[)\]}\"'»”’!?.\s\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F]*\Z")
_NAME_INSIDE = re.compile(r"(?<=[\w,;:)\"»”–—-][ \t])[A-ZÀ-ÖØ-ÞА-ЯЁЄІЇҐ][\w'’ʼ]+")
"""A capitalised word after another word, not after the end of a sentence."""

_LONGEST_WISH: Final = 400
"""Characters of a standing wish: a longer text tells of much else."""

_WISH = re.compile(
    r"(?:^|[.!?\n])\W*(?:(?:please|and|so|пожалуйста|и|будь ласка|прошу|і|та)\W+)?"
    rf"(?:{_any('standing_wish')})",
    re.IGNORECASE,
)
"""How a standing wish begins: "Always name the source when I ask about history", "Впредь отвечай коротко"."""

_OF_I = frozenset({"I'm", "I’m", "I'd", "I’d", "I've", "I’ve", "I'll", "I’ll"})
_MAY = "May"


def traits_of(text: str) -> int:
    """The bits above, without PICTURE; from NAMES_SHIFT on how many capitalised words, at most 15.

    A word at the beginning of a sentence or line is no name by its capital, nor is the English "I". A time is named in
    Russian, Ukrainian or English ("вчора", "two weeks ago", "2021"); a number in digits or words. PICTURE is set by who
    knows of pictures.
    """
    text = text[:_MAX_CHARACTERS]
    found = ASKS if "?" in text else 0
    if found and _QUESTION_END.search(text):
        found |= ENDS_AS_QUESTION
    for word in _WORD.findall(text):
        found |= _of_word(word)
    if len(text) <= _LONGEST_WISH and not found & ENDS_AS_QUESTION and _WISH.search(text):
        found |= WISH
    return found | names_in(text) << NAMES_SHIFT


def names_in(text: str) -> int:
    """How many capitalised words stand inside its sentences: 0 to 15."""
    return min(MOST_NAMES, sum(word not in _OF_I for word in _NAME_INSIDE.findall(text)))


@cached(_CACHED_WORDS)
def _of_word(word: str) -> int:
    folded = word.casefold()
    time = TIME if _TIME_WORD.fullmatch(folded) or word == _MAY else 0  # small, it is a verb
    return time | (NUMBER if _NUMBER_WORD.fullmatch(folded) else 0)
