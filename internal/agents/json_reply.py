"""Finds the JSON in a model's reply, whatever stands around it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from internal.errors import ModelReplyInvalid

LENGTH_LIMIT = 1_000_000
"""Most characters of a reply. Its token limit is far below this; more is not worth the time to read."""
UNCLOSED_LIMIT = 10
"""Brackets of prose that never close cost a scan to the end each."""
MAX_ID = 2**63 - 1

_OPENING = re.compile(r"[{\[]")
# A string that never ends swallows the rest, so that a scan stays linear.
_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_BEGINS_LIKE_JSON = re.compile(r'\{\s*(?:"|\Z)|\[\s*(?:[{\["]|\Z)')
_ID = re.compile(r"\[?(?:person\s*:\s*)?(\d{1,19})\]?", re.IGNORECASE)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


@dataclass(frozen=True, slots=True)
class _Found:
    value: Any
    start: int
    end: int


def read_object(text: str, known: Collection[str], bare: str) -> dict[str, Any]:
    """The known keys of the object in a reply; a bare array is read as the value of the key `bare`.

    Code fences, preamble and trailing prose are passed over. If several objects hold known keys, as when a model
    thinks aloud, the later ones win. Raises ModelReplyInvalid when there is no JSON, when it is cut off, when it
    holds none of the known keys, or when all of those are null: none of these is an empty success.
    """
    if not text.strip():
        raise ModelReplyInvalid("the reply is empty")
    if len(text) > LENGTH_LIMIT:
        raise ModelReplyInvalid("the reply is too long to be read")
    found = list(_values(text))
    merged: dict[str, Any] = {}
    for each in found:
        if isinstance(each.value, dict):
            merged.update((key, value) for key, value in each.value.items() if key in known)
    if not merged:
        merged = {bare: _bare_array(text, found)}
    if all(value is None for value in merged.values()):
        raise ModelReplyInvalid("the reply holds only nulls")
    return merged


def read_id(value: object) -> int | None:
    """The positive id meant by 42, 42.0, "42", "Person:42" or "[Person:42]"; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        match = _ID.fullmatch(value.strip())
        value = int(match[1]) if match else None
    return value if isinstance(value, int) and 0 < value <= MAX_ID else None


def _bare_array(text: str, found: list[_Found]) -> list[Any]:
    arrays = [each for each in found if isinstance(each.value, list)]
    for each in reversed(arrays):
        around = (text[: each.start] + text[each.end :]).replace("```json", "").strip(" \t\r\n`")
        # In prose "[1]" is a footnote; an array of objects, or one that stands alone, is an answer.
        if not around or (each.value and all(isinstance(item, dict) for item in each.value)):
            return list(each.value)
    raise ModelReplyInvalid("the reply holds none of the keys that were asked for" if found else "there is no JSON")


def _values(text: str) -> Iterator[_Found]:
    """Every outermost JSON object and array of the text, in order."""
    position = unclosed = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
            yield _Found(_storable(value), start, position)
            continue
        except (ValueError, RecursionError):
            closing = _closing(text, start)
        if closing is not None:
            position = closing
            continue
        unclosed += 1
        if unclosed > UNCLOSED_LIMIT or _BEGINS_LIKE_JSON.match(text, start):
            raise ModelReplyInvalid("the reply's JSON is cut off")
        position = start + 1


def _closing(text: str, start: int) -> int | None:
    """The index behind the bracket that closes the one at `start`; brackets inside strings do not count."""
    depth = 0
    for token in _BRACKET_OR_STRING.finditer(text, start):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _storable(value: Any) -> Any:
    """The value without characters that no database takes: NUL, and halves of surrogate pairs from a cut emoji."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("", value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value
