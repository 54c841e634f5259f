"""`/memory/queries`: the five example queries of the memory-graph specification."""

from typing import Annotated

from fastapi import Query
from sqlalchemy import Connection

from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import Limit, UserFilter, UserId
from bot.web.http.owners import Owners, owner_of
from bot.web.http.routers import APIRouter
from bot.web.memory.schemas import AnsweringOut, AnsweringsOut, ContradictingOut, ContradictingsOut, NodeOut, NodesOut
from internal.graph import store
from internal.memory.queries import examples
from internal.storage.database import Database

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
