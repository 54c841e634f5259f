"""`POST /graph/query`: a reading Cypher statement over the mirror of one owner's graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from bot.web.http.fields import LARGEST_ID, RequestBody
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, WRITING, APIRouter
from internal.graph.mirror.projection import Rows

QUERY_PATH = "/graph/query"
REBUILD_PATH = "/admin/mirror/rebuild"

MOST_PARAMETERS = 100

Rebuilt = Sequence[tuple[int, int]]
"""Owners whose mirror was rebuilt, each with its number of nodes and edges."""

Rebuild = Callable[[int | None], Awaitable[Rebuilt]]
"""Rebuilds the mirror of one owner, or (None) of everybody. Raises NotFound and MirrorUnavailable."""

Statement = Annotated[str, StringConstraints(min_length=1, max_length=20_000, pattern=r"^[^\x00]*$")]
Id = Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)]


class AsksMirror(Protocol):
    async def __call__(self, user_id: int, cypher: str, params: Mapping[str, Any]) -> Rows:
        """Runs a statement. Raises Refused for an invalid one, MirrorUnavailable while there is no mirror."""


@dataclass(frozen=True, slots=True)
class Cypher:
    """The port of the mirror."""

    ask: AsksMirror
    rebuild: Rebuild


class CypherRequest(RequestBody):
    """A reading statement. `params` are its `$names`; without `user_id` the sole user's graph is read."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "MATCH (g:Goal {status: $status}) RETURN g", "params": {}}]}
    )

    query: Statement
    params: dict[str, JsonValue] = Field(default_factory=dict, max_length=MOST_PARAMETERS)
    user_id: Id | None = Field(None, description="Whose graph.")


class CypherAnswer(BaseModel):
    """`columns` in the order of the statement; a row has a value for each, nodes as `{id, label, properties}`."""

    columns: list[str]
    rows: list[dict[str, Any]]

    @classmethod
    def of(cls, found: Rows) -> CypherAnswer:
        return cls(columns=list(found.columns), rows=[dict(row) for row in found.rows])


class RebuildOrder(RequestBody):
    user_id: Id | None = None


def cypher_router(owners: Owners, cypher: Cypher) -> APIRouter:
    router = APIRouter(tags=["graph"], dependencies=KEYED)

    @router.post(QUERY_PATH, responses=WRITING)
    async def query_graph(request: CypherRequest) -> CypherAnswer:
        """Rows of a Cypher statement over one owner's graph: knowledge, memories and chronicle.

        Only reading is possible, for `graph.query_timeout` and up to `graph.query_rows` rows. Everything written before
        the call is visible.
        """
        user_id = request.user_id
        if user_id is None:
            user_id = await owners.of_group(None, field="user_id")
        if not await owners.about(user_id):
            return CypherAnswer(columns=[], rows=[])
        return CypherAnswer.of(await cypher.ask(user_id, request.query, request.params))

    @router.post(REBUILD_PATH, include_in_schema=False)
    async def rebuild_mirror(order: RebuildOrder) -> list[tuple[int, int]]:
        return list(await cypher.rebuild(order.user_id))

    return router
