"""The words of tasks, promises and contacts by class, from `words.json`; patterns take theirs as alternatives."""

from typing import Final

from internal.language.text.spelling import words
from internal.language.text.tables import table

_WORDS: Final = table(__package__, "words")


def any_of(name: str) -> str:
    """A class as the alternatives of a regular expression."""
    return "|".join(_WORDS[name])


def all_of(name: str) -> frozenset[str]:
    """A class of single words."""
    return words(" ".join(_WORDS[name]))
