"""Between a stored reply and the transaction that applies it: what its names may mean and when its facts held."""

from __future__ import annotations

from collections.abc import Sequence

from internal.agents.archivist.output import ArchivistReply
from internal.agents.archivist.reply.resolve_facts import Digester
from internal.agents.model import Language, TranscriptLine
from internal.flows.archivist.resolve_memories import MemoryDigestion
from internal.knowledge.entities import repository as entities
from internal.knowledge.entities.resolved_names import Digest
from internal.memory.model import MemoryDigest
from internal.storage.database import Database


class Digestion:
    """Reads what is known, compares it in the language process and the embedder, writes nothing."""

    def __init__(self, database: Database, digester: Digester) -> None:
        self._database, self._digester = database, digester
        self._remembering = MemoryDigestion(database, digester.memories)

    async def digest(
        self, user_id: int, reply: ArchivistReply, transcript: Sequence[TranscriptLine], language: Language
    ) -> Digest:
        """What `resolution.resolve` takes; `transcript` are the lines the reply was read against."""
        if not reply.entities and not reply.facts and not reply.mentioned:
            return Digest()
        known = await self._database.read(lambda c: entities.known_names(c, user_id))
        digest = await self._digester.digest(reply, transcript, known, language, user_id=user_id)
        if not digest.vectors:
            return digest
        ids = await self._database.read(lambda c: entities.nearest_entities(c, user_id, digest.model, digest.vectors))
        by_id = {one.node_id: one for one in known if one.subtype != "person"}
        near = {name: [by_id[one] for one in found if one in by_id] for name, found in ids.items()}
        return await self._digester.confirmed(digest, near, user_id=user_id)

    async def memories(
        self, user_id: int, reply: ArchivistReply, transcript: Sequence[TranscriptLine], language: Language
    ) -> MemoryDigest:
        """The reply's memories with their times, and what is known already in other words."""
        return await self._remembering.digest(user_id, reply, transcript, language)
