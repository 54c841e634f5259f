"""`POST /graph/search`: facts, entities, episodes and messages by meaning, words and names, now or in the past."""

from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from bot.web.graph import schemas
from bot.web.graph.read import edges, wire_episodes
from bot.web.http.fields import in_zone
from bot.web.http.owners import Owners, zone_of
from bot.web.http.routers import KEYED, WRITING, APIRouter
from internal.errors import NotFound, Refused
from internal.graph import store
from internal.recall.index.hits import Reasons
from internal.recall.messages.search import MessageSearch
from internal.recall.search.knowledge import KnowledgeSearch
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

Result = schemas.EntityEdge | schemas.EntityNode | schemas.EpisodeOut | schemas.FoundMessageOut
Found = Sequence[tuple[float, Result]]
"""The results of one owner, best first, each with its fit."""


def search_router(database: Database, owners: Owners, search: KnowledgeSearch, messages: MessageSearch) -> APIRouter:
    router = APIRouter(prefix="/graph", tags=["search"], dependencies=KEYED)
    searching = _GraphSearcher(database, search, messages)

    @router.post("/search", responses=WRITING)
    async def search_graph(request: schemas.GraphSearchRequest) -> schemas.GraphSearchResponse:
        """Results, best first. Without dates only what has not ended. Facts come with their citations."""
        groups = await owners.of_groups(request.group_ids)
        found = await searching.search(groups, request)
        message = f"{len(found)} {request.search_type} found"
        return schemas.GraphSearchResponse(
            message=message, search_type=request.search_type, results=found, count=len(found)
        )

    return router


class _GraphSearcher:
    def __init__(self, database: Database, search: KnowledgeSearch, messages: MessageSearch) -> None:
        self._database, self._search, self._messages = database, search, messages

    async def search(self, groups: Sequence[int], request: schemas.GraphSearchRequest) -> list[Result]:
        """The best results of all groups."""
        center = None
        if request.center_node_uuid is not None:
            groups, center = await self._around(groups, request.center_node_uuid)
        found = [await self._of(user_id, request, center) for user_id in groups]
        return _joined(found)[: request.max_results]

    async def _around(self, groups: Sequence[int], uuid: str) -> tuple[Sequence[int], str]:
        """The only group that has the node, and the node: other owners have nothing near it."""

        def read(connection: Connection) -> tuple[Sequence[int], str]:
            owner = store.owner_of_node(connection, uuid)
            node = store.resolve_node(connection, owner, uuid) if owner in groups and owner is not None else None
            if node is None:
                raise NotFound(f"center_node_uuid: there is no node {uuid}")
            return [node.user_id], node.id

        return await self._database.read(read)

    async def _of(self, user_id: int, request: schemas.GraphSearchRequest, center: str | None) -> Found:
        try:
            with acting_for(user_id):
                match request.search_type:
                    case "facts":
                        return await self._find_facts(user_id, request, center)
                    case "nodes":
                        return await self._find_nodes(user_id, request)
                    case "episodes":
                        return await self._find_episodes(user_id, request)
                    case "messages":
                        return await self._find_messages(user_id, request)
        except Refused as error:
            raise (
                Refused(error.reason, f"entity_types: {error}") if error.reason == "unknown_label" else error
            ) from None

    async def _find_facts(self, user_id: int, request: schemas.GraphSearchRequest, center: str | None) -> Found:
        zone = await self._database.read(lambda c: zone_of(c, user_id))
        hits = await self._search.facts(
            user_id,
            request.query,
            request.max_results,
            as_of=_moment("as_of", request.as_of, zone),
            known_at=_moment("known_at", request.known_at, zone),
            include_invalid=request.include_invalid,
            center_node=center,
            entity_types=request.entity_types or (),
        )
        facts = await self._database.read(lambda c: edges(c, user_id, [hit.fact for hit in hits]))
        return [(_fit(hit.reasons), one) for hit, one in zip(hits, facts, strict=True)]

    async def _find_nodes(self, user_id: int, request: schemas.GraphSearchRequest) -> Found:
        types = request.entity_types or ()
        hits = await self._search.nodes(user_id, request.query, request.max_results, entity_types=types)
        return [(_fit(hit.reasons), schemas.EntityNode.of(hit.node)) for hit in hits]

    async def _find_episodes(self, user_id: int, request: schemas.GraphSearchRequest) -> Found:
        hits = await self._search.episodes(user_id, request.query, request.max_results)
        fits = {hit.episode.id: _fit(hit.reasons) for hit in hits}
        episodes = await self._database.read(lambda c: wire_episodes(c, user_id, [hit.episode for hit in hits]))
        return [(fits[one.uuid], one) for one in episodes]

    async def _find_messages(self, user_id: int, request: schemas.GraphSearchRequest) -> Found:
        zone = await self._database.read(lambda c: zone_of(c, user_id))
        query = await self._search.prepare_query(user_id, request.query)
        since, until = _moment("since", request.since, zone), _moment("until", request.until, zone)
        hits = await self._messages.search(user_id, query, request.max_results, since=since, until=until)
        return [(hit.chance, schemas.FoundMessageOut.of(hit)) for hit in hits]


def _fit(reasons: Reasons) -> float:
    """A fit that can be compared between owners: scores compare only within one search."""
    return (reasons.meaning or 0.0) + reasons.words + reasons.name


def _joined(several: Sequence[Found]) -> list[Result]:
    """Merges lists, keeping the order of each: the next result is the best of the lists' first ones."""
    left = [list(found) for found in several if found]
    joined: list[Result] = []
    while left:
        best = max(left, key=lambda found: found[0][0])
        joined.append(best.pop(0)[1])
        left = [found for found in left if found]
    return joined


def _moment(field: str, value: datetime | date | None, zone: ZoneInfo) -> datetime | None:
    try:
        return in_zone(value, zone)
    except ValueError as error:
        raise Refused("bad_moment", f"{field}: {error}") from None
