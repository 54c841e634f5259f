"""Between a stored reply and its transaction: when its memories were, and what is known already in other words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection

from internal.agents.archivist.output import ArchivistReply
from internal.agents.archivist.reply.resolve_memories import MemoryDigester, Near, proposed_keys, text_of
from internal.agents.model import Language, TranscriptLine
from internal.memory.model import Likeness, MemoryDigest, RefKey
from internal.memory.observations import known_repository
from internal.memory.observations.known_repository import KnownNode
from internal.storage.database import Database

NEAREST: Final = 8
"""Stored nodes whose own words are compared with a proposed one's."""
LOOKED_AT: Final = 5_000
"""Of each label the newest are compared: 1.5 s in the language process at first, 0.1 s once it knows their words."""


class MemoryDigestion:
    """Reads what is kept, compares it in the language process and the embedder, writes nothing."""

    def __init__(self, database: Database, digester: MemoryDigester) -> None:
        self._database, self._digester = database, digester

    async def digest(
        self, user_id: int, reply: ArchivistReply, transcript: Sequence[TranscriptLine], language: Language
    ) -> MemoryDigest:
        """What `memory.write` takes; `transcript` are the lines the reply was read against."""
        if not reply.memories:
            return MemoryDigest()
        memories = await self._digester.dated(reply.memories, transcript, language)
        told = proposed_keys(memories)
        known = await self._database.read(lambda c: _known(c, user_id, {key.label for key in told}))
        by_label = {label: [(one.node_id, one.words) for one in nodes] for label, nodes in known.items()}
        same = await self._digester.same_in_form(list(told), by_label)
        forms = await self._digester.forms(list(told))
        strange = [key for key in told if key not in same and key not in forms]
        near = await self._near(user_id, {key: text_of(told[key]) for key in strange}, known)
        same |= await self._digester.same_in_meaning(near, user_id)
        related = await self._digester.related(_without(near, same), user_id)
        return MemoryDigest(memories, same, forms, related)

    async def _near(
        self, user_id: int, texts: Mapping[RefKey, str], known: Mapping[str, Sequence[KnownNode]]
    ) -> dict[RefKey, list[Near]]:
        """The stored nodes with the nearest vectors; nothing is asked for where nothing of the label is kept."""
        wanted = {key: text for key, text in texts.items() if known.get(key.label) and self._digester.by_meaning(key)}
        vectors = await self._digester.vectors(wanted, user_id)
        if not vectors:
            return {}
        model = self._digester.model
        found = await self._database.read(
            lambda c: known_repository.nearest_nodes(c, user_id, model, vectors, count=NEAREST)
        )
        words = {one.node_id: one.words for nodes in known.values() for one in nodes}
        return {
            key: [Near(node_id, words[node_id], cosine) for node_id, cosine in nodes if node_id in words]
            for key, nodes in found.items()
        }


def _known(connection: Connection, user_id: int, labels: set[str]) -> dict[str, list[KnownNode]]:
    return {
        label: known_repository.known_nodes(connection, user_id, [label], limit=LOOKED_AT) for label in sorted(labels)
    }


def _without(
    near: Mapping[RefKey, Sequence[Near]], same: Mapping[RefKey, Sequence[Likeness]]
) -> dict[RefKey, list[Near]]:
    """What a node is the same as is not beside it."""
    return {
        key: [one for one in nodes if one.node_id not in {found.node_id for found in same.get(key, ())}]
        for key, nodes in near.items()
    }
