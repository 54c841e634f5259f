"""JSON schemas of replies in the form that providers require for strict ones."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
NUMBER: Final[Schema] = {"type": "integer"}


def one_of(words: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def object_of(properties: Mapping[str, Schema], *required: str, or_null: bool = False) -> Schema:
    """An object with these properties, of which those named (none: all) are required, and no others."""
    return {
        "type": ["object", "null"] if or_null else "object",
        "properties": dict(properties),
        "required": list(required or properties),
        "additionalProperties": False,
    }


def array_of(items: Schema, *, or_null: bool = False) -> Schema:
    return {"type": ["array", "null"] if or_null else "array", "items": items}
