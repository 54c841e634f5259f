"""`/graph/facts` and `/graph/nodes`: facts with their versions and corrections; nodes with their citations."""

from typing import Final, Literal

from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.graph import schemas
from bot.web.graph.read import edge, edges
from bot.web.http.fields import Limit, Offset, UserFilter, UserId, Uuid
from bot.web.http.owners import Owners, owner_of
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter, refusals
from internal.errors import Refused, expect_found
from internal.flows.forgetting import bio_sentences
from internal.flows.forgetting.requests import ForgettingService
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import service as knowledge
from internal.knowledge.model import Fact
from internal.people import repository as people
from internal.scheduling.clock import Clock
from internal.storage.database import Database

_FIELDS = {"wrong_ends": "target_node_uuid", "self_loop": "target_node_uuid"}
"""The fields that a refused correction is about, if its message does not name them."""


Which = Literal["current", "ended", "all"]

_FILTERS: Final[dict[Which, knowledge.FactFilter]] = {
    "current": knowledge.FactFilter(),
    "ended": knowledge.FactFilter(ended=True),
    "all": knowledge.FactFilter(include_invalid=True),
}


class FactsOut(BaseModel):
    """`names` are the names of both ends of each fact, by id; `count` is the number of all facts of this kind."""

    facts: list[schemas.EntityEdge]
    names: dict[str, str]
    count: int


def fact_list_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/graph/facts", tags=["facts"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_facts(user_id: UserId, which: Which = "current", limit: Limit = 100, offset: Offset = 0) -> FactsOut:
        """Facts, newest first: the valid ones, the ended ones, or all with their old versions."""
        await owners.stored(user_id)
        fact_filter, now = _FILTERS[which], clock.now()

        def read(connection: Connection) -> FactsOut:
            found = knowledge.latest_facts(connection, user_id, fact_filter, now=now, limit=limit, offset=offset)
            ends = {end for fact in found for end in (fact.source, fact.target)}
            nodes = store.nodes_by_ids(connection, user_id, sorted(ends))
            return FactsOut(
                facts=edges(connection, user_id, found),
                names={node.id: node.name for node in nodes.values()},
                count=knowledge.count_facts(connection, user_id, fact_filter, now=now),
            )

        return await database.read(read)

    return router


def facts_router(database: Database, clock: Clock, eraser: ForgettingService | None) -> APIRouter:
    router = APIRouter(prefix="/graph/facts/{uuid}", tags=["facts"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def get_fact(uuid: Uuid, user_filter: UserFilter = None) -> schemas.EntityEdge:
        """One version of a fact, with its citations and the lines that support it."""

        def read(connection: Connection) -> schemas.EntityEdge:
            user_id = owner_of(connection, store.owner_of_edge, "fact", uuid, user_filter)
            return edge(connection, user_id, knowledge.fact(connection, user_id, uuid))

        return await database.read(read)

    @router.get("/history", responses=READING)
    async def get_fact_history(uuid: Uuid, user_filter: UserFilter = None) -> schemas.FactHistory:
        """All versions of a fact, oldest first, for the id of any of them."""

        def read(connection: Connection) -> schemas.FactHistory:
            user_id = owner_of(connection, store.owner_of_edge, "fact", uuid, user_filter)
            versions = edges(connection, user_id, knowledge.history(connection, user_id, uuid))
            return schemas.FactHistory(history=versions, count=len(versions))

        return await database.read(read)

    @router.patch("", responses={**WRITING, **refusals(409)})
    async def correct_fact(
        uuid: Uuid, request: schemas.FactUpdateRequest, user_filter: UserFilter = None
    ) -> schemas.FactUpdateResponse:
        """Replaces a fact by a new version; the old one expires and stays in the history. 409 for an expired one."""
        now = clock.now()

        def work(connection: Connection) -> schemas.FactUpdateResponse:
            user_id = owner_of(connection, store.owner_of_edge, "fact", uuid, user_filter)
            old, new = _updated(connection, user_id, uuid, request)
            return schemas.FactUpdateResponse(
                status="updated",
                old_uuid=old.id,
                new_uuid=new.id,
                message=f"fact {old.id} has expired, {new.id} took its place",
                new_edge=edge(connection, user_id, new),
            )

        def _updated(
            connection: Connection, user_id: int, uuid: str, request: schemas.FactUpdateRequest
        ) -> tuple[Fact, Fact]:
            person = (request.audience or "").removeprefix("person:")
            if person.isdecimal() and people.get(connection, user_id, int(person)) is None:
                raise Refused("unknown_person", f"audience: nobody has the id {person}")
            try:
                words = request.fact or knowledge.fact(connection, user_id, uuid).fact
                old, new = knowledge.update_fact(
                    connection,
                    user_id,
                    uuid,
                    words,
                    reason=request.reason,
                    source_id=request.source_node_uuid,
                    target_id=request.target_node_uuid,
                    attributes=request.changed_attributes,
                    now=now,
                )
            except Refused as error:
                field = _FIELDS.get(error.reason)
                raise Refused(error.reason, f"{field}: {error}" if field else str(error)) from None
            if new.fact != old.fact:
                bio_sentences.hide_replaced(connection, old, new, now=now)
            return old, new

        return await database.write(work)

    if eraser is not None:

        @router.delete("", status_code=204, responses={**READING, **refusals(409)})
        async def delete_fact(uuid: Uuid, messages: bool = False, user_filter: UserFilter = None) -> None:
            """Erases a fact for good, with all its versions; `messages`: those that state it too."""
            user_id = await database.read(lambda c: owner_of(c, store.owner_of_edge, "fact", uuid, user_filter))
            await eraser.erase_now(user_id, "fact", uuid, messages=messages)

    return router


def nodes_router(database: Database) -> APIRouter:
    router = APIRouter(prefix="/graph/nodes/{uuid}", tags=["nodes"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def get_entity(uuid: Uuid, user_filter: UserFilter = None) -> schemas.EntityNode:
        """An entity. The id of a merged one answers with the entity it was merged into."""
        return await database.read(lambda connection: schemas.EntityNode.of(_node(connection, uuid, user_filter)))

    @router.get("/citations", responses=READING)
    async def list_citations(uuid: Uuid, user_filter: UserFilter = None) -> schemas.CitationChain:
        """The episodes that created, updated or referenced the node, in the order in which they happened."""

        def read(connection: Connection) -> schemas.CitationChain:
            node = _node(connection, uuid, user_filter)
            return schemas.CitationChain.of(knowledge.citation_chain(connection, node.user_id, node.id))

        return await database.read(read)

    return router


def _node(connection: Connection, uuid: str, user_filter: int | None) -> Node:
    user_id = owner_of(connection, store.owner_of_node, "node", uuid, user_filter)
    return expect_found(store.resolve_node(connection, user_id, uuid), f"there is no node {uuid}")
