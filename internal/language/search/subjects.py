"""The everyday subjects that a text touches, and whether it tells of a change: "переехали наконец" is about a home.

The beginnings of words stand in `subjects.json`, in three languages; `$` ends a whole word, `_` is a space.

Pure, 10 microseconds.
"""

import re
from functools import cache

from internal.language.text.spelling import name_key
from internal.language.text.tables import table
from internal.text_caches import cached

_CHANGE = re.compile(rf"(?<!\w)(?:{'|'.join(table(__package__, 'change'))})(?!\w)", re.IGNORECASE)


_ONCE = re.compile(rf"(?<!\w)(?:{'|'.join(table(__package__, 'once'))})(?!\w)")
_WHO = re.compile(r"\W*(?:а\W+|and\W+)?(?:кто|хто|who)\b", re.IGNORECASE)


@cached(8_000)
def subjects_of(text: str) -> frozenset[str]:
    """The everyday subjects (work, home, partner ...) of which a text has a word."""
    key = name_key(text)
    return frozenset(name for name, words in _subjects().items() if words.search(key))


def subjects_asked(question: str) -> frozenset[str]:
    """The subjects of a question: "who lives with Ann?" is not about a home."""
    found = subjects_of(question)
    return found - {"home"} if _WHO.match(question) else found


@cached(8_000)
def tells_change(text: str) -> bool:
    """Whether a text has a word with which people tell what is different now."""
    return bool(_CHANGE.search(name_key(text)))


@cached(8_000)
def tells_state(text: str) -> bool:
    """Whether a text may tell what is so now: not what happened on one day and changed nothing."""
    return tells_change(text) or not _ONCE.search(name_key(text))


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
