"""Whether a text gives away what was said elsewhere: by a word that only those lines hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_LONG: Final = 4
"""Letters from which a word can give away what was said."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def telling_words(texts: Iterable[str | None]) -> set[str]:
    """The folded words of these texts that are long enough, or hold a digit."""
    found = {word for text in texts for word in _WORD.findall(_folded(text or ""))}
    return {word for word in found if len(word) >= _LONG or any(map(str.isdigit, word))}


def gives_away(text: str, said: Iterable[str | None], left: Iterable[str | None]) -> bool:
    """Whether a text holds a word, in whatever ending, of the lines `said` that the lines `left` do not hold."""
    words = telling_words(said) - telling_words(left)
    return bool(words) and any(alike(one, other) for one in telling_words([text]) for other in words)


def alike(one: str, other: str) -> bool:
    """Whether two folded words may be forms of one: they share all but an ending."""
    shared = max(_LONG, min(len(one), len(other)) - 2)
    return one == other or one[:shared] == other[:shared]


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded.replace("ё", "е").replace("’", "'").replace("ʼ", "'")
