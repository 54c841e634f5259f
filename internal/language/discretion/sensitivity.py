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
    r"[$€£₴₽]\s?\d|\d[\d  .,]*\s?(?:k\b)?\s?(?:[$€£₴₽]|dollars?\b|euros?\b|bucks\b|usd\b|eur\b|uah\b|rub\b|грн\b|"
    r"гривен|гривн|руб|доллар|долар|евро\b|євро\b|тысяч|тисяч|баксов|баксів)"
)
"""Sums of money."""

_PRICE: Final = re.compile(
    r"\b(?:costs?|tickets?|prices?|fee|each|стоит|стоят|сдаем|билет|цена|цены|кошту|здаємо|квит|ціна)"
)
_UNTRUE: Final = re.compile(r"(?:\b\w+\s+)?\b(?:no|нет|немає|нема|без)\b(?:\s+\w+)?|\b(?:болею|болеет|болеем) за\b")
"""What somebody does not have is no illness; what everybody pays is nobody's money."""


def folded(text: str) -> str:
    """Lower-case, with one kind of apostrophe, and е for ё."""
    return text.casefold().translate(_QUOTES)


def pattern(stems: Iterable[str]) -> re.Pattern[str]:
    """Finds words that begin with one of the stems; `$` closes a stem, so that it is the whole word.

    Of several words each may have an ending of its own.
    """
    parts = []
    for stem in sorted({folded(one) for one in stems}, key=len, reverse=True):
        whole = stem.endswith("$")
        words = stem.removesuffix("$").split()
        inner = r"\w*\s+".join(map(re.escape, words))
        parts.append(rf"{inner}\b" if whole else inner)
    return re.compile(rf"\b(?:{'|'.join(parts)})")


@cache
def _patterns() -> dict[Topic, re.Pattern[str]]:
    stored: dict[Topic, list[str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return {topic: pattern(stored[topic]) for topic in TOPICS}


def topics_of(text: str) -> frozenset[Topic]:
    """The topics that a text touches; empty for what anybody may hear."""
    words = folded(text)
    found = {topic for topic, known in _patterns().items() if known.search(words)}
    if "health" in found and _UNTRUE.search(words) and not _patterns()["health"].search(_UNTRUE.sub("", words)):
        found.discard("health")
    return frozenset(found | {"money"} if _AMOUNT.search(words) and not _PRICE.search(words) else found)
