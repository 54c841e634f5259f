"""Resolves a stored reply before its transaction: what its names may mean, when its facts held, its memories."""

from collections.abc import Sequence

from internal.agents.archivist.output import ArchivistReply
from internal.agents.archivist.reply.resolve_facts import NameResolver
from internal.agents.model import Language, TranscriptLine
from internal.flows.archivist.resolve_memories import MemoryReplyResolver
from internal.knowledge.entities import repository as entities
from internal.knowledge.entities.resolved_names import FactLookup
from internal.memory.model import MemoryLookup
from internal.storage.database import Database


class ReplyResolver:
    """Reads what is known, compares it in the language process and the embedder, writes nothing."""

    def __init__(self, database: Database, names: NameResolver) -> None:
        self._database, self._names = database, names
        self._memories = MemoryReplyResolver(database, names.memories)

    async def names(
        self, user_id: int, reply: ArchivistReply, transcript: Sequence[TranscriptLine], language: Language
    ) -> FactLookup:
        """The names and dates of a reply; `transcript` are the lines it was read against."""
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
        """The reply's memories with their times, and what is known already in other words."""
        return await self._memories.resolve(user_id, reply, transcript, language)
