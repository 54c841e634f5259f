"""`/graph`: the calls of the knowledge graph, joined from its parts."""

from dataclasses import dataclass

from sqlalchemy import Connection

from bot.web.graph.episodes import EpisodeIntake, episodes_router
from bot.web.graph.facts import fact_list_router, facts_router, nodes_router
from bot.web.graph.schemas import GraphStatus
from bot.web.graph.search import search_router
from bot.web.http.fields import GroupQuery
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, APIRouter, join
from internal.access import repository as users
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.views.status import read_status
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.overview import PeopleFinder
from internal.recall.search.knowledge import KnowledgeSearch
from internal.scheduling.clock import Clock
from internal.storage.database import Database


@dataclass(frozen=True, slots=True)
class Graph:
    """The ports of the graph."""

    search: KnowledgeSearch
    finder: PeopleFinder
    intake: EpisodeIntake
    messages: MessageSearch


def graph_router(
    database: Database, clock: Clock, owners: Owners, graph: Graph, eraser: ForgettingService | None
) -> APIRouter:
    router = APIRouter()
    join(
        router,
        _status_router(database, clock, owners),
        episodes_router(database, clock, owners, graph.intake),
        search_router(database, owners, graph.search, graph.messages),
        fact_list_router(database, clock, owners),
        facts_router(database, clock, eraser),
        nodes_router(database),
    )
    return router


def _status_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/graph", tags=["graph"], dependencies=KEYED)

    @router.get("/status", responses=READING)
    async def get_status(group_id: GroupQuery = None) -> GraphStatus:
        """The size of the graph, and how many episodes the agents still have to read."""
        user_id = await owners.of_group(group_id)
        return await database.read(lambda connection: _status(connection, user_id))

    def _status(connection: Connection, user_id: int) -> GraphStatus:
        now = clock.now()
        stored = read_status(connection, user_id, now) if users.find(connection, user_id) is not None else None
        waiting = stored.waiting if stored is not None else 0
        return GraphStatus(
            status="ok",
            message=f"{waiting} runs of agents are waiting" if waiting else "everything has been read",
            group_id=str(user_id),
            episodes=episodes.count(connection, user_id),
            facts=knowledge.count_facts(connection, user_id, knowledge.FactFilter(), now=now),
            people=stored.people if stored is not None else 0,
            waiting=waiting,
            dead=stored.dead if stored is not None else 0,
        )

    return router
