"""Finds or makes the nodes that the names of a reply mean, in the transaction that records its facts.

People come before things and equal names before similar ones. Names are similar only if they can hardly mean
something else: another case form, another alphabet, another name of a known place. A name that fits several nodes is
refused; one that fits none gets a new node.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.errors import Refusal, Refused
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.entities import repository
from internal.knowledge.entities.resolved_names import (
    DatedFact,
    FactDates,
    FactLookup,
    NamedEntity,
    NameMatch,
    Resolution,
)
from internal.knowledge.entities.types import PERSON, EntityType, EntityTypes, implied_types
from internal.knowledge.model import OWNER_NODE, ProposedEntity, ProposedFact
from internal.language.names.entities import MatchReason
from internal.language.text.spelling import name_key

MAX_ALIASES: Final = 40
"""Most aliases of a node; the earliest stay."""

_PERSON_ID = re.compile(r"Person:(\d+)")
_DIGITS = re.compile(r"\d+")
_CLOSEST: Final[Sequence[MatchReason]] = ("declension", "place", "transliteration", "vector")
_OTHER_NAMES: Final[Collection[MatchReason]] = ("place", "transliteration", "vector")
"""Reasons of similarity that make a name an alias; a declined form does not."""


@dataclass(frozen=True, slots=True)
class ResolveContext:
    """The inputs of resolving a reply: the owner's names and the numbers of the lines in the owner's own words.

    `snapshot_rev` is the owner's revision when the model was called: later changes are not overwritten.
    """

    now: datetime
    owner_name: str
    own_lines: Collection[int]
    owner_username: str | None = None
    run_id: str | None = None
    snapshot_rev: int = 2**62


def resolve(
    connection: Connection,
    user_id: int,
    entities: Sequence[ProposedEntity],
    facts: Sequence[ProposedFact],
    lookup: FactLookup,
    context: ResolveContext,
    types: EntityTypes,
) -> Resolution:
    """Finds or makes the nodes that a reply names; call it after its people were applied.

    Reasons of refusals: ambiguous, unknown_person, being_forgotten, not_own_words, self_fact, and those of the graph's
    registry. A refused entity or fact affects no other.
    """
    resolver = _Resolver(connection, user_id, lookup, context, types)
    for entity in entities:
        resolver.entity(entity)
    for fact, dates in zip(facts, lookup.dates, strict=True):
        resolver.fact(fact, dates)
    return resolver.outcome()


def new_claims(facts: Sequence[DatedFact], lines: Mapping[int, ClaimLine], episode_id: str) -> list[NewClaim]:
    """The claims to record for resolved facts; `lines` are those of the transcript by number, with verbatim words."""
    return [
        NewClaim(
            source=fact.source,
            relation=fact.proposed.relation,
            target=fact.target,
            fact=fact.proposed.fact,
            said_at=fact.dates.said_at,
            valid_at=fact.dates.valid_at,
            valid_stated=fact.dates.valid_stated,
            invalid_at=fact.dates.invalid_at,
            valid_precision=fact.dates.valid_precision,
            invalid_precision=fact.dates.invalid_precision,
            attributes=fact.proposed.attributes,
            episode_id=episode_id,
            lines=[lines[number] for number in fact.proposed.evidence],
        )
        for fact in facts
    ]


@dataclass(slots=True)
class _ReplyNodes:
    """Nodes of this reply by folded name; people and things are separate, because Washington may be both."""

    people: dict[str, Node] = field(default_factory=dict)
    things: dict[str, Node] = field(default_factory=dict)


class _Resolver:
    def __init__(
        self, connection: Connection, user_id: int, lookup: FactLookup, context: ResolveContext, types: EntityTypes
    ) -> None:
        self._connection, self._user_id, self._lookup = connection, user_id, lookup
        self._context, self._types = context, types
        self._found = _ReplyNodes()
        self._labels: dict[str, tuple[str, ...]] = {}
        self._nodes: dict[str, str] = {}
        self._entities: list[NamedEntity] = []
        self._facts: list[DatedFact] = []
        self._created: list[str] = []
        self._changed: dict[str, None] = {}
        self._refused: list[Refusal] = []
        self._own_revs: set[int] = set()

    def outcome(self) -> Resolution:
        changed = [node_id for node_id in self._changed if node_id not in self._created]
        return Resolution(self._nodes, self._entities, self._facts, self._created, changed, self._refused)

    def entity(self, proposed: ProposedEntity) -> None:
        made = len(self._created)
        try:
            # Stored before the lookup, because facts do not carry the types that the entities state.
            self._labels.setdefault(name_key(proposed.name), proposed.labels)
            node = self._node(proposed.name, proposed.labels, proposed)
            self._learn(node, proposed)
        except Refused as refusal:
            self._refused.append(Refusal.of(refusal))
        else:
            self._entities.append(NamedEntity(proposed, node.id, created=len(self._created) > made))

    def fact(self, proposed: ProposedFact, dates: FactDates) -> None:
        implied = implied_types(proposed.relation)
        try:
            source = self._end(proposed.source, proposed, implied[0])
            target = self._end(proposed.target, proposed, implied[1])
            self._check(proposed, source, target)
        except Refused as refusal:
            self._refused.append(Refusal.of(refusal))
        else:
            self._facts.append(DatedFact(proposed, source, target, dates))

    def _check(self, proposed: ProposedFact, source: str, target: str) -> None:
        if source == target:
            raise Refused("self_fact", f"{proposed.source!r} and {proposed.target!r} are one")
        about_owner = store.owner_node_id(self._user_id) in (source, target)
        # The model may have called the owner by a name that was unknown when the evidence was read.
        if about_owner and not set(proposed.evidence) & set(self._context.own_lines):
            raise Refused("not_own_words", "nothing the owner said himself is cited for what it says of him")

    def _end(self, name: str, proposed: ProposedFact, implied: str) -> str:
        """The id of the node that an end means."""
        key = name_key(name)
        stated = proposed.entity_types.get(key)
        labels = (stated,) if stated else self._labels.get(key, ())
        return self._node(name, labels, None, implied).id

    # --- Looking up

    def _node(self, name: str, labels: Sequence[str], proposed: ProposedEntity | None, implied: str = "") -> Node:
        node = self._special(name) or self._called(name, labels, proposed, implied)
        self._nodes[name] = node.id
        return node

    def _special(self, name: str) -> Node | None:
        """The owner, `Person:42` and @username."""
        if name == OWNER_NODE:
            return self._owner()
        if match := _PERSON_ID.fullmatch(name):
            node_id = repository.node_of_person(self._connection, self._user_id, int(match[1]))
            return self._required(node_id, name)
        if name.startswith("@"):
            if name_key(name) == name_key(self._context.owner_username or ""):
                return self._owner()
            node_id = repository.node_of_username(self._connection, self._user_id, name)
            return self._required(node_id, name) if node_id else None
        return None

    def _owner(self) -> Node:
        return store.ensure_owner_node(self._connection, self._user_id, self._context.owner_name, self._context.now)

    def _required(self, node_id: str | None, name: str) -> Node:
        node = store.resolve_node(self._connection, self._user_id, node_id) if node_id else None
        if node is None:
            raise Refused("unknown_person", f"nobody is meant by {name!r}")
        return node

    def _called(self, name: str, labels: Sequence[str], proposed: ProposedEntity | None, implied: str) -> Node:
        """The node of a name; `implied` is the type that the relation suggests: tried first, not required."""
        likely = labels or ((implied,) if implied else ())
        node = self._find(name, self._types.of(likely) if likely else None)
        if node is None and likely and not labels:
            node = self._find(name, None)
        node = node or self._make(name, likely, proposed)
        (self._found.people if node.subtype == "person" else self._found.things)[name_key(name)] = node
        return node

    def _find(self, name: str, wanted: EntityType | None) -> Node | None:
        """The node that a name means, among people or things, or among both with people first if `wanted` is None."""
        key = name_key(name)
        person = wanted is not None and wanted.subtype == "person"
        known = self._found.people.get(key) if person or wanted is None else None
        known = known or (None if person else self._found.things.get(key))
        return known or self._equal(name, wanted) or self._similar(name, wanted)

    def _equal(self, name: str, wanted: EntityType | None) -> Node | None:
        """The node with exactly this name: people first unless a thing is wanted, then the owner, then things."""
        called = store.nodes_called(self._connection, self._user_id, self._spellings(name))
        if wanted is None or wanted.subtype == "person":
            someone = self._one_person(name, [node for node in called if node.subtype == "person"])
            if someone is not None:
                return someone
            if name_key(name) == name_key(self._context.owner_name):
                return self._owner()
        if wanted is not None and wanted.subtype == "person":
            return None
        return self._one_thing(name, [node for node in called if node.subtype != "person"], wanted)

    @staticmethod
    def _spellings(name: str) -> set[str]:
        return {name, name.strip("«»“”„\"' ")}

    def _one_person(self, name: str, called: Sequence[Node]) -> Node | None:
        """The person of this name, those with a profile first. Raises Refused("ambiguous") for several."""
        profiles = repository.with_profile(self._connection, self._user_id, [node.id for node in called])
        likely = [node for node in called if node.id in profiles] or list(called)
        if len(likely) > 1:
            raise Refused("ambiguous", f"{len(likely)} people are called {name!r}")
        return likely[0] if likely else None

    def _one_thing(self, name: str, called: Sequence[Node], wanted: EntityType | None) -> Node | None:
        """The only thing with that name, or the only one among several that has the wanted type."""
        if len(called) > 1 and wanted is not None:
            called = [node for node in called if _same_type(node, wanted)]
        if len(called) > 1:
            raise Refused("ambiguous", f"{len(called)} things are called {name!r}")
        return called[0] if called else None

    def _similar(self, name: str, wanted: EntityType | None) -> Node | None:
        """The one node with a similar name, by the closest kind of similarity that has a match."""
        found: dict[MatchReason, dict[str, Node]] = {}
        for match in self._lookup.matches.get(name, ()):
            for node in self._still_called(match):
                if _compatible(match, name, node, wanted):
                    found.setdefault(match.reason, {})[node.id] = node
        for reason in _CLOSEST:
            nodes = list(found.get(reason, {}).values())
            if len(nodes) > 1 and any(node.subtype == "person" for node in nodes):
                raise Refused("ambiguous", f"{name!r} may mean {len(nodes)} of those who are known")
            if len(nodes) == 1:
                self._learn_name(nodes[0], name, reason)
                return self._fresh(nodes[0])
        return None

    def _still_called(self, match: NameMatch) -> list[Node]:
        """The matched nodes that still have the name: they may have been renamed, merged or forgotten since."""
        if match.node_id is None:
            return store.nodes_called(self._connection, self._user_id, {match.name})
        node = store.resolve_node(self._connection, self._user_id, match.node_id)
        return [node] if node is not None and name_key(match.name) in map(name_key, _names(node)) else []

    def _fresh(self, node: Node) -> Node:
        return store.get_node(self._connection, self._user_id, node.id) or node

    # --- Writing

    def _make(self, name: str, labels: Sequence[str], proposed: ProposedEntity | None) -> Node:
        if repository.being_forgotten(self._connection, self._user_id, {name_key(name)}):
            raise Refused("being_forgotten", f"{name!r} is being forgotten")
        kind = self._types.of(labels)
        aliases = list(proposed.aliases if proposed else ())
        properties: dict[str, Any] = {"aliases": aliases, "attributes": dict(proposed.attributes) if proposed else {}}
        properties["preference" if kind.label == "Preference" else "name"] = name
        if proposed and proposed.summary:
            properties["description"] = proposed.summary
        if kind.label == "Entity":
            properties |= {"type": kind.subtype, "labels": [label for label in labels if label != PERSON]}
        context = self._context
        node = store.add_node(
            self._connection, self._user_id, kind.label, properties, now=context.now, run_id=context.run_id
        )
        self._own_revs.add(node.rev)
        self._created.append(node.id)
        return node

    def _learn(self, node: Node, proposed: ProposedEntity) -> None:
        """Adds names, type and summary of an entity to a node that existed; people change only by their profile."""
        if node.id in self._created or repository.with_profile(self._connection, self._user_id, [node.id]):
            return
        if node.id == store.owner_node_id(self._user_id):
            return
        node = self._fresh(node)
        changes: dict[str, Any] = {"aliases": self._joined_names(node, proposed.aliases)}
        if proposed.summary:
            changes["description"] = proposed.summary
        if proposed.attributes:
            changes["attributes"] = {**node.properties.get("attributes", {}), **proposed.attributes}
        if node.label == "Entity":
            changes |= self._type_changes(node, proposed)
        self._update(node, changes)

    def _type_changes(self, node: Node, proposed: ProposedEntity) -> dict[str, Any]:
        """The type for a node without one; a known type is not changed."""
        known = tuple(node.properties.get("labels", ()))
        kind = self._types.of(proposed.labels)
        if known or not proposed.labels or kind.label != "Entity" or node.subtype not in ("concept", kind.subtype):
            return {}
        return {"type": kind.subtype, "labels": list(proposed.labels)}

    def _learn_name(self, node: Node, name: str, reason: MatchReason) -> None:
        if reason in _OTHER_NAMES and node.subtype != "person":
            self._update(node, {"aliases": self._joined_names(node, (name,))})

    def _joined_names(self, node: Node, names: Sequence[str]) -> list[str]:
        known = [str(alias) for alias in node.properties.get("aliases", ())]
        taken = {name_key(node.name), *map(name_key, known)}
        taken |= repository.rejected_keys(self._connection, self._user_id, node.id)
        for name in names:
            if name_key(name) not in taken:
                taken.add(name_key(name))
                known.append(name)
        return known[:MAX_ALIASES]

    def _update(self, node: Node, changes: Mapping[str, Any]) -> None:
        """Writes new values, except over what the owner set or what changed since the model was called."""
        fresh = {
            name: value
            for name, value in changes.items()
            if node.properties.get(name) != value
            and (value or name not in ("aliases",))
            and self._may_write(node, name)
        }
        if fresh:
            context = self._context
            stored = store.update_node(
                self._connection, self._user_id, node.id, fresh, now=context.now, run_id=context.run_id
            )
            self._own_revs.add(stored.rev)
            self._changed[node.id] = None

    def _may_write(self, node: Node, name: str) -> bool:
        rev = node.field_meta.get(name, {}).get("rev", 0)
        if name == "aliases":  # added to, never replaced
            return True
        return not node.owner_set(name) and (rev <= self._context.snapshot_rev or rev in self._own_revs)


def _names(node: Node) -> tuple[str, ...]:
    return (node.name, *node.properties.get("aliases", ()))


def _same_type(node: Node, wanted: EntityType) -> bool:
    if node.label != "Entity" or wanted.label != "Entity":
        return node.label == wanted.label
    labels = node.properties.get("labels", ())
    return wanted.name in labels if labels else node.subtype == wanted.subtype


def _compatible(match: NameMatch, name: str, node: Node, wanted: EntityType | None) -> bool:
    """Whether a match is enough: a case form for people, a place for places; numbers must be equal."""
    if node.subtype == "person" or (wanted is not None and wanted.subtype == "person"):
        return match.reason == "declension" and node.subtype == "person" and (wanted is None or wanted.name == PERSON)
    if _DIGITS.findall(name) != _DIGITS.findall(match.name):
        return False
    if match.reason == "place":
        kinds = {node.subtype} | ({wanted.subtype} if wanted is not None else set())
        return kinds <= {"place", "concept"} and "place" in kinds
    untyped = node.label == "Entity" and node.subtype == "concept" and not node.properties.get("labels")
    return wanted is None or untyped or _same_type(node, wanted)
