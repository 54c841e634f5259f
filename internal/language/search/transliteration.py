"""Russian and Ukrainian typed in Latin letters: "gde ya ostavil klyuchi?" is "где я оставил ключи?".

Everybody spells the letters otherwise, so all spellings are tried at once, along the words of the dictionary: a trie,
in which only beginnings of words are followed.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Final

from internal.language.search.terms import STOP, is_function_word
from internal.language.text.morphology import analyzer, has_ukrainian_dictionary
from internal.language.text.spelling import Language, words as words_of
from internal.text_caches import cached

_COMMON: Final = {
    "а": "a", "б": "b", "в": "v w", "г": "g h", "д": "d", "ж": "zh j z", "з": "z", "к": "k c", "л": "l", "м": "m",
    "н": "n", "о": "o", "п": "p", "р": "r", "с": "s c", "т": "t", "у": "u y", "ф": "f", "х": "h kh x", "ц": "ts c tc",
    "ч": "ch 4", "ш": "sh w", "щ": "shch sch w shh", "ь": "'", "ю": "yu ju iu u", "я": "ya ja ia a",
}  # fmt: skip
_SPELLINGS: Final[dict[Language, dict[str, str]]] = {
    "ru": _COMMON | {"е": "e ye je", "ё": "e yo jo io o", "и": "i", "й": "y j i", "ъ": "' ''", "ы": "y i", "э": "e"},
    "uk": _COMMON
    | {"е": "e", "є": "ye je ie e", "и": "y i", "і": "i", "ї": "yi ji i", "й": "y j i", "ґ": "g", "'": "'"},
}
"""How each letter is written, the most usual way first."""

_WORD: Final = re.compile(r"[A-Za-z4]+(?:'+[A-Za-z]*)*")
_CYRILLIC: Final = re.compile("[\u0400-\u04ff]")
_SIGN: Final = "ь"
"""Often left out."""

_END_OF_WORD: Final = b"\x01"
_LONGEST_SPELLING: Final = 4
_MOST_STEPS: Final = 4_000

_ENGLISH: Final = frozenset(filter(str.isascii, STOP)) - words_of(
    "a all as by did do he i in may more most my no not on same so to us very was"
)
"""Function words that are not written like a Russian or Ukrainian word. They spare English texts the dictionaries."""

_KNOWN: Final = 0.85
_FEW, _ENOUGH = 2, 3
"""The share of words without a capital that must be readable, and how many with and without a function word. Of 2,863
English questions about our own and other conversations none is read; of 465 Russian and Ukrainian ones, spelt in four
ways by a program, 457 are."""

_USUAL: Final = 2
"""By how much rarer a spelling may be that makes a function word."""

_RARITY: Final = 0.1
"""What a rare spelling counts against a word that is read."""


def may_be_latin(text: str) -> bool:
    """Whether a text may be Russian or Ukrainian in Latin letters; without dictionaries."""
    return not _CYRILLIC.search(text) and _ENGLISH.isdisjoint(_plain_words(text))


def read_latin(text: str) -> str:
    """The text in Cyrillic letters if it is Russian or Ukrainian in Latin ones; else as it is."""
    if not may_be_latin(text):
        return text
    words = [word for word in _plain_words(text) if word not in STOP]
    languages: tuple[Language, ...] = ("ru", "uk") if has_ukrainian_dictionary() else ("ru",)
    read = {language: _read(words, language) for language in languages}
    best = max(read, key=read.__getitem__)
    if not read[best]:
        return text
    return _WORD.sub(lambda match: _like(_reading(match.group().lower(), best)[1], match.group()), text)


def _plain_words(text: str) -> list[str]:
    """The words in small letters; the first word may begin with a capital."""
    return [word for word in _WORD.findall(text[:1].lower() + text[1:]) if word.islower()]


def _read(words: list[str], language: Language) -> float:
    """How well these words can be read in a language; 0 if they are not of it.

    Of few English words all may be readable ("hotel" is "хотел"), so one of few has to be a function word.
    """
    known = function = rarity = 0
    for number, word in enumerate(words, 1):
        rare, reading = _reading(word, language)
        known += bool(reading)
        function += bool(reading) and is_function_word(reading)
        rarity += rare
        if number - known > (1 - _KNOWN) * len(words):
            return 0
    enough = known >= (_FEW if function else _ENOUGH)
    return max(known + function - _RARITY * rarity, _RARITY) if enough else 0


def _like(reading: str, written: str) -> str:
    return (reading.capitalize() if written[0].isupper() else reading) or written


@cached(20_000)
def _reading(written: str, language: Language) -> tuple[int, str]:
    """The likeliest word of a language that is written so, and how rare that is; none: empty."""
    found = [(rarity - _USUAL * is_function_word(word), word) for rarity, word in _readings(written, language)]
    return min(found, default=(0, ""))


def _readings(written: str, language: Language) -> Iterator[tuple[int, str]]:
    """The words of the dictionary that may be meant, each with how unusual the spelling is."""
    letters_of, trie = _by_spelling(language), analyzer(language).dictionary.words.dct
    ways = [(0, 0, trie.ROOT, "")]
    for _ in range(_MOST_STEPS):
        if not ways:
            return
        rarity, at, node, read = ways.pop()
        if at == len(written) and trie.follow_bytes(_END_OF_WORD, node) is not None:
            yield rarity, read
        steps = [(1, 0, _SIGN)] if at and not read.endswith(_SIGN) else []
        steps += [
            (2 * rank, length, letter)
            for length in range(1, min(_LONGEST_SPELLING, len(written) - at) + 1)
            for letter, rank in letters_of.get(written[at : at + length], ())
        ]
        for more, length, letter in steps:
            following = trie.follow_bytes(letter.encode(), node)
            if following is not None:
                ways.append((rarity + more, at + length, following, read + letter))


@cache
def _by_spelling(language: Language) -> dict[str, list[tuple[str, int]]]:
    """The letters that may be meant by a spelling, each with the rank of that spelling."""
    letters: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for letter, spellings in _SPELLINGS[language].items():
        for rank, spelling in enumerate(spellings.split()):
            letters[spelling].append((letter, rank))
    return letters
