"""Bilingual dictionaries of Apertium, compiled by lttoolbox (Debian: apertium-rus-ukr).

The file consists of numbers of one to four bytes: the first two bits say how many bytes follow. It is a
transducer: a graph whose paths spell words of both languages at once. Format: lttoolbox, `compression.h`,
`transducer.cc`.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MAGIC: Final = b"LTTB"
_MAGIC_OF_SECTION: Final = b"LTTD"
_HEADER: Final = 12
"""Bytes of the header: a magic word and the features after it."""

_SECTION: Final = "main@standard"
"""The section of words; other ones are punctuation and rules."""

_LONGEST: Final = 60
_TAG: Final = "<"
_HOMONYM: Final = "¹²³⁴"


def translations(path: Path) -> Iterator[tuple[str, str]]:
    """The pairs of words that translate each other, without their grammar.

    Raises OSError for a missing file, and ValueError for a damaged one or one with weights.
    """
    try:
        yield from _Reader(path.read_bytes()).pairs()
    except (IndexError, RecursionError, OverflowError, struct.error) as error:
        raise ValueError(f"{path} is no bilingual dictionary: {error!r}") from error


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0
        self._features(_MAGIC)
        for _ in range(self._number()):  # letters, which the pairs repeat
            self._number()
        tags = [_TAG + self._string() for _ in range(self._number())]
        self._signs = ["", *tags]
        count = self._number()
        self._symbols = [(self._sign(len(tags)), self._sign(len(tags))) for _ in range(count)]

    def pairs(self) -> Iterator[tuple[str, str]]:
        for _ in range(self._number()):
            name = self._string()
            if self._features(_MAGIC_OF_SECTION):
                raise ValueError("its words have weights")
            start = self._number()
            finals, last = set[int](), 0
            for _ in range(self._number()):
                last += self._number()
                finals.add(last)
            steps = self._steps()
            if name == _SECTION:
                yield from self._words(steps, finals, start, "", "", frozenset())

    def _words(
        self,
        steps: list[list[tuple[int, int]]],
        finals: set[int],
        state: int,
        left: str,
        right: str,
        before: frozenset[int],
    ) -> Iterator[tuple[str, str]]:
        """The words on all paths from a state that visit no state twice."""
        if state in finals:
            yield _bare(left), _bare(right)
        before |= {state}
        for symbol, following in steps[state]:
            if following not in before and len(before) < _LONGEST:
                one, other = self._symbols[symbol]
                yield from self._words(steps, finals, following, left + one, right + other, before)

    def _steps(self) -> list[list[tuple[int, int]]]:
        """For each state, its outgoing symbols, each with the next state."""
        states = self._number()
        steps: list[list[tuple[int, int]]] = []
        for state in range(states):
            symbol, here = 0, list[tuple[int, int]]()
            for _ in range(self._number()):
                symbol += self._number()
                here.append((symbol, (state + self._number()) % states))
            steps.append(here)
        return steps

    def _features(self, magic: bytes) -> int:
        if self._content[self._at : self._at + len(magic)] != magic:
            return 0
        (features,) = struct.unpack_from("<Q", self._content, self._at + len(magic))
        self._at += _HEADER
        return int(features)

    def _number(self) -> int:
        first = self._content[self._at]
        end = self._at + 1 + (first >> 6)
        number = int.from_bytes(bytes((first & 0x3F,)) + self._content[self._at + 1 : end], "big")
        self._at = end
        return number

    def _string(self) -> str:
        return "".join(chr(self._number()) for _ in range(self._number()))

    def _sign(self, tags: int) -> str:
        """The sign of a number: a letter, or for a number below zero a tag, or nothing."""
        number = self._number() - tags
        return chr(number) if number > 0 else self._signs[-number]


def _bare(word: str) -> str:
    """A word without its tags and its homonym number."""
    return word.partition(_TAG)[0].rstrip(_HOMONYM)
