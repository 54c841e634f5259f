"""Small bilingual dictionaries in the formats of dictd and of Apertium."""

from __future__ import annotations

import gzip
import string
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from internal.language.search.translations import SOURCES

_DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_TAG = "n"

ENTRIES = {
    "bathroom": "bathroom\n   [↗bɑ:θrum] _n. ванная (комната)\n",
    "blunder": "blunder\n   [↗blʌndɜ]\n   1. _n. грубая ошибка; промах, просчёт\n   2. _v.\n      1) двигаться ощупью\n"
    "      2) портить; to blunder out сболтнуть\n",
    "neighbour": "neighbour\n   [↗nɛɪbɜ] _n. сосед, соседка; next-door neighbour ближайший сосед\n",
    "repair": "repair\n   _v.\n   1) чинить; ремонтировать (машину и т.п.)\n   2) исправлять\n",
    "old maid": "old maid\n   старая дева\n",
}
RUSSIAN_UKRAINIAN = [("сосед", "сусід"), ("ошибка", "помилка"), ("лук¹", "цибуля"), ("лук²", "лук")]


def install(
    folder: Path,
    entries: Mapping[str, str] = ENTRIES,
    pairs: Sequence[tuple[str, str]] = RUSSIAN_UKRAINIAN,
) -> Path:
    """Writes both dictionaries where Debian has them, and returns the folder."""
    index, compressed, bilingual = (folder / source for source in SOURCES)
    for path in (index, bilingual):
        path.parent.mkdir(parents=True)
    text, lines = b"", []
    for headword, entry in entries.items():
        lines.append(f"{headword}\t{_base64(len(text))}\t{_base64(len(entry.encode()))}\n")
        text += entry.encode()
    index.write_text("".join(lines), encoding="utf-8")
    compressed.write_bytes(gzip.compress(text))
    bilingual.write_bytes(_transducer(pairs))
    return folder


def _base64(number: int) -> str:
    return (_base64(number // 64) if number >= 64 else "") + _DIGITS[number % 64]


def _transducer(pairs: Sequence[tuple[str, str]]) -> bytes:
    """Each pair as a path of its own from state 0 to the last state; every word has the tag `<n>`."""
    paths = [[*zip_longest(left, right, fillvalue=""), (f"<{_TAG}>",) * 2] for left, right in pairs]
    symbols = sorted({symbol for path in paths for symbol in path})
    states: list[list[tuple[int, int]]] = [[]]
    last = 1 + sum(len(path) - 1 for path in paths)
    for path in paths:
        state = 0
        for number, symbol in enumerate(path, 1):
            following = last if number == len(path) else len(states)
            states[state].append((symbols.index(symbol), following))
            state = following
            if state != last:
                states.append([])
    states.append([])
    signs = b"".join(_number(_sign(part) + 1) for symbol in symbols for part in symbol)
    steps = b"".join(_steps(state, sorted(leading), last + 1) for state, leading in enumerate(states))
    head = b"LTTB" + bytes(8) + _number(0) + _number(1) + _text(f"{_TAG}>") + _number(len(symbols)) + signs
    section = _text("main@standard") + b"LTTD" + bytes(8) + _number(0) + _number(1) + _number(last)
    return head + _number(1) + section + _number(last + 1) + steps


def _sign(part: str) -> int:
    return -1 if part.startswith("<") else ord(part) if part else 0


def _steps(state: int, leading: Sequence[tuple[int, int]], states: int) -> bytes:
    before, written = 0, _number(len(leading))
    for symbol, following in leading:
        written += _number(symbol - before) + _number((following - state) % states)
        before = symbol
    return written


def _text(text: str) -> bytes:
    return _number(len(text)) + b"".join(_number(ord(letter)) for letter in text)


def _number(number: int) -> bytes:
    """A number in one to four bytes, whose first two bits say how many follow."""
    more = next(more for more in range(4) if number < 1 << (6 + 8 * more))
    return (number | more << (6 + 8 * more)).to_bytes(more + 1, "big")
