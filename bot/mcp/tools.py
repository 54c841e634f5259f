"""The tools that are offered over MCP: REST's calls under REST's names, in one table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field

from bot.web.client import CallFailed, Rest
from bot.web.graph.cypher import QUERY_PATH, CypherAnswer, CypherRequest
from bot.web.graph.schemas import (
    CitationChain,
    EpisodeCreateRequest,
    EpisodeCreateResponse,
    EpisodesOut,
    FactUpdateRequest,
    FactUpdateResponse,
    GraphSearchRequest,
    GraphSearchResponse,
    GraphStatus,
)
from bot.web.http.fields import LARGEST_ID, GroupId, Moment, NodeId, Owner, Properties, Statement
from bot.web.http.schemas import Request
from bot.web.memory.schemas import (
    LinkChange,
    MaintenanceOrder,
    MaintenanceOut,
    NodeLink,
    NodeOut,
    RecalledMemories,
    RecallRequest,
    StrengthOut,
)
from bot.web.people.schemas import FoundPeople

Answer = Mapping[str, Any]
Most = Annotated[int, Field(ge=1, le=100)]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `takes` and `gives` are its arguments and its structured answer; `call` raises CallFailed.

    `repeatable`: the same call again changes nothing more.
    """

    name: str
    takes: type[Request]
    gives: type[BaseModel]
    call: Callable[[Rest, Any], Awaitable[Answer]]
    about: str
    changes: Literal["nothing", "adds", "replaces"] = "nothing"
    repeatable: bool = True


class NodeSearch(Request):
    query: Statement
    max_results: Most = 10
    group_ids: list[GroupId] | None = Field(None, max_length=50)
    entity_types: list[NodeId] | None = Field(None, max_length=50)


class FactSearch(NodeSearch):
    center_node_uuid: NodeId | None = None
    as_of: Moment | None = Field(None, description="What held then.")
    known_at: Moment | None = Field(None, description="What we knew then.")
    include_invalid: bool = False


class MessageSearch(Request):
    query: Statement
    max_results: Most = 10
    group_ids: list[GroupId] | None = Field(None, max_length=50)
    since: Moment | None = Field(None, description="Said then or later.")
    until: Moment | None = Field(None, description="Said before.")


class EpisodeListing(Request):
    group_id: GroupId | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 10
    offset: Annotated[int, Field(ge=0, le=LARGEST_ID)] = 0


class ById(Request):
    uuid: NodeId
    user_id: Owner | None = None


class FactUpdate(FactUpdateRequest, ById):
    pass


class PeopleSearch(Request):
    query: Statement
    user_id: Owner | None = Field(None, description="Whose people; absent: the sole user's.")
    limit: Most = 10


class StatusRequest(Request):
    group_id: GroupId | None = None


class MemoryToStore(Request):
    """`links` lead from the new node to others, by id or by label and properties; those are found by name, or made."""

    user_id: Owner | None = Field(None, description="Whose memory; absent: the sole user's.")
    label: NodeId = Field("Memory", description="One of the 13 of the memory graph.")
    properties: Properties = Field(default_factory=dict)
    content: Statement | None = Field(None, description="The same as properties.content.")
    links: list[NodeLink] = Field([], max_length=50)


class MemoryRecall(RecallRequest):
    user_id: Owner | None = Field(None, description="Whose memory; absent: the sole user's.")  # type: ignore[assignment] # REST needs one


class ConnectionChange(LinkChange):
    user_id: Owner | None = Field(None, description="Whose memory; absent: the sole user's.")  # type: ignore[assignment] # as above


class Maintenance(MaintenanceOrder):
    user_id: Owner | None = Field(None, description="Whose memory; absent: the sole user's.")  # type: ignore[assignment] # as above


class CitedResults(GraphSearchResponse):
    """Facts carry their citations themselves; those of nodes are `chains`, by the node's uuid."""

    chains: dict[str, CitationChain] = Field(default_factory=dict)


class Done(BaseModel):
    status: str
    message: str


class ServerStatus(Done):
    """`graph` is about one user; null where none was named and there are several."""

    graph: GraphStatus | None = None


async def add_memory(rest: Rest, request: EpisodeCreateRequest) -> Answer:
    return await object_of(rest.send("POST", "/graph/episodes", body_of(request)))


async def search_nodes(rest: Rest, request: NodeSearch) -> Answer:
    return await _search(rest, request, "nodes")


async def search_memory_facts(rest: Rest, request: FactSearch) -> Answer:
    return await _search(rest, request, "facts")


async def search_messages(rest: Rest, request: MessageSearch) -> Answer:
    return await _search(rest, request, "messages")


async def search_with_citations(rest: Rest, request: GraphSearchRequest) -> Answer:
    answer = await _search(rest, request, request.search_type)
    if request.search_type != "nodes":
        return answer
    nodes = [ById(uuid=node["uuid"], user_id=int(node["group_id"])) for node in answer["results"]]
    return {**answer, "chains": {one.uuid: await get_citation_chain(rest, one) for one in nodes}}


async def get_episodes(rest: Rest, request: EpisodeListing) -> Answer:
    return await object_of(rest.get("/graph/episodes", body_of(request)))


async def get_citation_chain(rest: Rest, request: ById) -> Answer:
    return await object_of(rest.get(f"/graph/nodes/{_path(request.uuid)}/citations", {"user_id": request.user_id}))


async def update_fact(rest: Rest, request: FactUpdate) -> Answer:
    body = {name: value for name, value in body_of(request).items() if name not in ById.model_fields}
    query = {"user_id": request.user_id}
    return await object_of(rest.send("PATCH", f"/graph/facts/{_path(request.uuid)}", body, query))


async def delete_episode(rest: Rest, request: ById) -> Answer:
    await rest.delete(f"/graph/episodes/{_path(request.uuid)}", {"user_id": request.user_id})
    return {"status": "deleted", "message": f"episode {request.uuid} is deleted, with all that only it supported"}


async def search_people(rest: Rest, request: PeopleSearch) -> Answer:
    query = {"user_id": await owner_named(rest, request.user_id), "query": request.query, "limit": request.limit}
    return await object_of(rest.get("/people/search", query))


async def store_memory(rest: Rest, request: MemoryToStore) -> Answer:
    body = {"label": request.label, **body_of(request), "user_id": await owner_named(rest, request.user_id)}
    content = body.pop("content", None)
    if content is not None:
        body["properties"] = {"content": content, **request.properties}
    return await object_of(rest.send("POST", "/memory/nodes", {"properties": {}, **body}))


async def recall_memory(rest: Rest, request: MemoryRecall) -> Answer:
    return await _for_owner(rest, request, request.user_id, "/memory/recall")


async def strengthen_connection(rest: Rest, request: ConnectionChange) -> Answer:
    return await _for_owner(rest, request, request.user_id, "/memory/plasticity/strengthen")


async def weaken_connection(rest: Rest, request: ConnectionChange) -> Answer:
    return await _for_owner(rest, request, request.user_id, "/memory/plasticity/weaken")


async def run_maintenance(rest: Rest, request: Maintenance) -> Answer:
    return await _for_owner(rest, request, request.user_id, "/memory/maintenance")


async def query_graph(rest: Rest, request: CypherRequest) -> Answer:
    return await object_of(rest.send("POST", QUERY_PATH, body_of(request)))


async def get_status(rest: Rest, request: StatusRequest) -> Answer:
    try:
        await rest.get("/readyz")
    except CallFailed as error:
        return {"status": "error", "message": str(error), "graph": None}
    try:
        graph = await rest.get("/graph/status", body_of(request))
    except CallFailed:
        if request.group_id is not None:
            raise
        return {"status": "ok", "message": "ready", "graph": None}
    return {"status": "ok", "message": graph["message"], "graph": graph}


TOOLS: Sequence[Tool] = (
    Tool(
        "add_memory",
        EpisodeCreateRequest,
        EpisodeCreateResponse,
        add_memory,
        "Remember a text, a JSON document or a message. It is stored at once; entities and facts are drawn from it in "
        "the background, in the order of its group. reference_time is when it happened.",
        "adds",
    ),
    Tool(
        "search_nodes",
        NodeSearch,
        GraphSearchResponse,
        search_nodes,
        "Find entities: people, organizations, places, preferences and other things, by meaning, words and names.",
    ),
    Tool(
        "search_memory_facts",
        FactSearch,
        GraphSearchResponse,
        search_memory_facts,
        "Find facts between entities. Without dates: what holds now; as_of: what held then; known_at: what was known "
        "then; include_invalid: also what has ended. center_node_uuid puts what is near to that node first.",
    ),
    Tool(
        "search_with_citations",
        GraphSearchRequest,
        CitedResults,
        search_with_citations,
        "Find facts, nodes or episodes together with where they come from: episodes, their sources and the very words.",
    ),
    Tool(
        "search_messages",
        MessageSearch,
        GraphSearchResponse,
        search_messages,
        "Find what was said in conversations, word for word, each message with the chance that it answers and why it "
        "was found. since and until keep to a time.",
    ),
    Tool("get_episodes", EpisodeListing, EpisodesOut, get_episodes, "List the episodes, newest first."),
    Tool(
        "get_citation_chain",
        ById,
        CitationChain,
        get_citation_chain,
        "The history of one entity: which episodes created, updated or referenced it.",
    ),
    Tool(
        "update_fact",
        FactUpdate,
        FactUpdateResponse,
        update_fact,
        "Correct a fact: the old version expires and is kept, a new one takes its place.",
        "replaces",
    ),
    Tool(
        "delete_episode",
        ById,
        Done,
        delete_episode,
        "Delete an episode for good, with everything that only it supports; what that had superseded holds again.",
        "replaces",
    ),
    Tool(
        "search_people",
        PeopleSearch,
        FoundPeople,
        search_people,
        "Find people the user knows, by name in any form or by what is known of them.",
    ),
    Tool(
        "query_graph",
        CypherRequest,
        CypherAnswer,
        query_graph,
        "Ask the user's graph a reading Cypher statement: entities and FACT relations, memories, goals, decisions, "
        "questions and preferences, and the chronicle of conversations (Session, Request, Response, NEXT ...).",
    ),
    Tool(
        "store_memory",
        MemoryToStore,
        NodeOut,
        store_memory,
        "Store one memory (content, summary, confidence) or another node of the memory graph: a goal, decision, "
        "question, preference, concept ... with its links, as the user's own word. It is stored unchanged.",
        "adds",
        repeatable=False,
    ),
    Tool(
        "recall_memory",
        MemoryRecall,
        RecalledMemories,
        recall_memory,
        "Recall memories that belong to a question, with their strongest associations. labels also finds goals, "
        "decisions, questions, preferences and so on. What is recalled together grows together.",
        "adds",
        repeatable=False,
    ),
    Tool(
        "strengthen_connection",
        ConnectionChange,
        StrengthOut,
        strengthen_connection,
        "Strengthen the link from one memory to another by an amount from 0 to 1; at most to 1.",
        "adds",
        repeatable=False,
    ),
    Tool(
        "weaken_connection",
        ConnectionChange,
        StrengthOut,
        weaken_connection,
        "Weaken the link from one memory to another by an amount from 0 to 1; at least to 0.",
        "replaces",
        repeatable=False,
    ),
    Tool(
        "run_maintenance",
        Maintenance,
        MaintenanceOut,
        run_maintenance,
        "Do now what is done every night: links between memories decay by the time that passed and the weakest are "
        "pruned; memories that have faded are listed, none is deleted. dry_run only tells.",
        "replaces",
    ),
    Tool(
        "get_status",
        StatusRequest,
        ServerStatus,
        get_status,
        "Whether the memory can be used, how much it holds, and how much is still to be read by the agents.",
    ),
)


async def _search(rest: Rest, request: Request, search_type: str) -> Answer:
    return await object_of(rest.send("POST", "/graph/search", {**body_of(request), "search_type": search_type}))


async def _for_owner(rest: Rest, request: Request, user_id: int | None, path: str) -> Answer:
    return await object_of(rest.send("POST", path, {**body_of(request), "user_id": await owner_named(rest, user_id)}))


async def owner_named(rest: Rest, user_id: int | None) -> int:
    """The named user, else the sole one."""
    return user_id if user_id is not None else int((await rest.get("/graph/status"))["group_id"])


async def object_of(answer: Awaitable[Any]) -> Answer:
    found: Answer = await answer
    return found


def body_of(request: Request) -> dict[str, Any]:
    """Only the given fields: REST knows the defaults."""
    return {name: _plain(value) for name, value in request.model_dump(exclude_unset=True).items()}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime | date) else value


def _path(one_id: str) -> str:
    return quote(one_id, safe="")
