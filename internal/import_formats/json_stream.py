"""JSON read piece by piece: a file of any size, of which only the value at hand is in memory.

The standard library's own scanner reads the values, so that a message costs what it costs in a small file.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from typing import Any

from internal.import_formats.model import Unreadable

CHUNK = 1 << 20
"""Bytes read at a time."""

LARGEST = 32 << 20
"""Characters of the largest single value, where a message has thousands: all that a hostile file can make us hold."""

_NEAR_END = 16
"""A scanner that stops this close to the end of what was read so far may only miss the rest of a token."""

_EXPONENT = len("e+1")
"""What has to be seen behind a number to know that it has ended."""

_SPACE = " \t\n\r"


class JsonStream:
    """A cursor in a JSON text. `read(n)` gives the next bytes, at most n, and none at the end; `name` is for errors.

    At each value the caller calls one of `value`, `members`, `elements` or `skip`; what he leaves is skipped. All raise
    Unreadable.
    """

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read, self._name = read, name
        self._text, self._at, self._before = "", 0, 0
        self._ended = False
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._scan = json.JSONDecoder().raw_decode
        self._untouched = False

    def peek(self) -> str:
        """The next character that is not blank: `{`, `[`, or how a scalar begins; empty at the end of the text."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._fill():
                return ""

    def value(self) -> Any:
        """The whole value, of at most LARGEST characters."""
        self._untouched = False
        self.peek()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._may_be_cut(error):
                    raise self._broken(error.msg, error.pos) from None
                if not self._fill():
                    raise self._ends() from None
                continue
            except (RecursionError, ValueError):
                raise self._broken("a value is nested too deeply or a number is too long", self._at) from None
            if isinstance(value, int | float) and len(self._text) - end < _EXPONENT and not self._ended:
                self._fill()  # a number may go on
                continue
            self._at = end
            return value

    def members(self) -> Iterator[str]:
        """The keys of an object, one after the other; at each the cursor stands at its value."""
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
        """The places (from 0) of an array, one after the other; at each the cursor stands at its value."""
        self._untouched = False
        self._expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        place = 0
        while True:
            yield from self._at_value(place)
            place += 1
            if self._closes("]"):
                return

    def skip(self) -> None:
        """Passes over a value, however large."""
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
        """Makes sure that nothing follows."""
        if self.peek():
            raise self._unexpected("the end")

    def _at_value(self, place: Any) -> Iterator[Any]:
        self._untouched = True
        yield place
        if self._untouched:
            try:
                self.skip()
            except RecursionError:
                raise self._broken("a value is nested too deeply", self._at) from None

    def _closes(self, bracket: str) -> bool:
        """Passes a comma (False) or the closing bracket (True)."""
        found = self.peek()
        if found not in {",", bracket} or not found:
            raise self._unexpected(f"a comma or {bracket}")
        self._at += 1
        return found == bracket

    def _expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self._unexpected(sign)
        self._at += 1

    def _fill(self) -> bool:
        """Reads on, at least as much again as waits unread: a value that does not fit is tried a few times only."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        if len(rest) > LARGEST:
            raise self._broken(f"a single value is longer than {LARGEST >> 20} million characters", self._at)
        try:
            raw = self._read(max(CHUNK, len(rest)))
            text = self._decode(raw, final=not raw)
        except UnicodeDecodeError:
            raise self._broken("it is not UTF-8", len(self._text)) from None
        self._ended = not raw
        self._before += self._at
        self._text, self._at = rest + text, 0
        return not self._ended or bool(text)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR_END

    def _unexpected(self, wanted: str) -> Unreadable:
        return self._broken(f"there should be {wanted}", self._at) if self.peek() else self._ends()

    def _ends(self) -> Unreadable:
        return Unreadable(f"{self._name} is cut off: it ends in the middle, at character {self._before + self._at}")

    def _broken(self, what: str, place: int) -> Unreadable:
        return Unreadable(f"{self._name} is not the JSON it should be, at character {self._before + place}: {what}")
