"""Resolves a stored reply before its transaction: the meaning of its names, the dates of its facts, its memories."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection

from internal.agents.archivist.output import ArchivistReply
from internal.agents.archivist.reply.memory_matcher import NearNode, proposed_keys, text_of
from internal.agents.archivist.reply.name_matcher import NameMatcher
from internal.agents.model import Language, TranscriptLine
from internal.knowledge.entities import repository as entities
from internal.knowledge.entities.resolved_names import FactLookup
from internal.memory.model import Likeness, MemoryLookup, RefKey
from internal.memory.observations import known_repository
from internal.memory.observations.known_repository import KnownNode
from internal.storage.database import Database

NEAREST: Final = 8
"""The number of stored nodes that a proposed one is compared with word by word."""
COMPARED: Final = 5_000
"""The most nodes of each label compared, the newest: 1.5 s in the language process at first, 0.1 s once cached."""


class ReplyResolver:
    """Compares a reply with stored data, in the language process and by the embedder; writes nothing."""

    def __init__(self, database: Database, names: NameMatcher) -> None:
        self._database, self._names, self._memories = database, names, names.memories

    async def names(
        self, user_id: int, reply: ArchivistReply, transcript: Sequence[TranscriptLine], language: Language
    ) -> FactLookup:
        """Resolves the names and dates of a reply; `transcript` are the lines it was made from."""
        if not reply.entities and not reply.facts and not reply.mentioned:
            return FactLookup()
        known = await self._database.read(lambda c: entities.known_names(c, user_id))
        resolved = await self._names.resolve(reply, transcript, known, language, user_id=user_id)
        if not resolved.vectors:
            return resolved
        nearest = await self._database.read(
            lambda c: entities.nearest_entities(c, user_id, resolved.model, resolved.vectors)
        )
        by_id = {known_name.node_id: known_name for known_name in known if known_name.subtype != "person"}
        near = {name: [by_id[node_id] for node_id in ids if node_id in by_id] for name, ids in nearest.items()}
        return await self._names.confirmed(resolved, near, user_id=user_id)

    async def memories(
        self, user_id: int, reply: ArchivistReply, transcript: Sequence[TranscriptLine], language: Language
    ) -> MemoryLookup:
        """Resolves the times of a reply's memories, and finds the stored memories with the same meaning."""
        if not reply.memories:
            return MemoryLookup()
        memories = await self._memories.dated(reply.memories, transcript, language)
        proposed = proposed_keys(memories)
        known = await self._database.read(lambda c: _known(c, user_id, {key.label for key in proposed}))
        by_label = {label: [(node.node_id, node.words) for node in nodes] for label, nodes in known.items()}
        same = await self._memories.same_in_form(list(proposed), by_label)
        forms = await self._memories.forms(list(proposed))
        strange = [key for key in proposed if key not in same and key not in forms]
        near = await self._near(user_id, {key: text_of(proposed[key]) for key in strange}, known)
        same |= await self._memories.same_in_meaning(near, user_id)
        related = await self._memories.related(_without(near, same), user_id)
        return MemoryLookup(memories, same, forms, related)

    async def _near(
        self, user_id: int, texts: Mapping[RefKey, str], known: Mapping[str, Sequence[KnownNode]]
    ) -> dict[RefKey, list[NearNode]]:
        """The stored nodes with the nearest vectors; nothing is embedded if no node of the label is stored."""
        comparable = {
            key: text for key, text in texts.items() if known.get(key.label) and self._memories.by_meaning(key)
        }
        vectors = await self._memories.vectors(comparable, user_id)
        if not vectors:
            return {}
        model = self._memories.model
        found = await self._database.read(
            lambda c: known_repository.nearest_nodes(c, user_id, model, vectors, count=NEAREST)
        )
        words = {node.node_id: node.words for nodes in known.values() for node in nodes}
        return {
            key: [NearNode(node_id, words[node_id], cosine) for node_id, cosine in nodes if node_id in words]
            for key, nodes in found.items()
        }


def _known(connection: Connection, user_id: int, labels: set[str]) -> dict[str, list[KnownNode]]:
    return {
        label: known_repository.known_nodes(connection, user_id, [label], limit=COMPARED) for label in sorted(labels)
    }


def _without(
    near: Mapping[RefKey, Sequence[NearNode]], same: Mapping[RefKey, Sequence[Likeness]]
) -> dict[RefKey, list[NearNode]]:
    """The near nodes without those that are the same as a proposed one."""
    return {
        key: [node for node in nodes if node.node_id not in {likeness.node_id for likeness in same.get(key, ())}]
        for key, nodes in near.items()
    }
