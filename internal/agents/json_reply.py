"""Finds the JSON in a model's reply, whatever stands around it."""

import contextlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

from internal.errors import ModelReplyInvalid, ModelReplyTruncated

LENGTH_LIMIT = 1_000_000
"""Most characters of a reply. Its token limit is far below this; more is not worth the time to read."""
UNCLOSED_LIMIT = 10
"""Brackets of prose that never close cost a scan to the end each."""
MAX_ID = 2**63 - 1

_OPENING = re.compile(r"[{\[]")
# A string that never ends swallows the rest, so that a scan stays linear.
_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
# What models write beside strict JSON: comments, and a comma behind the last item.
_COMMENT = r"(?://|#)[^\n]*+|/\*.{0,500}?\*/"
_LOOSE = re.compile(rf'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|{_COMMENT}|,(?=(?:\s|{_COMMENT})*+[}}\]])', re.DOTALL)
_WHOLE_ITEMS = re.compile(r"\{{1,2}\[?")
"""The open brackets of an answer behind an item of one of its lists, or behind a whole list."""
_BEGINS_LIKE_JSON = re.compile(r'\{\s*(?:"|\Z)|\[\s*(?:[{\["]|\Z)')
_CLOSERS = str.maketrans("{[", "}]")
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

    Code fences, preamble, trailing prose, comments, trailing commas and an object or list around the answer are passed
    over. If several objects hold known keys, as when a model thinks aloud, the later ones win. Raises ModelReplyInvalid
    when there is no JSON, when it holds none of the known keys, or when all of those are null, ModelReplyTruncated when
    it is cut off: none of these is an empty success.
    """
    if not text.strip():
        raise ModelReplyInvalid("the reply is empty")
    if len(text) > LENGTH_LIMIT:
        raise ModelReplyInvalid("the reply is too long to be read")
    found = list(_values(text))
    merged: dict[str, Any] = {}
    for each in found:
        merged.update(_answer(each.value, known))
    if not merged:
        merged = {bare: _bare_array(text, found)}
    if all(value is None for value in merged.values()):
        raise ModelReplyInvalid("the reply holds only nulls")
    return merged


def values_in(text: str) -> list[Any]:
    """The outermost JSON objects and arrays of a text, as far as it is not cut off."""
    found: list[Any] = []
    with contextlib.suppress(ModelReplyTruncated):
        found.extend(each.value for each in _values(text[:LENGTH_LIMIT]))
    return found


def read_arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a tool, also within a fence, with trailing commas, or encoded twice; None: no object."""
    value: Any = text.strip() or "{}"
    for _ in range(2):
        try:
            value = json.loads(value) if isinstance(value, str) else value
        except ValueError:
            value = next(iter(values_in(value)), None)
    return value if isinstance(value, dict) else None


def complete_items(text: str, known: Collection[str]) -> dict[str, Any]:
    """What of the known keys of a cut reply is complete: whole values, and lists with their whole items."""
    opening = _OPENING.search(text[:LENGTH_LIMIT])
    text = _LOOSE.sub(_kept, text[opening.start() : LENGTH_LIMIT]) if opening else ""
    open_brackets, end, still_open = "", 0, ""
    for token in _BRACKET_OR_STRING.finditer(text):
        if token[0] in "{[":
            open_brackets += token[0]
        elif token[0] in "}]":
            open_brackets = open_brackets[:-1]
            if _WHOLE_ITEMS.fullmatch(open_brackets):
                end, still_open = token.end(), open_brackets
    try:
        answer = _answer(_storable(_DECODER.decode(text[:end] + still_open[::-1].translate(_CLOSERS))), known)
    except (ValueError, RecursionError):
        return {}
    # An object that is still open may lack what matters most in it.
    return {key: value for key, value in answer.items() if value and (isinstance(value, list) or still_open == "{")}


def merge_objects(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both objects: lists joined, each item once, of other values the second."""
    both = first | second
    for key in first.keys() & second.keys():
        if isinstance(first[key], list) and isinstance(second[key], list):
            both[key] = first[key] + [item for item in second[key] if item not in first[key]]
    return both


def _answer(value: Any, known: Collection[str]) -> dict[str, Any]:
    """The known keys of an object, of the objects in a list, or of those that an object wraps, apart."""
    if isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict)]
        return reduce(merge_objects, ({key: item for key, item in one.items() if key in known} for one in objects), {})
    if not isinstance(value, dict):
        return {}
    answer = {key: item for key, item in value.items() if key in known}
    inner = [_answer(item, known) for item in value.values() if isinstance(item, dict | list)] if not answer else []
    wrapped: dict[str, Any] = reduce(merge_objects, inner, {})
    return answer or (wrapped if len(wrapped) == sum(map(len, inner)) else {})  # of two answers neither is the one


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
    loose = False
    while opening := _OPENING.search(text, position):
        start = opening.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
            yield _Found(_storable(value), start, position)
            continue
        except (ValueError, RecursionError):
            if not loose:
                text, position, loose = text[:start] + _LOOSE.sub(_kept, text[start:]), start, True
                continue
            closing = _closing(text, start)
        if closing is not None:
            position = closing
            continue
        unclosed += 1
        if unclosed > UNCLOSED_LIMIT or _BEGINS_LIKE_JSON.match(text, start):
            raise ModelReplyTruncated("the reply's JSON is cut off", text=text)
        position = start + 1


def _kept(loose: re.Match[str]) -> str:
    return loose[1] or ""


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
