"""Checks Cypher statements from outside and converts results to JSON."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from itertools import pairwise
from typing import Any, Final

from internal.errors import Refused

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TOKEN: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z) | //[^\n]* | '(?:[^'\\]|\\.)*'? | "(?:[^"\\]|\\.)*"? | `[^`]*`? | \w+ | \S""",
    re.DOTALL | re.VERBOSE,
)
"""Comments, texts, quoted names, words and signs. An unclosed one extends to the end."""

_MOST_READING: Final = 100_000
"""The most readings in one statement: the engine reads an expression two to four times for each level, and cannot be
stopped: 30 brackets around a number take hours. This limit takes less than a second and allows eight nested ones."""

_CLOSED_BY: Final = {"(": ")", "[": "]", "{": "}"}
_OPENING: Final = frozenset({*_CLOSED_BY, "not", "case"})

_BEFORE_A_VALUE: Final = re.compile(
    "and|by|case|contains|delete|distinct|else|ends|in|limit|not|on|or|order|return|skip|starts|then|unwind|when|where|"
    "with|xor|yield"
)
"""Words after which a value begins."""

_BETWEEN_VALUES: Final = frozenset(
    {"and", "as", "else", "end", "match", "optional", "or", "order", "return", "then", "unwind", "when", "where"}
    | {"with", "xor"}
)
"""Words that end the level of NOT or of a sign."""

_DEEPEST_PARAMETER: Final = 50


def check(cypher: str, params: Mapping[str, Any]) -> None:
    """Refuses statements that read anything but the owner's graph: `LOAD CSV` opens files and URLs on the server.

    Also refuses those that would block the engine for everybody. Raises Refused("cypher" | "nested" | "params"), the
    latter for a name that would be read as a part of the statement.
    """
    tokens = list(_tokens(cypher))
    if not tokens:
        raise Refused("cypher", "query: a statement is expected")
    if ("load", "csv") in pairwise(tokens):
        raise Refused("cypher", "query: LOAD CSV is not allowed, only the graph can be read")
    if sum(_parse_costs(tokens)) > _MOST_READING:
        raise Refused("nested", "query: its expressions are nested too deeply")
    for name, value in params.items():
        if not _NAME.fullmatch(name):
            raise Refused("params", f"params: {name[:60]!r} is no name of a parameter")
        _check_value(name, value, 0)


def _tokens(cypher: str) -> Iterator[str]:
    """The words in lower case, and the signs. A text or a quoted name is only its quote."""
    for token in _TOKEN.findall(cypher):
        if not token.startswith(("/*", "//")):
            yield token[0] if token[0] in "'\"`" else token.lower()


def _parse_costs(tokens: list[str]) -> Iterator[int]:
    """The most readings by the engine of each token that opens a level: a bracket, NOT, CASE, a sign before a value.

    A level of NOT or of a sign counts up to the next comma, AND or the like, or the end of its bracket; that of CASE
    up to a comma or that end. Real levels are shorter. Raises Refused("cypher") for brackets that do not match.
    """
    outer: list[tuple[str, int, int, int]] = []
    begin = case = depth = 0
    before = "("
    for token in tokens:
        if token in _CLOSED_BY:
            outer.append((_CLOSED_BY[token], begin, case, depth))
        elif token in {")", "]", "}"}:
            closed_by, begin, case, depth = outer.pop() if outer else ("", 0, 0, 0)
            if token != closed_by:
                raise Refused("cypher", f"query: Invalid input '{token}', where no such bracket is open")
        elif token == ",":
            case = depth = begin
        elif token in _BETWEEN_VALUES and _ends_value(before):  # else it is a name
            depth = case
        if token in _OPENING or (token in {"+", "-"} and not _ends_value(before)):
            depth += 1
            yield 4 ** min(depth, 32)
        if token in _CLOSED_BY:
            begin = case = depth
        elif token == "case":
            case = depth
        before = token
    if outer:
        raise Refused("cypher", f"query: Invalid input, '{outer[-1][0]}' is missing")


def _ends_value(token: str) -> bool:
    """Whether a `-` after this token is between two values, not the sign of one."""
    is_word = token[0].isalnum() or token[0] == "_"
    return token in ")]}'\"`" or (is_word and not _BEFORE_A_VALUE.fullmatch(token))


def _check_value(name: str, value: Any, depth: int) -> None:
    if depth > _DEEPEST_PARAMETER:
        raise Refused("params", f"params.{name}: at most {_DEEPEST_PARAMETER} levels are expected")
    match value:
        case float() if not math.isfinite(value):
            raise Refused("params", f"params.{name}: NaN and infinities are no numbers here")
        case str() if "\0" in value:
            raise Refused("params", f"params.{name}: NUL cannot be in a text")
        case list():
            for item in value:
                _check_value(name, item, depth + 1)
        case dict():
            for key, one in value.items():
                if not key or "`" in key or "\0" in key:
                    raise Refused("params", f"params.{name}: {key[:60]!r} is no key of a map")
                _check_value(name, one, depth + 1)
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
    """Converts a node, edge or path, recognised by its attributes: the client is imported only for a mirror."""
    if hasattr(value, "labels"):
        label = (value.labels or [""])[0]
        return {"id": value.properties.get("id"), "label": label, "properties": json_of(value.properties)}
    if hasattr(value, "relation"):
        properties = json_of(value.properties or {})
        return {"id": properties.get("id"), "type": value.relation, "properties": properties}
    if hasattr(value, "nodes"):
        return {"nodes": json_of(value.nodes()), "edges": json_of(value.edges())}
    return str(value)
