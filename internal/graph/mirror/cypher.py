"""Checks Cypher statements from outside and converts results to JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any, Final

from internal.errors import Refused

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_UNREAD: Final = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | /\*.*?\*/ | //[^\n]*""", re.DOTALL | re.VERBOSE
)
"""Texts, quoted names and comments, which hold no keywords."""

_LOADING: Final = re.compile(r"\bload\s+csv\b", re.IGNORECASE)


def check(cypher: str, params: Mapping[str, Any]) -> None:
    """Refuses statements that read anything but the owner's graph: `LOAD CSV` opens files and URLs on the server.

    Raises Refused("cypher" | "params"), the latter for a name that would be read as a part of the statement.
    """
    if not cypher.strip():
        raise Refused("cypher", "query: a statement is expected")
    if _LOADING.search(_UNREAD.sub(" ", cypher)):
        raise Refused("cypher", "query: LOAD CSV is not allowed, only the graph can be read")
    for name, value in params.items():
        if not _NAME.fullmatch(name):
            raise Refused("params", f"params: {name[:60]!r} is no name of a parameter")
        _check_value(name, value)


def _check_value(name: str, value: Any) -> None:
    match value:
        case float() if not math.isfinite(value):
            raise Refused("params", f"params.{name}: NaN and infinities are no numbers here")
        case str() if "\0" in value:
            raise Refused("params", f"params.{name}: NUL cannot be in a text")
        case list():
            for item in value:
                _check_value(name, item)
        case dict():
            for key, one in value.items():
                if not key or "`" in key or "\0" in key:
                    raise Refused("params", f"params.{name}: {key[:60]!r} is no key of a map")
                _check_value(name, one)
        case None | bool() | int() | float() | str():
            pass
        case _:
            raise Refused("params", f"params.{name}: a value of JSON is expected")


def json_of(value: Any) -> Any:
    """A value of an answer: nodes as `{id, label, properties}`, edges as `{id, type, properties}`.

    Paths are `{nodes, edges}`; other values become text, and NaN becomes null.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): json_of(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_of(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if isinstance(value, datetime | date | time) else _thing(value)


def _thing(value: Any) -> Any:
    """The client's classes are recognised by their attributes, because it is imported only where a mirror is used."""
    if hasattr(value, "labels"):
        label = (value.labels or [""])[0]
        return {"id": value.properties.get("id"), "label": label, "properties": json_of(value.properties)}
    if hasattr(value, "relation"):
        properties = json_of(value.properties or {})
        return {"id": properties.get("id"), "type": value.relation, "properties": properties}
    if hasattr(value, "nodes"):
        return {"nodes": json_of(value.nodes()), "edges": json_of(value.edges())}
    return str(value)
