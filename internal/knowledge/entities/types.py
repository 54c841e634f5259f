"""The types of entities in a reply and the labels and types of their nodes.

The nine types are those that clients of Graphiti know. A requirement or procedure becomes a rule, a document or event
a concept: one node is one thing in all graphs, whatever a client calls it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from internal.errors import Refused

Priority = Literal["highest", "high", "medium", "low", "lowest"]
NodeLabel = Literal["Entity", "Preference", "Topic"]

PERSON = "Person"


@dataclass(frozen=True, slots=True)
class EntityType:
    """One type: its rank among the others, the label and `type` of its nodes, and its own attributes (all texts).

    `offered` types stand in the prompt; the others are understood when a model uses them.
    """

    name: str
    description: str
    priority: Priority = "medium"
    label: NodeLabel = "Entity"
    subtype: str | None = "concept"
    attributes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    offered: bool = True


DEFAULT_TYPES: Sequence[EntityType] = (
    EntityType("Preference", "what the owner wants, likes, prefers, chooses, avoids", "highest", "Preference", None),
    EntityType(
        "Requirement",
        "what a project needs or must have",
        "high",
        subtype="rule",
        attributes={"project_name": "the project it belongs to", "description": "what is required"},
    ),
    EntityType(
        "Procedure",
        "how something is done, step by step, or always",
        subtype="rule",
        attributes={"description": "the steps"},
    ),
    EntityType(
        "Organization",
        "a company, an institution, a group that acts",
        subtype="organization",
        attributes={"description": "what it does"},
    ),
    EntityType(
        "Document",
        "a book, an article, a report, a video",
        attributes={"title": "its title", "description": "what it is about"},
    ),
    EntityType("Event", "what happens at a time", attributes={"description": "what happens"}),
    EntityType(
        "Location", "a place, real or virtual", "low", subtype="place", attributes={"description": "what it is"}
    ),
    EntityType("Topic", "a subject of conversation or interest", "lowest", "Topic", None),
    EntityType(
        "Object", "a thing, a device, a tool", "lowest", subtype="tool", attributes={"description": "what it is"}
    ),
)
"""Types by priority: the first that fits is the type."""

_UNDERSTOOD = (
    EntityType(PERSON, "a human being", subtype="person", offered=False),
    EntityType("Project", "a project", subtype="project", offered=False),
    EntityType("Technology", "a technology", subtype="technology", offered=False),
    EntityType("Concept", "an idea", offered=False),
)
_SYNONYMS = {
    "Organization": "company organisation institution business firm team university school employer group",
    "Location": "place city country town region address venue",
    "Document": "book article report video film movie file song",
    "Event": "activity meeting trip holiday date",
    "Object": "tool product item device thing animal pet food",
    "Topic": "theme subject interest hobby",
    "Procedure": "process instruction howto",
    "Requirement": "need constraint",
    "Preference": "like dislike choice",
    PERSON: "human people user contact",
}
_NOT_A_LETTER = re.compile(r"[\W_]+")
_BASE_LABEL = "entity"
_MAX_ATTRIBUTES = 20
_MAX_VALUE = 1_000

_AFTER_PREFERENCE = 0.5
"""The rank of the owner's own types: after a preference, before the other default types."""

_IMPLIED: Mapping[str, tuple[str, str]] = {
    "WORKS_FOR": (PERSON, "Organization"),
    "STUDIES_AT": (PERSON, "Organization"),
    "LIVES_IN": (PERSON, "Location"),
    "BORN_IN": (PERSON, "Location"),
    "BORN_ON": (PERSON, ""),
    "MARRIED_TO": (PERSON, PERSON),
    "LOCATED_IN": ("", "Location"),
}
"""The types that relations imply for their ends. Likes are left out: people like people and things."""


class EntityTypes:
    """The nine default types and the owner's own ones, looked up by the words that models use for them."""

    def __init__(self, custom: Iterable[tuple[str, str]] = ()) -> None:
        """`custom` are pairs of name and description; one named like a built-in type takes over its description."""
        builtin = {_folded(entity_type.name): entity_type for entity_type in (*DEFAULT_TYPES, *_UNDERSTOOD)}
        self._own = {_folded(name): _own(name, description, builtin) for name, description in custom}
        self._known = {**_synonyms(), **builtin, **self._own}

    @property
    def custom(self) -> Sequence[EntityType]:
        """The types of the configuration, in its order."""
        return tuple(self._own.values())

    @property
    def names(self) -> Sequence[str]:
        """The names that a model may answer: the default types in the order of their priority, then the owner's own."""
        return list(dict.fromkeys(entity_type.name for entity_type in (*DEFAULT_TYPES, *self._own.values())))

    def find(self, name: str) -> EntityType | None:
        """The type a word means, in any case and by its common synonyms; None for an unknown one."""
        return self._known.get(_folded(name))

    def labels(self, names: Iterable[str]) -> tuple[str, ...]:
        """The known types among these words, each once, in order; the base label Entity is ignored.

        Refused("unknown_label") if there are words and none of them is known.
        """
        written = [name for name in names if _folded(name) != _BASE_LABEL]
        found = dict.fromkeys(one.name for name in written if (one := self.find(name)) is not None)
        if written and not found:
            raise Refused(
                "unknown_label", f"there is no entity type {written[0][:64]!r}; there are {', '.join(self.names)}"
            )
        return tuple(found)

    def of(self, labels: Sequence[str]) -> EntityType:
        """The type that decides what the node is: the one with the highest priority; a concept if there is none."""
        known = [one for label in labels if (one := self.find(label)) is not None]
        return min(known, key=_rank, default=_UNDERSTOOD[-1])


def implied_types(relation: str) -> tuple[str, str]:
    """The types of source and target that a relation's name implies; empty for none."""
    return _IMPLIED.get(relation, ("", ""))


def checked_attributes(raw: object, labels: Sequence[str], types: EntityTypes) -> dict[str, Any]:
    """Attributes as flat JSON: scalars and lists of scalars; those a type declares are texts.

    Refused("bad_attributes"), naming the attribute, for anything else.
    """
    if raw is None:
        return {}
    if not isinstance(raw, dict) or len(raw) > _MAX_ATTRIBUTES:
        raise Refused("bad_attributes", f"`attributes` must be an object of at most {_MAX_ATTRIBUTES} values")
    declared = {name for label in labels if (one := types.find(label)) for name in one.attributes}
    kept = {str(name).strip(): value for name, value in raw.items() if value is not None and str(name).strip()}
    for name, value in kept.items():
        if not _flat(value) or (name in declared and not isinstance(value, str)):
            wanted = "a text" if name in declared else "a plain value"
            raise Refused("bad_attributes", f"the attribute {name[:64]!r} must be {wanted}")
    return kept


def _flat(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= _MAX_ATTRIBUTES and all(_flat(item) and not isinstance(item, list) for item in value)
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _MAX_VALUE)


def _rank(one: EntityType) -> float:
    order = {default.name: index for index, default in enumerate(DEFAULT_TYPES)}
    return order.get(one.name, _AFTER_PREFERENCE)


def _own(name: str, description: str, builtin: Mapping[str, EntityType]) -> EntityType:
    known = builtin.get(_folded(name))
    if known is None:
        return EntityType(name.strip(), description)
    return replace(known, description=description or known.description, offered=True)


def _synonyms() -> dict[str, EntityType]:
    known = {entity_type.name: entity_type for entity_type in (*DEFAULT_TYPES, *_UNDERSTOOD)}
    return {word: known[name] for name, listed in _SYNONYMS.items() for word in listed.split()}


def _folded(name: str) -> str:
    return _NOT_A_LETTER.sub("", name).casefold()
