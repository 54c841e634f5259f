"""`/graph/beginnings`, `/graph/around/{id}` and the facts about a node: browsing all data of an owner."""

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.graph.read import edges
from bot.web.graph.schemas import EntityEdge
from bot.web.http.fields import Limit, Moment, NodeId, Offset, Out, UserFilter, UserId, Uuid, in_zone
from bot.web.http.owners import Owners, owner_of, zone_of
from bot.web.http.routers import KEYED, READING, APIRouter
from internal.errors import NotFound, Refused
from internal.flows.reflections.communities import communities
from internal.flows.views import graph
from internal.flows.views.graph import KINDS, Kind
from internal.graph import store
from internal.knowledge import service as knowledge
from internal.knowledge.model import FactFilter
from internal.scheduling.clock import Clock
from internal.storage.database import Database


class SeenNodeOut(Out):
    """A node of any label. `type` is an entity's (person, place, ...); `owner`: the node is the owner himself."""

    id: str
    label: str
    kind: Kind
    name: str
    type: str | None
    text: str
    at: datetime | None
    person_id: int | None
    owner: bool


class SeenEdgeOut(Out):
    """An edge; `name` is the relation of a fact and `text` its sentence, or for IN_CIRCLE (owner to person) the circle.

    The ids of derived edges work in no other call.
    """

    id: str
    type: str
    kind: Kind
    source: str
    target: str
    name: str
    text: str
    valid_at: datetime | None
    invalid_at: datetime | None
    valid_at_precision: str | None
    invalid_at_precision: str | None
    strength: float | None


class SurroundingsOut(Out):
    """A node, its neighbours, and the edges among them; `count` is the number of all its edges."""

    node: SeenNodeOut
    nodes: list[SeenNodeOut]
    edges: list[SeenEdgeOut]
    count: int


class BeginningsOut(BaseModel):
    nodes: list[SeenNodeOut]


class CommunityOut(Out):
    """`circle` is the circle of most of its people, `name` the member with most ties; `members` are ids of nodes."""

    id: str
    circle: str | None
    name: str
    members: list[str]


class CommunitiesOut(BaseModel):
    communities: list[CommunityOut]


class FactsAtOut(BaseModel):
    """`count` is the number of all facts about the node."""

    facts: list[EntityEdge]
    count: int


def exploring_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/graph", tags=["graph"], dependencies=KEYED)

    @router.get("/beginnings", responses=READING)
    async def list_starting_nodes(user_id: UserId, limit: Annotated[int, Query(ge=1, le=100)] = 12) -> BeginningsOut:
        """Nodes to start exploring from: the owner himself, then the nodes with the most edges."""
        await owners.stored(user_id)
        found = await database.read(lambda c: graph.starting_points(c, user_id, limit=limit))
        return BeginningsOut(nodes=[SeenNodeOut.of(one) for one in found])

    @router.get("/communities", responses=READING)
    async def list_communities(user_id: UserId) -> CommunitiesOut:
        """Groups of people and things that are mentioned together, found each night, largest first."""
        await owners.stored(user_id)
        found = await database.read(lambda c: communities(c, user_id))
        return CommunitiesOut(communities=[CommunityOut.of(one) for one in found])

    @router.get("/around/{uuid}", responses=READING)
    async def list_neighbours(
        uuid: Uuid,
        user_id: UserId,
        kind: Annotated[list[Kind], Query(max_length=3)] = list(KINDS),  # noqa: B006 - FastAPI copies it
        as_of: Annotated[Moment | None, Query(description="As it was then.")] = None,
        beside: Annotated[list[NodeId], Query(max_length=300, description="Nodes that are shown already.")] = [],  # noqa: B006 - as above
        limit: Annotated[int, Query(ge=1, le=200)] = 40,
    ) -> SurroundingsOut:
        """The neighbours of a node of any label: an entity, a memory, a session, an event, a day."""
        await owners.stored(user_id)

        def read(connection: Connection) -> SurroundingsOut:
            filters = graph.GraphFilter(kind, _moment(connection, user_id, as_of), limit, beside)
            return SurroundingsOut.of(graph.neighbourhood(connection, user_id, uuid, filters, now=clock.now()))

        return await database.read(read)

    @router.get("/nodes/{uuid}/facts", responses=READING)
    async def list_facts_about_node(
        uuid: Uuid,
        user_filter: UserFilter = None,
        include_invalid: bool = False,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> FactsAtOut:
        """The facts about a node with their citations, ordered by when they began to be valid."""

        def read(connection: Connection) -> FactsAtOut:
            user_id = owner_of(connection, store.owner_of_node, "node", uuid, user_filter)
            node, now = store.resolve_node(connection, user_id, uuid), clock.now()
            if node is None:
                raise NotFound(f"there is no node {uuid}")
            fact_filter = FactFilter(node_id=node.id, include_invalid=include_invalid)
            rows = knowledge.facts_about(connection, user_id, fact_filter, now=now, limit=limit, offset=offset)
            count = knowledge.count_facts(connection, user_id, fact_filter, now=now)
            return FactsAtOut(facts=edges(connection, user_id, rows), count=count)

        return await database.read(read)

    return router


def _moment(connection: Connection, user_id: int, value: Moment | None) -> datetime | None:
    try:
        return in_zone(value, zone_of(connection, user_id))
    except ValueError as error:
        raise Refused("bad_moment", f"as_of: {error}") from None
