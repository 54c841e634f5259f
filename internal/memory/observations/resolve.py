"""Resolves the nodes of a reply to known ones.

Equal words are tried first, then other forms of them, then vectors.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.errors import Refused
from internal.graph import registry, store
from internal.graph.model import Node
from internal.language.text.spelling import name_key
from internal.memory.model import NAMING, MemoryLookup, NodeRef
from internal.memory.observations import targets_repository
from internal.memory.observations.fold import COUNTED

_DATES: Final = ("startDate", "endDate")

Key = tuple[str, str]


class Resolver:
    """Resolves a reply's references within one transaction and remembers the results."""

    def __init__(self, connection: Connection, user_id: int, lookup: MemoryLookup, entities: Mapping[str, str]) -> None:
        self._connection, self._user_id, self._lookup = connection, user_id, lookup
        self._entities = {name_key(name): node_id for name, node_id in entities.items()}
        self._found: dict[Key, list[tuple[NodeRef, str]]] = {}

    def find(self, ref: NodeRef) -> Node | None:
        """The node that a reference means; None for a new one.

        Raises Refused("unknown_entity" | "unknown_node" | "no_name" | "being_forgotten").
        """
        if ref.label == "Entity":
            return self._entity(ref)
        if ref.node_id is not None:
            return self._known(ref, ref.node_id)
        if not ref.key.words or not registry.key_of(ref.label, ref.key.words):
            raise Refused("no_name", f"{ref.label}.{NAMING[ref.label]}: words are expected")
        if targets_repository.being_forgotten(self._connection, self._user_id, ref.label, ref.key.words):
            raise Refused("being_forgotten", f"{ref.label}: this is being forgotten")
        other = self.canonical(ref)
        return (
            self._from_this_reply(ref)
            or self._exact(ref)
            or self._from_this_reply(other)
            or self._exact(other)
            or self._same(ref)
        )

    def canonical(self, ref: NodeRef) -> NodeRef:
        """The reference in the form that this reply uses elsewhere, unless its own words are known."""
        form = None if ref.node_id is not None else self._lookup.forms.get(ref.key)
        if form is None or form.label != ref.label or self._from_this_reply(ref) or self._exact(ref):
            return ref
        return NodeRef(form.label, {**ref.properties, NAMING[form.label]: form.words})

    def remember(self, ref: NodeRef, node: Node) -> None:
        """Records that the words of this reference mean this node in this reply."""
        if ref.label != "Entity" and ref.node_id is None:
            self._found.setdefault(_key(ref), []).append((ref, node.id))

    def _entity(self, ref: NodeRef) -> Node:
        node_id = self._entities.get(name_key(ref.key.words))
        node = None if node_id is None else store.resolve_node(self._connection, self._user_id, node_id)
        if node is None:
            raise Refused("unknown_entity", f"nothing is known as {ref.key.words[:60]!r}")
        return node

    def _known(self, ref: NodeRef, node_id: str) -> Node:
        node = store.resolve_node(self._connection, self._user_id, node_id)
        if node is None or node.label != ref.label:
            raise Refused("unknown_node", f"there is no {ref.label} {node_id}")
        return node

    def _from_this_reply(self, ref: NodeRef) -> Node | None:
        """A node from earlier in this reply with the same dates, or with any if none are given."""
        for other, node_id in self._found.get(_key(ref), ()):
            if _dates(ref) in ((None, None), _dates(other)):
                return store.get_node(self._connection, self._user_id, node_id)
        return None

    def _exact(self, ref: NodeRef) -> Node | None:
        named = store.nodes_named(self._connection, self._user_id, ref.label, [ref.key.words])
        return _with_same_dates(ref, named)

    def _same(self, ref: NodeRef) -> Node | None:
        """The likeliest node with the same meaning that still exists."""
        for likeness in self._lookup.same.get(ref.key, ()):
            node = store.resolve_node(self._connection, self._user_id, likeness.node_id)
            if node is not None and node.label == ref.label:
                return node
        return None


def stated_properties(ref: NodeRef) -> dict[str, Any]:
    """The stated properties of a reference, without counts of use and None values."""
    return {name: value for name, value in ref.properties.items() if name not in COUNTED and value is not None}


def _key(ref: NodeRef) -> Key:
    return ref.label, registry.key_of(ref.label, ref.key.words)


def _dates(ref: NodeRef) -> tuple[datetime | None, datetime | None]:
    if ref.label != "TemporalMarker":
        return None, None
    start, end = (_moment(ref.properties.get(name)) for name in _DATES)
    return start, end


def _moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _with_same_dates(ref: NodeRef, named: Iterable[Node]) -> Node | None:
    """The first of these nodes with the same dates, if the reference is a time marker."""
    for node in named:
        if ref.label != "TemporalMarker" or _dates(ref) == _dates(NodeRef(node.label, node.properties)):
            return node
    return None
