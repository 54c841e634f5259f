"""`/memory`: nodes and edges of the memory graph, stored and corrected by their owner."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Query
from sqlalchemy import Connection

from bot.web.http.fields import Limit, Offset, UserFilter, UserId, Uuid
from bot.web.http.owners import Owners, owner_of, zone_of
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter, join, refusals
from bot.web.memory import schemas
from bot.web.memory.plasticity import Maintain, memory_strength_router, plasticity_router
from bot.web.memory.recall import queries_router, recall_memory_router
from internal.errors import NotFound, Refused, expect_found
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.merging import entities
from internal.graph import store
from internal.graph.model import Edge, EdgeFilter, Node, NodeFilter
from internal.graph.relationships import FACT, RELATIONSHIPS
from internal.knowledge import fact_repository
from internal.memory import linked_node, service as memory
from internal.memory.model import MEMORY_LABELS
from internal.memory.plasticity import strength_changes
from internal.memory.plasticity.decay import PRESETS, Plasticity
from internal.recall.search.knowledge import KnowledgeSearch
from internal.scheduling.clock import Clock
from internal.storage.database import Database

EraseNode = Callable[[Node], Awaitable[None]]
"""Erases a node with every trace of it. Raises NotFound, Refused for the owner's own entity."""

_WRITTEN: Final = sorted({one.name for one in RELATIONSHIPS.values() if not one.derived} - {FACT})
"""The relationships that may be written to the memory graph."""


@dataclass(frozen=True, slots=True)
class MemoryPorts:
    """The ports of the memory graph; without a search there is no recall."""

    erase: EraseNode
    maintain: Maintain
    search: KnowledgeSearch | None = None
    rates: Plasticity = PRESETS["default"]


def memory_eraser(eraser: ForgettingService) -> EraseNode:
    """Returns a function that erases entities with their facts, people with their profiles, other nodes alone."""

    async def erase(node: Node) -> None:
        await eraser.erase_now(node.user_id, "entity" if node.label == "Entity" else "memory", node.id)

    return erase


def memory_router(database: Database, clock: Clock, owners: Owners, given: MemoryPorts) -> APIRouter:
    router = APIRouter()
    join(
        router,
        _nodes_router(database, clock, owners, given.erase),
        _merging_router(database, clock),
        _neighbours_router(database, clock),
        _edges_router(database, clock, owners),
        queries_router(database, owners),
        plasticity_router(database, clock, owners, given.maintain),
        memory_strength_router(database, clock, owners, given.rates),
    )
    if given.search is not None:
        join(router, recall_memory_router(database, clock, owners, given.search, given.rates))
    return router


def _nodes_router(database: Database, clock: Clock, owners: Owners, erase: EraseNode) -> APIRouter:
    router = APIRouter(prefix="/memory/nodes", tags=["memory"], dependencies=KEYED)

    @router.post("", status_code=201, responses=WRITING)
    async def add_node(request: schemas.NodeCreateRequest) -> schemas.NodeOut:
        """Adds a node as its owner states it, with links to other nodes.

        A link's `to` is an id, or a label with properties: then the node of that name, else a new one.
        """
        await owners.about(request.user_id)
        now = clock.now()

        def work(connection: Connection) -> Node:
            owners.expect(connection, request.user_id, now)
            zone = zone_of(connection, request.user_id)
            return linked_node.store_node(connection, request.user_id, request.statement(), now=now, zone=zone)

        return schemas.NodeOut.of(await database.write(work))

    @router.get("", responses=READING)
    async def list_nodes(
        user_id: UserId,
        label: Annotated[str | None, Query(max_length=100)] = None,
        status: Annotated[str | None, Query(max_length=100)] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> schemas.NodesOut:
        """Nodes in the order in which they were stored, of one label or of all 13."""
        await owners.stored(user_id)
        wanted = NodeFilter(labels=(_label(label),) if label is not None else MEMORY_LABELS, status=status)

        def read(connection: Connection) -> schemas.NodesOut:
            found = store.nodes(connection, user_id, wanted, limit=limit, offset=offset)
            return schemas.NodesOut.of(found, store.count_nodes(connection, user_id, wanted))

        return await database.read(read)

    @router.get("/{uuid}", responses=READING)
    async def get_node(uuid: Uuid, user_filter: UserFilter = None) -> schemas.NodeOut:
        """A node. The id of a merged entity answers with the one it was merged into."""
        return schemas.NodeOut.of(await database.read(lambda c: _node(c, uuid, user_filter)))

    @router.patch("/{uuid}", responses=WRITING)
    async def change_node(
        uuid: Uuid, request: schemas.NodeChangeRequest, user_filter: UserFilter = None
    ) -> schemas.NodeOut:
        """Changes a node by the owner's own statement, which no model overrides."""

        def work(connection: Connection) -> Node:
            known = _node(connection, uuid, user_filter, request.user_id)
            _refuse_person(connection, known)
            zone = zone_of(connection, known.user_id)
            return memory.change_node(
                connection, known.user_id, known.id, request.properties, now=clock.now(), zone=zone
            )

        return schemas.NodeOut.of(await database.write(work))

    @router.delete("/{uuid}", status_code=204, responses={**READING, **refusals(409)})
    async def delete_node(uuid: Uuid, user_filter: UserFilter = None) -> None:
        """Erases a node for good, with its edges, its evidence and its search items."""
        known = await database.read(lambda c: _node(c, uuid, user_filter))
        await erase(known)

    return router


def _merging_router(database: Database, clock: Clock) -> APIRouter:
    router = APIRouter(prefix="/memory/nodes/{uuid}", tags=["memory"], dependencies=KEYED)

    @router.post("/merge", responses=WRITING)
    async def merge_nodes(uuid: Uuid, order: schemas.NodeMergeOrder, user_filter: UserFilter = None) -> schemas.NodeOut:
        """Merges the node into another of its label, which is the answer. Its id and its names lead there from now on.

        People are merged as profiles: `POST /people/merge`.
        """

        def work(connection: Connection) -> Node:
            source, target = _node(connection, uuid, user_filter), _node(connection, order.target_id, user_filter)
            if source.user_id != target.user_id:
                raise NotFound(f"target_id: there is no node {order.target_id}")
            try:
                return entities.merge(connection, source.user_id, uuid, target.id, now=clock.now())
            except Refused as error:
                raise Refused(error.reason, f"target_id: {error}") from None

        return schemas.NodeOut.of(await database.write(work))

    @router.post("/split", responses={**READING, **refusals(404)})
    async def split_node(uuid: Uuid, user_filter: UserFilter = None) -> schemas.NodeSplitOut:
        """Undoes the merge that made this node part of another, else the last merge into it."""

        def work(connection: Connection) -> tuple[Node | None, Node | None]:
            user_id = owner_of(connection, store.owner_of_node, "node", uuid, user_filter)
            return entities.split(connection, user_id, uuid, now=clock.now())

        source, target = await database.write(work)
        return schemas.NodeSplitOut(
            source=source and schemas.NodeOut.of(source), target=target and schemas.NodeOut.of(target)
        )

    return router


def _neighbours_router(database: Database, clock: Clock) -> APIRouter:
    router = APIRouter(prefix="/memory/nodes/{uuid}", tags=["memory"], dependencies=KEYED)

    @router.get("/associations", responses=READING)
    async def list_associations(
        uuid: Uuid,
        user_filter: UserFilter = None,
        min_strength: Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)] = 0.0,
        limit: Limit = 100,
    ) -> schemas.AssociationsOut:
        """The memories linked by RELATES_TO, strongest first."""

        def read(connection: Connection) -> schemas.AssociationsOut:
            user_id = owner_of(connection, store.owner_of_node, "node", uuid, user_filter)
            found = strength_changes.associations(connection, user_id, uuid, min_strength, limit=limit)
            nodes = store.nodes_by_ids(connection, user_id, [one.node_id for one in found])
            listed = [
                schemas.AssociationOut(node=schemas.NodeOut.of(nodes[one.node_id]), strength=one.strength)
                for one in found
            ]
            return schemas.AssociationsOut(associations=listed, count=len(listed))

        return await database.read(read)

    @router.get("/edges", responses=READING)
    async def list_edges(
        uuid: Uuid, user_filter: UserFilter = None, limit: Limit = 100, offset: Offset = 0
    ) -> schemas.EdgesOut:
        """The node's edges in both directions, in the order in which they were stored."""

        def read(connection: Connection) -> schemas.EdgesOut:
            node, now = _node(connection, uuid, user_filter), clock.now()
            wanted = EdgeFilter(types=_WRITTEN)
            return schemas.edges_out(
                store.edges_of(connection, node.user_id, node.id, wanted, now=now, limit=limit, offset=offset)
            )

        return await database.read(read)

    return router


def _edges_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/memory/edges", tags=["memory"], dependencies=KEYED)

    @router.post("", status_code=201, responses=WRITING)
    async def add_edge(request: schemas.EdgeCreateRequest) -> schemas.EdgeOut:
        """Adds an edge as its owner states it. The same ends and type mean the same edge, with these properties."""
        await owners.about(request.user_id)

        def work(connection: Connection) -> Edge:
            for field, node_id in (("source_id", request.source_id), ("target_id", request.target_id)):
                if store.resolve_node(connection, request.user_id, node_id) is None:
                    raise NotFound(f"{field}: there is no node {node_id}")
            ends = (request.type, request.source_id, request.target_id)
            zone = zone_of(connection, request.user_id)
            return memory.put_edge(connection, request.user_id, *ends, request.properties, now=clock.now(), zone=zone)

        return schemas.EdgeOut.of(await database.write(work))

    @router.get("/{uuid}", responses=READING)
    async def get_edge(uuid: Uuid, user_filter: UserFilter = None) -> schemas.EdgeOut:
        return schemas.EdgeOut.of(await database.read(lambda c: _edge(c, uuid, user_filter)))

    @router.delete("/{uuid}", status_code=204, responses=READING)
    async def delete_edge(uuid: Uuid, user_filter: UserFilter = None) -> None:
        """Deletes an edge. Both ends stay."""

        def work(connection: Connection) -> None:
            edge = _edge(connection, uuid, user_filter)
            memory.remove_edge(connection, edge.user_id, edge.id, now=clock.now())

        await database.write(work)

    return router


def _label(label: str) -> str:
    if label not in MEMORY_LABELS:
        raise Refused("unknown_label", f"label: {label} is none of {', '.join(MEMORY_LABELS)}")
    return label


def _node(connection: Connection, uuid: str, *user_filter: int | None) -> Node:
    """The node that an id currently leads to. Raises NotFound, also for another owner's."""
    for user_id in user_filter:
        owner_of(connection, store.owner_of_node, "node", uuid, user_id)
    user_id = owner_of(connection, store.owner_of_node, "node", uuid, None)
    return expect_found(store.resolve_node(connection, user_id, uuid), f"there is no node {uuid}")


def _refuse_person(connection: Connection, node: Node) -> None:
    """Refuses the entity of a person: a profile is edited as a whole, and the name, aliases and bio follow it."""
    person_id = fact_repository.person_of(connection, node.user_id, node.id) if node.label == "Entity" else None
    if person_id is not None:
        raise Refused("person", f"id: {node.id} is a person; PATCH /people/{person_id} changes the profile")


def _edge(connection: Connection, uuid: str, user_filter: int | None) -> Edge:
    user_id = owner_of(connection, store.owner_of_edge, "edge", uuid, user_filter)
    edge = store.get_edge(connection, user_id, uuid)
    if edge is None or edge.type == FACT:
        raise NotFound(f"there is no edge {uuid}")
    return edge
