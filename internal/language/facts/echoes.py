"""Answers that only say again what was told: by rules, over the endings of three languages."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['’ʼ-][^\W_]+)*")
_LONG: Final = 4
"""Letters of a word that counts; a number counts whatever its length."""

_PREFIX: Final = 5
"""Letters by which two words count as one, whatever their endings."""

_LEAST: Final = 2
_SHORT: Final = 5
"""A message of fewer words than this is said again only if none of them is missing."""

_SHARE: Final = 0.8


def echoes(answer: str, told: str) -> bool:
    """Whether an answer holds nearly all words of what was told; a message of one word is echoed by none."""
    words = _words(told)
    if len(words) < _LEAST:
        return False
    kept = len(words & _words(answer))
    return kept == len(words) if len(words) < _SHORT else kept >= _SHARE * len(words)


@lru_cache(maxsize=2048)
def _words(text: str) -> frozenset[str]:
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:_PREFIX] for word in found if len(word) >= _LONG or word.isdigit())
