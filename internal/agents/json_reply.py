"""Finds the JSON in a model's reply among other text."""

import contextlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

from internal.errors import ModelReplyInvalid, ModelReplyTruncated

LENGTH_LIMIT = 1_000_000
"""Most characters of a reply that are parsed, far above its token limit."""
UNCLOSED_LIMIT = 10
"""Most unclosed brackets of prose, each of which costs a scan to the end."""
MAX_ID = 2**63 - 1

_OPENING = re.compile(r"[{\[]")
# A string without an end takes the rest, so that a scan stays linear.
_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
# Extensions of JSON that models write: comments, and a comma after the last item.
_COMMENT = r"(?://|#)[^\n]*+|/\*.{0,500}?\*/"
_LOOSE = re.compile(rf'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|{_COMMENT}|,(?=(?:\s|{_COMMENT})*+[}}\]])', re.DOTALL)
_WHOLE_ITEMS = re.compile(r"\{{1,2}\[?")
"""The open brackets of an answer after an item of one of its lists, or after a whole list."""
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

    Skips code fences, preamble, trailing prose, comments, trailing commas and an object or list around the answer. If
    several objects have known keys, as when a model thinks aloud, the later ones win. Raises ModelReplyInvalid if there
    is no JSON, if it has none of the known keys, or if all of those are null, and ModelReplyTruncated if it is cut off:
    none of these is an empty success.
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
    """The outermost complete JSON objects and arrays of a text."""
    found: list[Any] = []
    with contextlib.suppress(ModelReplyTruncated):
        found.extend(each.value for each in _values(text[:LENGTH_LIMIT]))
    return found


def read_arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a tool, also within a fence, with trailing commas, or encoded twice; None if no object."""
    value: Any = text.strip() or "{}"
    for _ in range(2):
        try:
            value = json.loads(value) if isinstance(value, str) else value
        except ValueError:
            value = next(iter(values_in(value)), None)
    return value if isinstance(value, dict) else None


def complete_items(text: str, known: Collection[str]) -> dict[str, Any]:
    """The complete values of known keys in a cut reply: whole values, and lists with their whole items."""
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
    # An object that is still open may lack its most important key.
    return {key: value for key, value in answer.items() if value and (isinstance(value, list) or still_open == "{")}


def merge_objects(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Merges objects: joins lists with each item once, and takes other values from the second."""
    both = first | second
    for key in first.keys() & second.keys():
        if isinstance(first[key], list) and isinstance(second[key], list):
            both[key] = first[key] + [item for item in second[key] if item not in first[key]]
    return both


def _answer(value: Any, known: Collection[str]) -> dict[str, Any]:
    """The known keys of an object, of the objects in a list, or of the objects within an object."""
    if isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict)]
        return reduce(merge_objects, ({key: item for key, item in one.items() if key in known} for one in objects), {})
    if not isinstance(value, dict):
        return {}
    answer = {key: item for key, item in value.items() if key in known}
    inner = [_answer(item, known) for item in value.values() if isinstance(item, dict | list)] if not answer else []
    wrapped: dict[str, Any] = reduce(merge_objects, inner, {})
    return answer or (wrapped if len(wrapped) == sum(map(len, inner)) else {})  # two answers are ambiguous


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
        # "[1]" in prose is a footnote; an array of objects, or one that stands alone, is an answer.
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
    """The index after the bracket that closes the one at `start`; brackets inside strings do not count."""
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
