"""The schema registry: checks everything before it is written. Refusals name label, attribute and accepted values.

Reasons: unknown_label, unknown_relationship, wrong_ends, derived, unknown_attribute, missing_attribute, wrong_type,
out_of_range, unknown_value, kept_by_store.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from internal.errors import Refused
from internal.graph.labels import NODES, Expected, NodeSchema, beginning
from internal.graph.model import Node
from internal.graph.relationships import RELATIONSHIPS, Relationship
from internal.language.text.spelling import name_key

SCHEMA_VERSION: Final = 1
"""The schema version stored with every row."""

KEPT_BY_STORE: Final = frozenset({"id", "created"})

_MARKS: Final = " .!?…,;:\"'«»„“”()-"
_LONGEST_KEY: Final = 200
"""Most characters of a sentence that is its own key; longer ones are hashed."""

_RANGES: Final = ("greater_than", "less_than", "finite_number", "string_pattern_mismatch", "value_error")


def check_node(
    label: str, properties: Mapping[str, Any], *, zone: tzinfo = UTC, derived: bool = False
) -> dict[str, Any]:
    """The properties in stored form: with defaults, times in ISO 8601 of UTC, without None.

    Times without a zone are in `zone`. Raises Refused. `derived` allows the labels of the chronicle's view.
    """
    schema = schema_of(label)
    if schema.derived and not derived:
        raise Refused("derived", f"{label}: these nodes follow from the chronicle's own rows and cannot be written")
    for name in KEPT_BY_STORE & properties.keys():
        raise Refused("kept_by_store", f"{label}.{name}: it is given by the store and cannot be written")
    return _checked(label, schema.model, properties, zone)


def check_edge(
    type: str,
    source_label: str,
    target_label: str,
    properties: Mapping[str, Any],
    *,
    zone: tzinfo = UTC,
    derived: bool = False,
) -> dict[str, Any]:
    """Like `check_node`, for the attributes of an edge between nodes of these labels."""
    relationship = relationship_of(type, source_label, target_label)
    if relationship.derived and not derived:
        raise Refused("derived", f"{type}: these edges follow from the chronicle's own rows and cannot be written")
    return _checked(type, relationship.attributes, properties, zone)


def merged(label: str, before: Mapping[str, Any], changes: Mapping[str, Any], *, zone: tzinfo = UTC) -> dict[str, Any]:
    """The checked properties after changes; None removes an optional one. Raises what `check_node` raises."""
    if label in NODES and "summary" in changes and "description" in NODES[label].model.model_fields:
        changes = {"description": changes["summary"]} | {k: v for k, v in changes.items() if k != "summary"}
    kept = dict(before)
    if label == "Memory" and "content" in changes and kept.get("summary") == beginning(kept["content"]):
        del kept["summary"]  # it was made from the old content and is made anew
    return check_node(label, {**kept, **changes}, zone=zone)


def schema_of(label: str) -> NodeSchema:
    """The schema of a label. Raises Refused("unknown_label")."""
    if label not in NODES:
        raise Refused("unknown_label", f"{label[:60]}: there is no such label; there are {', '.join(NODES)}")
    return NODES[label]


def relationship_of(type: str, source_label: str, target_label: str) -> Relationship:
    """Finds a relationship. Raises Refused("unknown_label" | "unknown_relationship" | "wrong_ends")."""
    for label in (source_label, target_label):
        schema_of(label)
    found = RELATIONSHIPS.get((type, source_label, target_label))
    if found is not None:
        return found
    ends = [f"{one.source} to {one.target}" for one in RELATIONSHIPS.values() if one.name == type]
    if not ends:
        names = ", ".join(dict.fromkeys(one.name for one in RELATIONSHIPS.values()))
        raise Refused("unknown_relationship", f"{type[:60]}: there is no such relationship; there are {names}")
    raise Refused("wrong_ends", f"{type}: it leads from {_listed(ends)}, not from {source_label} to {target_label}")


def columns_of(label: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a node's row, including `props`, that hold its checked properties; empty ones are None.

    Counters of accesses have columns only, and are set only if given.
    """
    schema = schema_of(label)
    columns: dict[str, Any] = dict.fromkeys(("subtype", "name", "name_key", "status", "at"))
    for prop, column in schema.columns.items():
        value = properties.get(prop)
        if value is not None:
            columns[column] = datetime.fromisoformat(value) if column in ("at", "last_accessed") else value
    identity = properties.get(schema.sentence) if schema.sentence else columns["name"]
    if identity is not None:
        columns["name_key"] = key_of(label, identity)
    counted = {prop for prop, column in schema.columns.items() if column in ("access_count", "last_accessed")}
    columns["props"] = {name: value for name, value in properties.items() if name not in counted}
    return columns


def key_of(label: str, words: str) -> str:
    """The identifying key of a node of this label, from its name or its sentence.

    Punctuation around a sentence is ignored, and a long one is hashed, so that its text is not stored twice.
    """
    key = name_key(words)
    if not schema_of(label).sentence:
        return key
    key = key.strip(_MARKS)
    return key if len(key) <= _LONGEST_KEY else hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def text_of(label: str, properties: Mapping[str, Any]) -> str:
    """The text by which a node is found: its searched properties, each on a line."""
    parts: list[str] = []
    for name in schema_of(label).searched:
        value = properties.get(name)
        parts += [", ".join(value)] if isinstance(value, list) else [value] if value else []
    # A short memory's summary equals its content, which stands there already.
    return "\n".join(dict.fromkeys(part for part in parts if part))


def specified_properties(node: Node) -> dict[str, Any]:
    """A node's properties as the specification lists them, those that the store keeps included."""
    shown_properties: dict[str, Any] = {"id": node.id, **node.properties}
    if node.label == "Memory":
        shown_properties["accessCount"] = node.access_count
        shown_properties["lastAccessed"] = node.last_accessed.isoformat() if node.last_accessed else None
    if schema_of(node.label).created:
        shown_properties["created"] = node.created_at.isoformat()
    return shown_properties


def _checked(label: str, model: type[BaseModel], properties: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    given = {name: value for name, value in properties.items() if value is not None or name not in model.model_fields}
    try:
        checked = model.model_validate(given, context={"zone": zone})
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise _refusal(label, model, problem["type"], problem["loc"], problem["msg"]) from None
    return checked.model_dump(exclude_none=True)


def _refusal(label: str, model: type[BaseModel], kind: str, location: tuple[int | str, ...], words: str) -> Refused:
    name = str(location[0])[:60] if location else ""
    field = model.model_fields.get(name)
    if field is None:
        if kind == "extra_forbidden":
            known = ", ".join(model.model_fields) or "none"
            return Refused("unknown_attribute", f"{label}.{name}: there is no such attribute; there are {known}")
        return Refused("out_of_range", f"{label}.{words.removeprefix('Value error, ')} is expected")
    wanted = f"{label}.{name}: {expected(field)} is expected"
    if kind == "missing" or (kind == "string_too_short" and field.is_required()):
        return Refused("missing_attribute", wanted)
    if kind == "literal_error":
        return Refused("unknown_value", wanted)
    ranged = kind.startswith(_RANGES) or kind == "string_too_short"
    return Refused("out_of_range" if ranged else "wrong_type", wanted)


def expected(field: FieldInfo) -> str:
    """The accepted values of a property: "a number from 0 to 1", "one of active, achieved, abandoned"."""
    found = next(_phrases(field.annotation, field.metadata), "")
    return found or "another value"


def _phrases(annotation: Any, metadata: Iterable[Any] = ()) -> Iterator[str]:
    yield from (one.words for one in metadata if isinstance(one, Expected))
    if get_origin(annotation) is Literal:
        values = get_args(annotation)
        yield f"one of {', '.join(values)}" if len(values) > 1 else f"the value {values[0]}"
    for inner in get_args(annotation):
        if not isinstance(inner, str):
            yield from _phrases(inner, getattr(inner, "__metadata__", ()))


def _listed(ends: list[str]) -> str:
    shortest = ends[:6]
    return " or ".join(shortest) + (" or others" if len(ends) > len(shortest) else "")
