"""Recognises answers that only repeat what the owner said, by rules over the endings of three languages."""

import re
from typing import Final

from internal.text_caches import cached

_WORD: Final = re.compile(r"[^\W_]+(?:['’ʼ-][^\W_]+)*")
_MIN_LETTERS: Final = 4
"""The least letters of a word that counts; numbers of any length count."""

_PREFIX: Final = 5
"""The number of first letters by which two words are compared, ignoring endings."""

_MIN_WORDS: Final = 2
_SHORT: Final = 5
"""Messages of fewer words count as repeated only if no word is missing."""

_SHARE: Final = 0.8

_MOST_TIMES: Final = 3
"""An answer of more than so many times the words of a message says much of its own."""


def echoes(answer: str, message: str) -> bool:
    """Whether an answer contains nearly all words of a message and few others; one word is never repeated."""
    words, answered = _words(message), _words(answer)
    if len(words) < _MIN_WORDS or len(answered) > _MOST_TIMES * len(words):
        return False
    kept = len(words & answered)
    return kept == len(words) if len(words) < _SHORT else kept >= _SHARE * len(words)


@cached(2048)
def _words(text: str) -> frozenset[str]:
    folded = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:_PREFIX] for word in folded if len(word) >= _MIN_LETTERS or word.isdigit())
