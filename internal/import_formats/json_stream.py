"""A streaming JSON parser, which has only the current value of a file in memory.

The standard library's scanner reads the values, so a message costs as much as in a small file.
"""

import codecs
import json
from collections.abc import Callable, Iterator
from typing import Any

from internal.import_formats.model import Unreadable

CHUNK = 1 << 20
"""Bytes read at a time."""

MAX_VALUE = 32 << 20
"""Most characters of a value, where a message has thousands: limits the memory for a hostile file."""

_NEAR_END = 16
"""Characters before the end of the read text within which a scanner's stop may mean a missing rest of a token."""

_AFTER_NUMBER = len("e+1")
"""Characters that must follow a number to know that it has ended."""

_SPACE = " \t\n\r"


class JsonStream:
    """A cursor in a JSON text. `read(n)` returns at most n more bytes, none at the end; `name` is for errors.

    At each value the caller calls one of `value`, `members`, `elements` or `skip`; values not read are skipped. All
    raise Unreadable.
    """

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read, self._name = read, name
        self._text, self._at, self._before = "", 0, 0
        self._ended = False
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._scan = json.JSONDecoder().raw_decode
        self._untouched = False

    def peek(self) -> str:
        """The next character that is not blank: `{`, `[`, or the first of a scalar; empty at the end of the text."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._fill():
                return ""

    def value(self) -> Any:
        """Reads a whole value of at most MAX_VALUE characters."""
        self._untouched = False
        self.peek()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as error:
                if not (error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR_END):
                    raise self._broken(error.msg, error.pos) from None
                if not self._fill():
                    raise self._ends() from None
                continue
            except (RecursionError, ValueError):
                raise self._broken("a value is nested too deeply or a number is too long", self._at) from None
            if isinstance(value, int | float) and len(self._text) - end < _AFTER_NUMBER and not self._ended:
                self._fill()  # a number may go on
                continue
            self._at = end
            return value

    def members(self) -> Iterator[str]:
        """Yields the keys of an object; at each the cursor stands at its value."""
        self._untouched = False
        self._expect("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self._unexpected("a key in quotes")
            key = self.value()
            self._expect(":")
            yield from self._at_value(key)
            if self._closes("}"):
                return

    def elements(self) -> Iterator[int]:
        """Yields the indexes (from 0) of an array; at each the cursor stands at its value."""
        self._untouched = False
        self._expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        index = 0
        while True:
            yield from self._at_value(index)
            index += 1
            if self._closes("]"):
                return

    def skip(self) -> None:
        """Skips a value of any size."""
        opening = self.peek()
        if opening == "{":
            for _ in self.members():
                pass
        elif opening == "[":
            for _ in self.elements():
                pass
        else:
            self.value()

    def end(self) -> None:
        """Raises Unreadable if anything follows."""
        if self.peek():
            raise self._unexpected("the end")

    def _at_value(self, key: Any) -> Iterator[Any]:
        self._untouched = True
        yield key
        if self._untouched:
            try:
                self.skip()
            except RecursionError:
                raise self._broken("a value is nested too deeply", self._at) from None

    def _closes(self, bracket: str) -> bool:
        """Consumes a comma (returns False) or the closing bracket (True)."""
        character = self.peek()
        if character not in {",", bracket} or not character:
            raise self._unexpected(f"a comma or {bracket}")
        self._at += 1
        return character == bracket

    def _expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self._unexpected(sign)
        self._at += 1

    def _fill(self) -> bool:
        """Reads at least as much again as is unread, so that a value that does not fit is retried only a few times."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        room = MAX_VALUE - len(rest)
        if room <= 0:
            raise self._broken(f"a single value is longer than {MAX_VALUE >> 20} million characters", self._at)
        try:
            raw = self._read(min(max(CHUNK, len(rest)), room))
            text = self._decode(raw, final=not raw)
        except UnicodeDecodeError:
            raise self._broken("it is not UTF-8", len(self._text)) from None
        self._ended = not raw
        self._before += self._at
        self._text, self._at = rest + text, 0
        return not self._ended or bool(text)

    def _unexpected(self, expected: str) -> Unreadable:
        return self._broken(f"there should be {expected}", self._at) if self.peek() else self._ends()

    def _ends(self) -> Unreadable:
        return Unreadable(f"{self._name} is cut off: it ends in the middle, at character {self._before + self._at}")

    def _broken(self, problem: str, position: int) -> Unreadable:
        return Unreadable(
            f"{self._name} is not the JSON it should be, at character {self._before + position}: {problem}"
        )


_MAX_DEPTH = 50


def json_lines(value: Any) -> list[str]:
    """A JSON value as lines `path: value` in its own order: `team.members[0].name: Олена`. Nulls are left out."""
    return [f"{path}: {scalar}" if path else scalar for path, scalar in _leaves(value, "", 0)]


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _MAX_DEPTH:
        yield path, json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]", depth + 1)
    elif isinstance(value, str):
        if value.strip():
            yield path, " ".join(value.split())
    elif value is not None:
        yield path, json.dumps(value)
