"""Whether a question stands alone, or depends on what was said before it. By rules."""

import re
from typing import Final

from internal.language.text.tables import any_of

_CONNECTS: Final = re.compile(
    r"^\W*(?:(?:ну|well|ok(?:ay)?)\W+)?(?:а|и|но|или|та|й|і|але|або|ещё|еще|ще"
    r"|and|but|or|so|then|what about|how about|what if)\b",
    re.IGNORECASE,
)
"""Words at the beginning of a question that continue something."""

_POINTS_BACK: Final = re.compile(rf"\b(?:{any_of('internal.language.search', 'points_back')})\b", re.IGNORECASE)
_SOMEBODY: Final = re.compile(rf"\b(?:{any_of('internal.language.search', 'somebody')})\b", re.IGNORECASE)
"""Pronouns for somebody who was named before."""

_NAME_INSIDE: Final = re.compile(r"(?<=[\w,»\"'] )[A-ZА-ЯЁІЇЄҐ]\w+")
"""A capitalised word inside a sentence: a named person needs no pronoun."""

_I: Final = re.compile(r"I(?:['’]\w+)?\Z")

MIN_WORDS: Final = 1
MAX_WORDS: Final = 4
"""Content words of a question that may depend on what was said: one, or up to four with a pronoun."""


def leans_on_dialogue(text: str, content_words: int) -> bool:
    """Whether it is worth asking a model what a question means: it depends on what was said before, or speaks of
    "him" or "her" in a question of any length without naming anybody.
    """
    named = any(not _I.match(name) for name in _NAME_INSIDE.findall(text))
    return depends_on_preceding(text, content_words) or (not named and bool(_SOMEBODY.search(text)))


def without_pointers(text: str) -> str:
    """The text without the words that only point back: "а он что купил?" -> "что купил?"."""
    return _POINTS_BACK.sub("", _SOMEBODY.sub("", _CONNECTS.sub("", text)))


def depends_on_preceding(text: str, content_words: int) -> bool:
    """Whether a question is only understood with what was said before: "and then?", "а что он сказал потом?".

    `content_words` is the number of its words besides function words. A pronoun or a word that points back counts only
    if nobody is named, and a question of many words is taken to stand alone.
    """
    if any(not _I.match(name) for name in _NAME_INSIDE.findall(text)):
        return bool(_CONNECTS.search(text)) and content_words <= MIN_WORDS
    if not content_words:
        return bool(text.strip())
    if _CONNECTS.search(text) and content_words <= MIN_WORDS + 1:
        return True
    return content_words <= MAX_WORDS and bool(_POINTS_BACK.search(_CONNECTS.sub("", text)))
