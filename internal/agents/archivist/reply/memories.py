"""Parses the memories of a reply: nodes of the 13 labels, their links, and the lines that support them."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from internal.agents.archivist.reply.facts import MAX_SUMMARY, OWNER_WORDS, PERSON_ID
from internal.agents.archivist.reply.fields import cited_lines, name_of
from internal.agents.archivist.reply.memory_values import TIME, folded_label, read_properties
from internal.agents.json_reply import read_id
from internal.agents.model import TranscriptLine
from internal.agents.reply_items import ItemReader, as_object
from internal.errors import Refusal, Refused
from internal.graph import registry
from internal.graph.labels import NODES
from internal.graph.relationships import FACT, RELATIONSHIPS, Relationship
from internal.knowledge.model import OWNER_NODE, ProposedEntity
from internal.language.text.spelling import name_key
from internal.memory.model import (
    INSTRUCTION,
    MEMORY_LABELS,
    NAMING,
    KnownMemory,
    NodeRef,
    ProposedLink,
    ProposedMemory,
    RefKey,
)
from internal.people.names import MAX_NAME

MAX_LINKS: Final = 60
"""Most links of one memory in one reply; more come from a repeating model."""

NEEDS_OWNER_LINE: Final = frozenset({"Goal", "Preference", "Decision"})
"""Labels that only the owner's own words can support."""
NEEDS_OWNER_LINE_NEW: Final = NEEDS_OWNER_LINE | {"Question"}
"""Labels of new nodes that need the owner's words; the answer to a question may come from anybody."""
NEEDS_OWNER_LINE_KNOWN: Final = NEEDS_OWNER_LINE | {"Contradiction"}
"""Labels of known nodes that only the owner's words can change: only the owner settles a contradiction."""

LINKS: Final[Mapping[str, Relationship]] = {
    one.name: one for one in RELATIONSHIPS.values() if not one.derived and one.name != FACT
}
"""The relationships of the memory graph, each between two labels of its own."""

_LABELS: Final = {folded_label(label): label for label in MEMORY_LABELS}
_NAMING_WORDS: Final = ("content", "text", "description", "name", "title", "term", "value", "fact")
"""Properties under which models write the name of a node instead of its own naming property."""
_RESERVED: Final = frozenset({"id", "label", "links", "evidence", "properties"})
_HANDLE: Final = re.compile(r"\W*([A-Za-z]\d{1,4})\W*")
_UNTYPED: Final[Mapping[str, Mapping[str, str]]] = {"TemporalMarker": {"type": "period"}}
"""Placeholders during the check of a node for properties that are derived later: a time marker's from its dates."""
_STORED: Final[Mapping[str, Mapping[str, str]]] = {
    **_UNTYPED,
    "Context": {"type": "domain"},
    "Source": {"type": "file"},
}
"""Placeholders during the check of a known node for properties that it has."""


class MemoryReader(ItemReader):
    """Parses memories and checks them against the slice; links that break a rule are refused, the memory stays.

    `known` are the nodes with a handle.
    """

    def __init__(
        self, lines: Mapping[int, TranscriptLine], known_ids: Collection[int], known: Iterable[KnownMemory]
    ) -> None:
        super().__init__()
        self._lines, self._known_ids = lines, known_ids
        self._known = {one.handle.casefold(): one for one in known}

    def memory(self, raw: dict[str, Any]) -> ProposedMemory:
        """One item of `memories`. Raises Refused."""
        evidence = self._said(raw)
        node = self._node(raw, _label_of(raw) or "")
        if node.label in (NEEDS_OWNER_LINE_KNOWN if node.node_id else NEEDS_OWNER_LINE_NEW):
            evidence = self._own(evidence, node.label)
        return ProposedMemory(node, self._links(raw.get("links"), node, evidence), evidence)

    # --- Nodes

    def _node(self, raw: object, implied: str) -> NodeRef:
        """The node of an item or of the end of a link; `implied` is its label if it states none."""
        if isinstance(raw, str | int | float):
            return self._called(raw, implied)
        if not isinstance(raw, dict):
            raise Refused("bad_shape", f"{str(raw)[:MAX_NAME]!r} is no node")
        label = _label_of(raw) or implied
        if (handle := raw.get("id")) not in (None, "") and not _is_numbering(handle, label, raw):
            return self._by_id(handle, raw, label)
        label = label or "Memory"
        if label == "Entity":
            return self._entity(_properties(raw))
        return _node_of(label, _properties(raw))

    def _called(self, raw: str | int | float, implied: str) -> NodeRef:
        """The node of a handle, or the node named by these words."""
        if isinstance(raw, str) and (match := _HANDLE.fullmatch(raw)) and match[1].casefold() in self._known:
            return self._by_id(raw, {}, "")
        if not implied:
            raise Refused("bad_shape", f"{str(raw)[:MAX_NAME]!r} is no node")
        return self._entity({"name": raw}) if implied == "Entity" else _node_of(implied, {NAMING[implied]: raw})

    def _by_id(self, raw: object, item: Mapping[str, Any], written: str) -> NodeRef:
        """A known node with its changes; a person's id names an entity."""
        if (person := read_id(raw)) is not None and written in ("", "Entity"):
            return self._entity({"name": f"Person:{person}"})
        match = _HANDLE.fullmatch(raw) if isinstance(raw, str) else None
        known = self._known.get(match[1].casefold()) if match else None
        if known is None:
            raise Refused("unknown_id", f"no memory was shown as {str(raw)[:MAX_NAME]!r}")
        label = _label_of(item) or known.label  # not the implied one: the registry decides whether the ends fit
        if label != known.label:
            raise Refused("wrong_label", f"{known.handle} is a {known.label}, no {label}")
        changes = read_properties(label, NODES[label].model, _properties(item))
        changes.pop(NAMING[label], None)
        return NodeRef(
            label, _checked(label, changes, {NAMING[label]: known.handle, **_STORED.get(label, {})}), known.node_id
        )

    def _entity(self, properties: Mapping[str, Any]) -> NodeRef:
        """An entity by its name as in facts: OWNER_NODE, `Person:42`, or a name."""
        name = name_of(str(properties.get("name", properties.get("title", ""))))
        if not name:
            raise Refused("no_name", "an entity needs a name")
        if name_key(name) in OWNER_WORDS:
            return NodeRef("Entity", {"name": OWNER_NODE})
        if match := PERSON_ID.fullmatch(name):
            if read_id(match[1]) not in self._known_ids:
                raise Refused("unknown_id", f"nobody has the id {match[1]!r}")
            return NodeRef("Entity", {"name": f"Person:{int(match[1])}"})
        used = {key: properties[key] for key in ("description", "summary", "aliases", "type") if key in properties}
        read = read_properties("Entity", NODES["Entity"].model, {**used, "name": name})
        try:
            return NodeRef("Entity", _checked("Entity", read))
        except Refused:
            # The type of an entity stands under `entities`; an unknown type is ignored here.
            return NodeRef("Entity", {"name": name})

    # --- Links

    def _links(self, raw: object, node: NodeRef, evidence: Sequence[int]) -> tuple[ProposedLink, ...]:
        if raw is None:
            return ()
        items = raw if isinstance(raw, list) else [raw]
        links: dict[tuple[str, bool, str, str], ProposedLink] = {}
        for link in self.keep(items, partial(self._link, node, evidence), MAX_LINKS):
            other = link.other.node_id or name_key(link.other.key.words)
            links.setdefault((link.type, link.outgoing, link.other.label, other), link)
        return tuple(links.values())

    def _link(self, node: NodeRef, evidence: Sequence[int], raw: Any) -> ProposedLink:
        raw = as_object(raw, "link")
        relationship = _relationship(raw.get("type"))
        end, outgoing = _end_of(raw)
        ends = (relationship.source, relationship.target)
        if node.label not in ends:
            registry.relationship_of(relationship.name, node.label, node.label)  # it checks the ends
        if ends[0] != ends[1]:
            outgoing = node.label == ends[0]  # only one direction is possible
        other = self._node(end, ends[1] if outgoing else ends[0])
        source, target = (node, other) if outgoing else (other, node)
        properties = _properties(raw, ("type", "to", "from", "target", "source"))
        read = read_properties("", relationship.attributes, properties)
        checked = registry.check_edge(relationship.name, source.label, target.label, read)
        if (node.node_id or node.key) == (other.node_id or other.key):
            raise Refused("self_link", f"{relationship.name} leads from one node to another")
        self._check_evidence(relationship.name, other, evidence)
        stated_only = {name: checked[name] for name in read if name in checked}
        return ProposedLink(relationship.name, other, stated_only, outgoing)

    def _check_evidence(self, type: str, other: NodeRef, evidence: Sequence[int]) -> None:
        owners = other.label in (NEEDS_OWNER_LINE if other.node_id else NEEDS_OWNER_LINE_NEW) and (
            other.node_id is None or other.properties
        )
        if owners or type == "REVEALS":
            self._own(evidence, other.label)

    # --- Evidence

    def _said(self, raw: dict[str, Any]) -> tuple[int, ...]:
        """The cited lines without the assistant's, which support nothing."""
        cited = tuple(number for number in cited_lines(raw, self._lines) if self._lines[number].role == "user")
        if not raw.get("evidence") or not cited:
            raise Refused("no_evidence", "nothing in the transcript is cited for it")
        return cited

    def _own(self, evidence: Sequence[int], label: str) -> tuple[int, ...]:
        own = tuple(number for number in evidence if self._lines[number].owners_word)
        if not own:
            raise Refused("not_own_words", f"nothing the owner said himself is cited for a {label}")
        return own


def without_one_sided(memories: Sequence[ProposedMemory]) -> tuple[tuple[ProposedMemory, ...], list[Refusal]]:
    """The memories without contradictions that conflict with fewer than two others, and without links to those."""
    sides: dict[RefKey, set[str | RefKey]] = {}
    for memory in memories:
        for link in memory.links:
            if link.type == "CONFLICTS_WITH":
                conflict, side = (memory.node, link.other) if link.outgoing else (link.other, memory.node)
                sides.setdefault(conflict.key, set()).add(side.node_id or side.key)

    def one_sided(node: NodeRef) -> bool:
        return node.label == "Contradiction" and node.node_id is None and len(sides.get(node.key, ())) < 2

    kept = tuple(
        ProposedMemory(one.node, tuple(link for link in one.links if not one_sided(link.other)), one.evidence)
        for one in memories
        if not one_sided(one.node)
    )
    refused = [Refusal("one_sided", "a contradiction is between two memories")] * (len(memories) - len(kept))
    return kept, refused


def mentioned_entities(memories: Sequence[ProposedMemory]) -> tuple[ProposedEntity, ...]:
    """The entities that memories name, each once by its name as it was written, with the lines that name it."""
    found: dict[str, tuple[NodeRef, set[int]]] = {}
    for memory in memories:
        for node in (memory.node, *(link.other for link in memory.links)):
            if node.label == "Entity":
                found.setdefault(node.properties["name"], (node, set()))[1].update(memory.evidence)
    return tuple(
        ProposedEntity(
            name=name,
            summary=str(node.properties.get("description", ""))[:MAX_SUMMARY],
            aliases=tuple(node.properties.get("aliases", ())),
            evidence=tuple(sorted(evidence)),
        )
        for name, (node, evidence) in found.items()
    )


def _is_numbering(raw: object, label: str, item: Mapping[str, Any]) -> bool:
    """Whether an id only numbers a node that has its own words: some models number all items."""
    if (isinstance(raw, str) and _HANDLE.fullmatch(raw)) or folded_label(item.get("label")) == "person":
        return False
    properties = _properties(item)
    return bool(label) and any(properties.get(name) for name in (NAMING[label], *_NAMING_WORDS, label.casefold()))


def _label_of(raw: Mapping[str, Any]) -> str | None:
    """The label that is written; None if there is none. A person is an entity. Raises Refused("unknown_label")."""
    written = raw.get("label")
    if isinstance(written, list) and written:
        written = written[0]
    if written in (None, "", []):
        kind = folded_label(raw.get("type"))
        return _LABELS.get(kind) if "properties" in raw else None
    folded = folded_label(written)
    if folded not in _LABELS and folded != "person":
        known = ", ".join(MEMORY_LABELS)
        raise Refused("unknown_label", f"{str(written)[:MAX_NAME]}: there is no such label; there are {known}")
    return _LABELS.get(folded, "Entity")


def _properties(raw: Mapping[str, Any], reserved: Iterable[str] = ()) -> dict[str, Any]:
    """The properties, nested as requested or flat beside the other keys."""
    nested = raw.get("properties")
    if isinstance(nested, dict):
        return dict(nested)
    if nested not in (None, [], ""):
        raise Refused("bad_shape", "`properties` is no object")
    return {key: value for key, value in raw.items() if key not in _RESERVED and key not in reserved}


def _node_of(label: str, properties: Mapping[str, Any]) -> NodeRef:
    """A node with its properties in the registry's form, without defaults."""
    model = NODES[label].model
    naming = NAMING[label]
    read = read_properties(label, model, properties)
    if naming not in read:
        spare = (name for name in (*_NAMING_WORDS, label.casefold()) if name in read and name not in model.model_fields)
        if (found := next(spare, None)) is not None:
            read |= read_properties(label, model, {naming: read.pop(found)})
    if naming in read:  # a wrong property beside the node's words is only left out
        read = {name: value for name, value in read.items() if name in model.model_fields}
    return NodeRef(label, _checked(label, _typed(label, read)))


def _typed(label: str, properties: dict[str, Any]) -> dict[str, Any]:
    """The properties with the type of a source, which its reference shows, and with the state of an instruction."""
    if label == "Preference" and str(properties.get("category", "")).casefold() in (INSTRUCTION, f"{INSTRUCTION}s"):
        properties = {"status": "active", "strength": 1.0} | properties | {"category": INSTRUCTION}
    if label == "Source" and "type" not in properties and isinstance(properties.get("reference"), str):
        properties["type"] = "url" if "://" in properties["reference"] else "document"
    return properties


def _checked(label: str, properties: Mapping[str, Any], assumed: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The properties in the registry's form; times are still words and are checked when they are resolved.

    `assumed` are values for properties that may be missing.
    """
    fields = NODES[label].model.model_fields
    times = {name for name in properties if name in fields and registry.expected(fields[name]) == TIME}
    plain = {name: value for name, value in properties.items() if name not in times}
    checked = registry.check_node(label, {**(_UNTYPED.get(label, {}) if assumed is None else assumed), **plain})
    return {
        name: properties[name] if name in times else checked[name]
        for name in properties
        if name in times or name in checked
    }


def _relationship(raw: object) -> Relationship:
    name = re.sub(r"[\s-]+", "_", raw.strip()).upper() if isinstance(raw, str) else ""
    if name not in LINKS:
        known = ", ".join(LINKS)
        raise Refused(
            "unknown_relationship", f"{str(raw)[:MAX_NAME]}: there is no such relationship; there are {known}"
        )
    return LINKS[name]


def _end_of(raw: Mapping[str, Any]) -> tuple[object, bool]:
    """The other end of a link, and whether the link leads to it."""
    for key, outgoing in (("to", True), ("target", True), ("from", False), ("source", False)):
        if raw.get(key) not in (None, ""):
            return raw[key], outgoing
    raise Refused("no_end", "the link leads nowhere")
