"""Whether a text reveals the contents of other lines, by a word that only those lines contain."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_MIN_LETTERS: Final = 4
"""The least letters of a word that can reveal a line."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def revealing_words(texts: Iterable[str | None]) -> set[str]:
    """The folded words of these texts that are long enough or contain a digit."""
    folded_words = {word for text in texts for word in _WORD.findall(_folded(text or ""))}
    return {word for word in folded_words if len(word) >= _MIN_LETTERS or any(map(str.isdigit, word))}


def reveals(text: str, hidden: Iterable[str | None], left: Iterable[str | None]) -> bool:
    """Whether a text contains a word, with any ending, of the lines `hidden` that the lines `left` do not contain."""
    words = revealing_words(hidden) - revealing_words(left)
    return bool(words) and any(same_stem(word, revealing) for word in revealing_words([text]) for revealing in words)


def same_stem(one: str, other: str) -> bool:
    """Whether two folded words may be forms of one word: they are equal except for an ending."""
    shared = max(_MIN_LETTERS, min(len(one), len(other)) - 2)
    return one == other or one[:shared] == other[:shared]


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded.replace("ё", "е").replace("’", "'").replace("ʼ", "'")
