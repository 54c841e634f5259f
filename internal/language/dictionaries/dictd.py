"""Bilingual dictionaries in the format of dictd: an index of headwords and a compressed file of entries.

Mueller's English-Russian dictionary is one (Debian: mueller7-dict).
"""

import gzip
import re
import string
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ENDINGS: Final = (".index", ".dict.dz")

_DIGITS: Final = {
    digit: value for value, digit in enumerate(string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/")
}
_WORD: Final = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
_SENSE: Final = re.compile(r"(?:^|\s)\d+[.)>]\s")
_PART: Final = re.compile(r"[,;]|(?:^|\s)[а-я]\)\s")
_ASIDE: Final = re.compile(r"\[[^]]*]|\([^()]*\)|_[\w.-]+")
"""Pronunciations, explanations and labels of an entry, such as `_n.`."""

_EXAMPLE: Final = re.compile(r"[A-Za-z~:–]")
"""The beginning of what follows the translations of a sense: phrases with the headword, and their meanings."""

_TRANSLATION: Final = re.compile(r"[а-яё]+(?:-[а-яё]+)*", re.IGNORECASE)


def translations(base: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """The English headwords of one word, each with its Russian translations, the most usual first, as lists of words.

    `base` is the path without an ending. Raises OSError for missing files, and ValueError for damaged ones.
    """
    try:
        index, compressed = (base.with_suffix(ending).read_bytes() for ending in ENDINGS)
        entries = gzip.decompress(compressed)
        for line in index.decode().splitlines():
            headword, start, length = line.split("\t")[:3]
            if _WORD.fullmatch(headword):
                first, end = _number(start), _number(start) + _number(length)
                if end > len(entries):
                    raise ValueError(f"{base} is cut off")
                yield headword, _russian(entries[first:end].decode())
    except (EOFError, KeyError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{base} is no dictionary: {error!r}") from error


def _number(digits: str) -> int:
    number = 0
    for digit in digits:
        number = number * len(_DIGITS) + _DIGITS[digit]
    return number


def _russian(entry: str) -> list[list[str]]:
    """The translations in an entry, without its first line, the headword."""
    text = " ".join(entry.split("\n")[1:])
    text = _ASIDE.sub(" ", _ASIDE.sub(" ", text))
    senses = (_EXAMPLE.split(sense, maxsplit=1)[0] for sense in _SENSE.split(text))
    return [words for sense in senses for part in _PART.split(sense) if (words := _TRANSLATION.findall(part))]
