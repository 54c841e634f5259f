"""Keyed hashes of forgotten facts and things, so that lines said before do not bring them back."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from internal.errors import Refusal
from internal.graph import registry, store
from internal.graph.store import owner_node_id
from internal.knowledge.entities.resolved_names import DatedFact, NamedEntity, Resolution
from internal.knowledge.model import Fact
from internal.knowledge.relations import relation_name
from internal.language.text.spelling import name_key
from internal.memory.model import MemoryLookup, NodeRef, ProposedMemory
from internal.storage.forgetting import tombstone_repository

_OWNER = "owner"


def mark_facts_forgotten(connection: Connection, user_id: int, facts: Sequence[Fact], key: bytes, at: datetime) -> None:
    """Keeps lines up to `at` from bringing these facts back, in whatever words."""
    marks = {
        mark
        for fact in facts
        for mark in _fact_marks(
            key, user_id, _keys(connection, user_id, fact.source), fact.name, _keys(connection, user_id, fact.target)
        )
    }
    tombstone_repository.mark_forgotten(connection, user_id, marks, at)


def mark_entity_forgotten(connection: Connection, user_id: int, names: Iterable[str], key: bytes, at: datetime) -> None:
    """Keeps lines up to `at` from bringing back a thing with one of these names."""
    tombstone_repository.mark_forgotten(
        connection, user_id, _entity_marks(key, user_id, {name_key(name) for name in names}), at
    )


def without_forgotten(
    connection: Connection, user_id: int, resolved: Resolution, said_at: Mapping[int, datetime], key: bytes
) -> Resolution:
    """The names and statements of a reply, without those forgotten after its lines were said, which are refused.

    `said_at` are the times of its lines by number. Things that were created only for these are deleted again.
    """
    if not tombstone_repository.any_forgotten(connection, user_id):
        return resolved
    sieve = _Sieve(connection, user_id, key, said_at)
    facts = [fact for fact in resolved.facts if not sieve.holds_fact(fact)]
    entities = [one for one in resolved.entities if not sieve.holds_entity(one)]
    kept = {one.node_id for one in entities} | {end for fact in facts for end in (fact.source, fact.target)}
    for node_id in resolved.created:
        if node_id not in kept:
            store.delete_node(connection, user_id, node_id)
    return replace(
        resolved,
        nodes={name: node_id for name, node_id in resolved.nodes.items() if sieve.is_there(node_id)},
        facts=facts,
        entities=entities,
        created=[node_id for node_id in resolved.created if node_id in kept],
        refused=[*resolved.refused, *sieve.refused],
    )


def mark_memories_forgotten(
    connection: Connection, user_id: int, memories: Iterable[tuple[str, str]], key: bytes, at: datetime
) -> None:
    """Keeps lines up to `at` from bringing back nodes of memory, given by label and identifying words."""
    tombstone_repository.mark_forgotten(connection, user_id, {_memory_mark(key, user_id, *one) for one in memories}, at)


def without_forgotten_memories(
    connection: Connection, user_id: int, lookup: MemoryLookup, said_at: Mapping[int, datetime], key: bytes
) -> tuple[MemoryLookup, list[Refusal]]:
    """A reply's memories without those forgotten after their lines were said, and the refused ones.

    A memory that mentions a forgotten thing or person is refused; a link to something forgotten is left out and the
    rest stays.
    """
    if not tombstone_repository.any_forgotten(connection, user_id):
        return lookup, []
    sieve = _Sieve(connection, user_id, key, said_at)
    kept: list[ProposedMemory] = []
    for memory in lookup.memories:
        links = tuple(link for link in memory.links if not sieve.holds_node(link.other, memory))
        if sieve.holds_memory(memory):
            others = (link.other for link in links if link.other.label != "Entity" and link.other.node_id is None)
            kept += [ProposedMemory(other, (), memory.evidence) for other in others]
        else:
            kept.append(replace(memory, links=links))
    return replace(lookup, memories=kept), sieve.refused


class _Sieve:
    def __init__(self, connection: Connection, user_id: int, key: bytes, said_at: Mapping[int, datetime]) -> None:
        self._connection, self._user_id, self._key, self._said_at = connection, user_id, key, said_at
        self.refused: list[Refusal] = []

    def holds_fact(self, fact: DatedFact) -> bool:
        source, target = (_keys(self._connection, self._user_id, end) for end in (fact.source, fact.target))
        marks = _fact_marks(self._key, self._user_id, source, relation_name(fact.proposed.relation), target)
        marks |= _entity_marks(self._key, self._user_id, (source | target) - {_OWNER})
        return self._forgotten(marks, fact.dates.said_at)

    def holds_entity(self, entity: NamedEntity) -> bool:
        names = _keys(self._connection, self._user_id, entity.node_id) - {_OWNER}
        times = [self._said_at[number] for number in entity.proposed.evidence or self._said_at]
        return self._forgotten(_entity_marks(self._key, self._user_id, names), max(times))

    def holds_memory(self, memory: ProposedMemory) -> bool:
        mentioned = [link.other for link in memory.links if link.type == "MENTIONS"]
        return any(self.holds_node(ref, memory) for ref in (memory.node, *mentioned))

    def holds_node(self, ref: NodeRef, memory: ProposedMemory) -> bool:
        times = [self._said_at[number] for number in memory.evidence if number in self._said_at]
        if ref.node_id is not None or not times:
            return False
        words = ref.key.words
        if ref.label == "Entity":
            return self._forgotten(_entity_marks(self._key, self._user_id, {name_key(words)} - {_OWNER}), max(times))
        return self._forgotten({_memory_mark(self._key, self._user_id, ref.label, words)}, max(times))

    def is_there(self, node_id: str) -> bool:
        return store.get_node(self._connection, self._user_id, node_id) is not None

    def _forgotten(self, marks: Collection[str], said_at: datetime) -> bool:
        forgotten = tombstone_repository.forgotten_at(self._connection, self._user_id, marks)
        if forgotten is None or said_at > forgotten:
            return False
        self.refused.append(Refusal("forgotten", "the owner had this forgotten after it was said"))
        return True


def _keys(connection: Connection, user_id: int, node_id: str) -> set[str]:
    """The folded names of a node."""
    if node_id == owner_node_id(user_id):
        return {_OWNER}
    node = store.get_node(connection, user_id, node_id, hidden=True)
    names = () if node is None else (node.name, *node.properties.get("aliases", ()))
    return {name_key(name) for name in names} - {""}


def _fact_marks(key: bytes, user_id: int, sources: set[str], relation: str, targets: set[str]) -> set[str]:
    pairs = ((source, target) for source in sources for target in targets)
    return {_hmac(key, user_id, "fact", source, relation, target) for source, target in pairs}


def _entity_marks(key: bytes, user_id: int, names: Iterable[str]) -> set[str]:
    return {_hmac(key, user_id, "entity", name) for name in names if name}


def _memory_mark(key: bytes, user_id: int, label: str, words: str) -> str:
    return _hmac(key, user_id, "memory", label, registry.key_of(label, words))


def _hmac(key: bytes, user_id: int, *parts: str) -> str:
    return tombstone_repository.hashed(key, "\x1f".join((str(user_id), *parts)))
