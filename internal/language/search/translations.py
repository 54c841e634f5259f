"""Translations of words between English, Russian and Ukrainian, from bilingual dictionaries installed on this machine.

Reading the dictionaries takes some ten seconds, so what they say is written to a file once: for each word in its
dictionary form (an English one by its stem) the translations in the same form. `query_terms` looks them up there.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from internal.language.dictionaries import apertium, dictd, word_file
from internal.language.search.terms import english_stem, is_function_word, lemmas
from internal.language.text.spelling import name_key

VERSION: Final = 1
"""Counts up when the file is made otherwise."""

_ENGLISH: Final = Path("dictd/mueller7")
_RUSSIAN_UKRAINIAN: Final = Path("apertium/apertium-rus-ukr/rus-ukr.autobil.bin")

SOURCES: Final = (*(_ENGLISH.with_suffix(ending) for ending in dictd.ENDINGS), _RUSSIAN_UKRAINIAN)
"""The files of the dictionaries in their folder."""

_MOST: Final = 20
"""Translations of a word in one language. Of our own questions in another language that are learned from, so many give
a recall@10 of 0.718, eight of 0.684 and none of 0.626, by words and meaning."""

_LAST: Final = 30
_PHRASE: Final = 5
"""How far behind in an entry a translation may stand, and by how much a word of a phrase counts as further behind."""

_LONGEST_PHRASE: Final = 2
"""Words of a translation; longer ones explain."""

_THROUGH_RUSSIAN: Final = 3
"""Ukrainian words for each Russian translation of an English one."""

_MOST_PAIRS: Final = 1_000_000
"""Ten times what the dictionary holds: a damaged one could yield any number."""

_Ranks = Mapping[str, Mapping[str, int]]
"""For each word its translations with their ranks, 1 for the first of an entry."""


def make(folder: Path, target: Path) -> int:
    """Writes the translations of those dictionaries that are in the folder. Returns for how many words.

    Raises ValueError for a damaged dictionary, OSError if a file cannot be read or written.
    """
    to_russian = _english_russian(folder / _ENGLISH) if (folder / SOURCES[0]).exists() else {}
    to_ukrainian = _russian_ukrainian(folder / SOURCES[-1]) if (folder / SOURCES[-1]).exists() else {}
    from_russian, from_ukrainian = _inverse(to_russian), _inverse(to_ukrainian)
    found: dict[str, list[str]] = {}
    for word in to_russian:
        russian = _best(to_russian, word)
        found[word] = [*russian, *_each(to_ukrainian, russian, _THROUGH_RUSSIAN)]
    for word in from_russian.keys() | to_ukrainian.keys() | from_ukrainian.keys():
        russian = _best(from_ukrainian, word)
        english = _each(from_russian, [word, *russian], _MOST)
        found[word] = [other for other in (*russian, *_best(to_ukrainian, word), *english) if other != word]
    word_file.write(target, {word: dict.fromkeys(others) for word, others in found.items() if others})
    return len(found)


def _english_russian(base: Path) -> _Ranks:
    ranks: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for headword, translations in dictd.translations(base):
        of_word = ranks[english_stem(name_key(headword))]
        for rank, words in enumerate(translations, 1):
            for word in map(name_key, words):
                if len(words) <= _LONGEST_PHRASE and not is_function_word(word):
                    lemma = next(iter(lemmas(word, "ru")), word)
                    of_word.setdefault(lemma, rank + _PHRASE * (len(words) - 1))
    return ranks


def _russian_ukrainian(path: Path) -> _Ranks:
    ranks: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for pair in sorted(set(islice(apertium.translations(path), _MOST_PAIRS))):
        russian, ukrainian = map(name_key, pair)
        if russian and ukrainian and " " not in russian + ukrainian:
            ranks[russian].setdefault(ukrainian, len(ranks[russian]) + 1)
    return ranks


def _inverse(ranks: _Ranks) -> _Ranks:
    inverse: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for word, translations in ranks.items():
        for other, rank in translations.items():
            inverse[other][word] = rank
    return inverse


def _best(ranks: _Ranks, word: str, most: int = _MOST) -> list[str]:
    """The first translations of a word."""
    known = sorted((rank, other) for other, rank in ranks.get(word, {}).items() if rank <= _LAST)
    return [other for _, other in known[:most]]


def _each(ranks: _Ranks, words: Iterable[str], most: int) -> Iterator[str]:
    return (other for word in words for other in _best(ranks, word, most))
