"""Parses single properties of a memory in the forms that models write: shares, ranks, states, times."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from internal.agents.archivist.reply.fields import aliases_of, name_of, prose
from internal.errors import Refused
from internal.graph.registry import KEPT_BY_STORE, expected
from internal.language.text.spelling import name_key, words
from internal.people.names import MAX_NAME

MAX_CONTENT: Final = 2_000
MAX_TEXT: Final = 1_000
MAX_TIME: Final = 100

TIME: Final = "a time in ISO 8601"
"""The registry's name for the type of a property that has a moment."""

COUNTED: Final = KEPT_BY_STORE | {"lastAccessed", "accessCount", "observations", "facts"}
"""Properties that the store computes; models copy them from the prompt."""

NAMED: Final = words("Concept Keyword Topic Context Entity")
"""Labels whose naming property is a name, not a sentence."""

_SYNONYMS: Final[Mapping[str, str]] = {
    "deadline": "targetDate", "duedate": "targetDate", "due": "targetDate", "reason": "rationale", "why": "rationale",
    "start": "startDate", "end": "endDate", "kind": "type", "relationtype": "relType", "primary": "isPrimary",
}  # fmt: skip

_DEGREES: Final = {"high": 0.9, "medium": 0.6, "moderate": 0.6, "low": 0.3}
_RANKS: Final = {"high": 1, "medium": 2, "low": 3}
_TRUTHS: Final = dict.fromkeys(words("true yes 1 да так"), True) | dict.fromkeys(words("false no 0 нет ні"), False)
_STATES: Final = {
    "done": ("achieved", "completed", "answered"), "reached": ("achieved",), "completed": ("achieved",),
    "finished": ("achieved", "completed"), "closed": ("answered", "completed", "resolved"), "resolved": ("answered",),
    "dropped": ("abandoned", "ended"), "cancelled": ("abandoned", "archived", "ended"),
    "canceled": ("abandoned", "archived", "ended"), "inactive": ("ended",),
    "in_progress": ("active",), "open": ("active", "unresolved"), "ongoing": ("active",),
    "partially": ("partial",), "partially_answered": ("partial",), "unanswered": ("open",),
    "company": ("organization",), "location": ("place",), "city": ("place",), "object": ("tool",),
    "organisation": ("organization",), "website": ("url",), "link": ("url",), "chat": ("conversation",),
    "moment": ("point",), "date": ("point",),
}  # fmt: skip
"""Other words for the values of enums, each with its possible values."""

_NUMBER = re.compile(r"([+-]?\d{1,6}(?:[.,]\d{1,6})?)\s*(%?)")
_RANK = re.compile(r"[#pP]?\s*(\d{1,9})(?:\.0+)?")


def read_properties(label: str, model: type[BaseModel], raw: Mapping[str, Any]) -> dict[str, Any]:
    """The properties by the registry's names and, as far as possible, in its types; the registry checks the rest.

    Names may be written in snake_case. Times stay words. Raises Refused.
    """
    folded = {_folded(name): name for name in model.model_fields}
    properties: dict[str, Any] = {}
    for key, value in raw.items():
        name = folded.get(_folded(key)) or _synonym(key, model.model_fields)
        if value in (None, "", [], {}) or (name or key) in COUNTED or _folded(key) in _COUNTED:
            continue
        if name is None:
            properties[key] = value  # the registry's refusal names the valid ones
        elif (read := _read(label, name, model.model_fields[name], value)) not in (None, "", []):
            properties.setdefault(name, read)
    return properties


def folded_label(raw: object) -> str:
    """A label or relationship in the form for comparing: temporal_marker and TemporalMarker are equal."""
    return _folded(raw) if isinstance(raw, str) else ""


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


_COUNTED: Final = {_folded(name) for name in COUNTED}


def _synonym(key: str, known: Collection[str]) -> str | None:
    name = _SYNONYMS.get(_folded(key))
    return name if name in known else None


def _read(label: str, name: str, field: FieldInfo, value: Any) -> Any:
    wanted = expected(field)
    if wanted.startswith("one of "):
        return _state(value, wanted.removeprefix("one of ").split(", "))
    if name == "name" and label in NAMED:
        return name_of(_texts(value))
    return _READERS[wanted](value) if wanted in _READERS else value


def _state(value: Any, allowed: Collection[str]) -> Any:
    """The value of an enum in any case, or for a synonym; else the word, which the registry refuses."""
    if not isinstance(value, str):
        return value
    folded = re.sub(r"[\s-]+", "_", value.strip().casefold())
    if folded in allowed:
        return folded
    return next((meant for meant in _STATES.get(folded, ()) if meant in allowed), value)


def _share(value: Any) -> Any:
    """A share from 0.8, "0,8", "80%" or 80: a number from 10 on is percent."""
    if isinstance(value, str):
        degree = _DEGREES.get(value.strip().casefold())
        if degree is not None:
            return degree
        match = _NUMBER.fullmatch(value.strip())
        if match is None:
            return value
        number = float(match[1].replace(",", "."))
        return number / 100 if match[2] or 10 <= abs(number) <= 100 else number
    if isinstance(value, int | float) and not isinstance(value, bool) and 10 <= abs(value) <= 100:
        return value / 100
    return value


def _rank(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip().casefold()
        match = _RANK.fullmatch(text)
        return _RANKS.get(text) or (int(match[1]) if match else value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _truth(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return _TRUTHS.get(name_key(str(value)), value)


def _time(value: Any) -> Any:
    """The words of a time; a bare year may come as a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or len(value) > MAX_TIME:
        raise Refused("bad_date", f"{str(value)[:MAX_NAME]!r} is no date")
    return value.strip()


def _texts(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _text(value: Any) -> Any:
    return prose(_texts(value), MAX_TEXT)


def _names(value: Any) -> Any:
    return list(aliases_of(value, ""))


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "a number from 0 to 1": _share,
    "a number from -1 to 1": _share,
    "a whole number, 1 or more": _rank,
    "true or false": _truth,
    TIME: _time,
    "text": _text,
    "text that is not empty": lambda value: prose(_texts(value), MAX_CONTENT),
    "a list of texts that are not empty": _names,
}
"""The parser of a property by the registry's name for its type."""
