"""`/memory/recall` and `/memory/queries`: memories that answer a question, and the specified example queries.

A recall counts as an access.
"""

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import Query
from sqlalchemy import Connection

from bot.web.http.fields import Limit, UserFilter, UserId
from bot.web.http.owners import Owners, owner_of
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter
from bot.web.memory.schemas import (
    AnsweringOut,
    AnsweringsOut,
    AssociationOut,
    ContradictingOut,
    ContradictingsOut,
    NodeOut,
    NodesOut,
    RecalledMemories,
    RecalledOut,
    RecallRequest,
)
from internal.errors import Refused
from internal.graph import store
from internal.memory import service as memory
from internal.memory.model import MEMORY_LABELS
from internal.memory.plasticity import strength_changes
from internal.memory.plasticity.decay import Plasticity
from internal.memory.queries import examples
from internal.recall.index.hits import NodeHit
from internal.recall.search.knowledge import KnowledgeSearch
from internal.scheduling.clock import Clock
from internal.storage.database import Database

ASSOCIATED: Final = 5
"""The most associations returned with each memory."""

FOUND_BY_NODES: Final = [label for label in MEMORY_LABELS if label != "Entity"]
"""Labels that the search over nodes finds; entities have a search of their own, which knows people and names."""


def recall_memory_router(
    database: Database, clock: Clock, owners: Owners, search: KnowledgeSearch, rates: Plasticity
) -> APIRouter:
    router = APIRouter(prefix="/memory", tags=["memory"], dependencies=KEYED)

    @router.post("/recall", responses=WRITING)
    async def recall_memories(order: RecallRequest) -> RecalledMemories:
        """Memories that belong to a question, best first. Accesses are counted, links among the memories grow stronger.

        Strong neighbours are returned as associations, which is no access. The loser of a contradiction is left out.
        """
        known = await owners.about(order.user_id)
        _refuse_unknown(order.labels)
        if not known:
            return RecalledMemories(memories=[], count=0)
        found = await search.memories(order.user_id, order.query, order.limit, labels=order.labels)
        relevant = [hit for hit in found if hit.reasons.relevant(search.threshold)]

        def use(connection: Connection) -> list[RecalledOut]:
            lost = memory.superseded(connection, order.user_id, [hit.node.id for hit in relevant])
            hits = [hit for hit in relevant if hit.node.id not in lost]
            ids = [hit.node.id for hit in hits]
            strength_changes.touch_used(connection, order.user_id, ids, clock.now(), rates)
            return _recalled(connection, order.user_id, hits, order.min_strength)

        listed = await database.write(use) if relevant else []
        return RecalledMemories(memories=listed, count=len(listed))

    return router


def _refuse_unknown(labels: Sequence[str]) -> None:
    for label in labels:
        if label not in FOUND_BY_NODES:
            raise Refused("unknown_label", f"labels: {label} is none of {', '.join(FOUND_BY_NODES)}")


def _recalled(connection: Connection, user_id: int, hits: Sequence[NodeHit], min_strength: float) -> list[RecalledOut]:
    """The current memories, without those forgotten since they were found."""
    there = store.nodes_by_ids(connection, user_id, [hit.node.id for hit in hits])
    recalled = []
    for hit in hits:
        node = there.get(hit.node.id)
        if node is None:
            continue
        linked = node.label == "Memory"
        near = (
            strength_changes.associations(connection, user_id, node.id, min_strength, limit=ASSOCIATED)
            if linked
            else []
        )
        nodes = store.nodes_by_ids(connection, user_id, [one.node_id for one in near])
        associations = [AssociationOut(node=NodeOut.of(nodes[one.node_id]), strength=one.strength) for one in near]
        recalled.append(RecalledOut(node=NodeOut.of(node), score=hit.score, associations=associations))
    return recalled


Words = Annotated[str, Query(min_length=1, max_length=500)]


def queries_router(database: Database, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/memory/queries", tags=["memory"], dependencies=KEYED)

    @router.get("/by-concept", responses=READING)
    async def by_concept(user_id: UserId, concept: Words, limit: Limit = examples.SPECIFIED) -> NodesOut:
        """Memories that have a concept: those never accessed first, then the last accessed."""
        await owners.stored(user_id)
        found = await database.read(lambda c: examples.by_concept(c, user_id, concept, limit=limit))
        return NodesOut.of(found)

    @router.get("/open-questions", responses=READING)
    async def open_questions(user_id: UserId, limit: Limit = examples.ALL) -> AnsweringsOut:
        """Open questions, each with the memories that might answer it."""
        await owners.stored(user_id)
        found = await database.read(lambda c: examples.open_questions(c, user_id, limit=limit))
        pairs = [AnsweringOut(question=NodeOut.of(q), memory=NodeOut.of(m)) for q, m in found]
        return AnsweringsOut(pairs=pairs, count=len(pairs))

    @router.get("/contradictions", responses=READING)
    async def contradictions(user_id: UserId, limit: Limit = examples.ALL) -> ContradictingsOut:
        """Unresolved contradictions, each with the memories that take part in it."""
        await owners.stored(user_id)
        found = await database.read(lambda c: examples.contradictions(c, user_id, limit=limit))
        pairs = [ContradictingOut(contradiction=NodeOut.of(one), memory=NodeOut.of(m)) for one, m in found]
        return ContradictingsOut(pairs=pairs, count=len(pairs))

    @router.get("/preferences", responses=READING)
    async def preferences(user_id: UserId, category: Words | None = None, limit: Limit = examples.ALL) -> NodesOut:
        """Preferences of a category, or of all, strongest liking first."""
        await owners.stored(user_id)
        return NodesOut.of(await database.read(lambda c: examples.preferences(c, user_id, category, limit=limit)))

    @router.get("/shared-concepts", responses=READING)
    async def shared_concepts(
        memory_id: Annotated[str, Query(max_length=200)],
        user_filter: UserFilter = None,
        limit: Limit = examples.SPECIFIED,
    ) -> NodesOut:
        """Other memories that share a concept with this one."""

        def read(connection: Connection) -> NodesOut:
            user_id = owner_of(connection, store.owner_of_node, "node", memory_id, user_filter)
            return NodesOut.of(examples.shared_concepts(connection, user_id, memory_id, limit=limit))

        return await database.read(read)

    return router
