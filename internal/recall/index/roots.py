"""Words of one root in Russian and Ukrainian: "жениться" and "женитьба", "переезд" and "переїзд".

Their dictionary forms differ. So indexed words that begin like a word of the question are its alternatives, with little
weight.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from internal.language.search.terms import NOT_WORDS, Word

_WEIGHT: Final = 0.15
"""Chosen on our own conversations that are learned from, by words only: recall@10 of the Russian and Ukrainian ones
rises from 0.677 to 0.686, with twice the weight to 0.684."""

_SHORTEST_ROOT: Final = 4
_ENDING: Final = 3
"""The least number of letters that two words have in common, and the most that follow them in either."""

_LETTERS: Final = str.maketrans({"і": "и", "ї": "и", "є": "е", "ґ": "г", "ё": "е", "ы": "и", "э": "е", "'": None})
"""One spelling for both languages."""


class Roots:
    """The Cyrillic words of a vocabulary by the beginnings that they share with others of their root."""

    def __init__(self) -> None:
        self._vocabulary: Mapping[str, int] = {}
        self._read = 0
        self._by_beginning: dict[str, list[tuple[str, str]]] = {}

    def with_relatives(self, vocabulary: Mapping[str, int], words: Iterable[Word]) -> list[Word]:
        """The words, each with those of its root as further alternatives.

        Reads what was added to the vocabulary since the last call; another vocabulary is read from its beginning.
        """
        if vocabulary is not self._vocabulary:
            self._vocabulary, self._read, self._by_beginning = vocabulary, 0, {}
        for term in islice(vocabulary, self._read, None):
            if _is_cyrillic_word(term):
                spelt = term.translate(_LETTERS)
                self._by_beginning.setdefault(spelt[: _shared(spelt)], []).append((spelt, term))
        self._read = len(vocabulary)
        return [(*word, *self._relatives(word)) for word in words]

    def _relatives(self, word: Word) -> Iterator[tuple[str, float]]:
        known = {term for term, _ in word}
        for term in [term for term, weight in word if weight == 1 and _is_cyrillic_word(term)]:
            spelt = term.translate(_LETTERS)
            least = _shared(spelt)
            for length in range(_SHORTEST_ROOT, len(spelt) + 1):
                for other, found in self._by_beginning.get(spelt[:length], ()):
                    if other.startswith(spelt[:least]) and found not in known:
                        known.add(found)
                        yield found, _WEIGHT


def _shared(spelt: str) -> int:
    """How many letters a word and another one of its root have in common at least."""
    return max(_SHORTEST_ROOT, len(spelt) - _ENDING)


def _is_cyrillic_word(term: str) -> bool:
    return not term.isascii() and term[0] not in NOT_WORDS
