"""What a text touches that people tell only to some: health, money, law, intimate things, and secrets."""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final, Literal

Topic = Literal["health", "money", "legal", "intimate", "secret"]

TOPICS: Final[tuple[Topic, ...]] = ("health", "money", "legal", "intimate", "secret")

_FILE: Final = Path(__file__).with_name("topics.json")
_QUOTES: Final = str.maketrans({"’": "'", "ʼ": "'", "ё": "е"})
_AMOUNT: Final = re.compile(
    r"[$€£₴₽]\s?\d|\b\d{2,3}k\b|\d[\d  .,]*\s?(?:k\b)?\s?(?:[$€£₴₽]|dollars?\b|euros?\b|bucks\b|usd\b|eur\b|uah\b|rub\b"
    r"|грн\b|гривен|гривн|руб|доллар|долар|евро\b|євро\b|тысяч|тисяч|баксов|баксів)"
)
"""Sums of money."""


def fold(text: str) -> str:
    """Lower-case, with one kind of apostrophe, and е for ё."""
    return text.casefold().translate(_QUOTES)


def pattern(stems: Iterable[str]) -> re.Pattern[str]:
    """Finds words that begin with one of the stems; `$` closes a stem, so that it is the whole word.

    Of several words each may have an ending of its own.
    """
    parts = []
    for stem in sorted({fold(one) for one in stems}, key=len, reverse=True):
        whole = stem.endswith("$")
        words = stem.removesuffix("$").split()
        inner = r"\w*\s+".join(map(re.escape, words))
        parts.append(rf"{inner}\b" if whole else inner)
    return re.compile(rf"\b(?:{'|'.join(parts)})")


@cache
def _patterns() -> dict[Topic, re.Pattern[str]]:
    stored: dict[Topic, list[str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return {topic: pattern(stored[topic]) for topic in TOPICS}


def private_topics(text: str) -> frozenset[Topic]:
    """The topics that a text touches; empty for what anybody may hear."""
    words = fold(text)
    found = {topic for topic, known in _patterns().items() if known.search(words)}
    return frozenset(found | {"money"} if _AMOUNT.search(words) else found)
