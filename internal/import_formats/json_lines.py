"""JSON as readable lines."""

import json
from collections.abc import Iterator
from typing import Any

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
