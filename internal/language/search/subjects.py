"""The everyday subjects that a text touches, and whether it tells of a change: "переехали наконец" is about a home.

The beginnings of words stand in `subjects.json`, in three languages; `$` ends a whole word, `_` is a space.

Pure, 10 microseconds; `tells_state` needs dictionaries.
"""

import re
from functools import cache

from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.spelling import name_key
from internal.language.text.tables import table

_CHANGE = re.compile(rf"(?<!\w)(?:{'|'.join(table(__package__, 'change'))})(?!\w)", re.IGNORECASE)


_PRESENT = re.compile(r"\b(?:is|are|has|have|does|goes|gets|lives|works|\w{3,}ing)\b|['’](?:s|re)\b", re.IGNORECASE)
_WHO = re.compile(r"\W*(?:а\W+|and\W+)?(?:кто|хто|who)\b", re.IGNORECASE)
_CYRILLIC = re.compile(r"[а-яёіїєґ'’ʼ]{3,}")


def subjects_of(text: str) -> frozenset[str]:
    """The everyday subjects (work, home, partner ...) of which a text has a word."""
    key = name_key(text)
    return frozenset(name for name, words in _subjects().items() if words.search(key))


def subjects_asked(question: str) -> frozenset[str]:
    """The subjects of a question: "who lives with Ann?" is not about a home."""
    found = subjects_of(question)
    return found - {"home"} if _WHO.match(question) else found


def tells_change(text: str) -> bool:
    """Whether a text has a word with which people tell what is different now."""
    return bool(_CHANGE.search(name_key(text)))


def tells_state(text: str) -> bool:
    """Whether a text tells what is so now: a change, or what somebody does or has; not what once happened."""
    if tells_change(text) or _PRESENT.search(text):
        return True
    words = (word for word in _CYRILLIC.findall(text.lower()))
    return any("pres" in one.tag for word in words for one in parses(word, dictionary_languages(word)[0])[:1])


def tells_exchange(text: str) -> bool:
    """Whether a text states both what ended and what is true now: "quit the bank, I bake bread now"."""
    return len(_CHANGE.findall(name_key(text))) > 1


def changed_subjects(text: str) -> frozenset[str]:
    """The subjects of which the words themselves tell a change: "moved out" of a home, "got sacked" of a job."""
    return subjects_of(" ".join(_CHANGE.findall(name_key(text))))


def besides_change(text: str) -> str:
    """A text without the words that tell of a change."""
    return _CHANGE.sub(" ", text)


@cache
def _subjects() -> dict[str, re.Pattern[str]]:
    def word(beginning: str) -> str:
        key = re.escape(name_key(beginning.removesuffix("$").replace("_", " ")))
        return rf"{key}(?!\w)" if beginning.endswith("$") else key

    found = table(__package__, "subjects")
    return {name: re.compile(rf"(?<!\w)(?:{'|'.join(map(word, words.split()))})") for name, words in found.items()}
