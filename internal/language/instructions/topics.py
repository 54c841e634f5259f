"""The manners of answering that a text names: the language, the length, lists, the form of address."""

import re
from typing import Final

from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language
from internal.language.text.tables import table

_TABLE: Final = table(__package__, "manners")
"""The words of `languages`, `times` and `manners` by name; in a manner, BOOKS and HOUR stand for those patterns."""
_LANGUAGES: Final = {code: "|".join(words) for code, words in _TABLE["languages"].items()}
LANGUAGE: Final = pattern(
    rf"(?<![\w-])(?:{'|'.join(f'(?P<{code or chr(120)}>{words})' for code, words in _LANGUAGES.items())})(?![\w-])"
)

_MANNERS: Final = {
    topic: "|".join(words).replace("BOOKS", "|".join(_TABLE["books"])).replace("HOUR", _TABLE["hour"][0])
    for topic, words in _TABLE["manners"].items()
}
_PATTERNS: Final = {topic: pattern(rf"(?<!\w)(?:по)?(?:{manner})") for topic, manner in _MANNERS.items()}

_TIMES: Final = {time: "|".join(words) for time, words in _TABLE["times"].items()}
_WHEN: Final = {time: pattern(rf"(?<!\w)(?:{times})(?!\w)") for time, times in _TIMES.items()}
_CASES: Final = pattern(
    r"(?<!\w)(?:when(?:ever)?|if|unless|about|in (?:work|business)|for|когда|если|о|об|про|насчет|для|коли|якщо"
    r"|щодо)\s+(?P<what>[^,;.]+)"
)


def topics_of(text: str) -> frozenset[str]:
    """The manners of answering that a folded text names; may be empty."""
    found = {topic for topic, manner in _PATTERNS.items() if manner.search(text)}
    if LANGUAGE.search(text):
        found.add("language")
    return frozenset(found - {"name"} if "form" in found else found)


def language_of(text: str) -> Language | None:
    """The language of the product that a folded text asks for."""
    match = LANGUAGE.search(text)
    spoken: tuple[Language, ...] = ("en", "uk", "ru")
    return next((code for code in spoken if match[code]), None) if match else None


def times_of(text: str) -> frozenset[str]:
    """When an instruction applies: weekdays, weekends, mornings, evenings; empty: always."""
    return frozenset(time for time, times in _WHEN.items() if times.search(text))


def condition_of(text: str) -> frozenset[str]:
    """The restrictions of an instruction: its times, and the stems of "when I ask about money"; empty: none."""
    cases = " ".join(match["what"] for match in _CASES.finditer(text))
    return times_of(text) | {word[:4] for word in re.findall(r"\w{4,}", cases)}
