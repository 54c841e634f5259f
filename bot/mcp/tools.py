"""The tools offered over MCP: calls of REST under REST's names, each a function."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, TypeVar, get_type_hints
from urllib.parse import quote

from pydantic import BaseModel, Field

from bot.web.activity.tasks import TaskOut, TaskRequest, TasksOut
from bot.web.client import CallFailed, RestClient
from bot.web.companion.reflections import PastOut, ReflectionsOut
from bot.web.graph import schemas as graph_schemas
from bot.web.graph.cypher import QUERY_PATH, CypherAnswer, CypherRequest
from bot.web.http.fields import LARGEST_ID, GroupId, Moment, NodeId, Owner, Properties, RequestBody, Statement
from bot.web.memory import schemas as memory_schemas
from bot.web.people.schemas import FoundPeople

Answer = Mapping[str, Any]
Most = Annotated[int, Field(ge=1, le=100)]
Call = TypeVar("Call", bound=Callable[..., Awaitable[Answer]])


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool. `takes` and `gives` are the types of its arguments and its answer; `call` raises CallFailed.

    `repeatable`: the same call again changes nothing more.
    """

    name: str
    takes: type[RequestBody]
    gives: type[BaseModel]
    call: Callable[[RestClient, Any], Awaitable[Answer]]
    about: str
    changes: Literal["nothing", "adds", "replaces"]
    repeatable: bool


TOOLS: Final[list[McpTool]] = []
"""The tools, in the order in which they are offered."""


def tool(
    tools: list[McpTool],
    gives: type[BaseModel],
    changes: Literal["nothing", "adds", "replaces"] = "nothing",
    *,
    repeatable: bool = True,
) -> Callable[[Call], Call]:
    """Makes a function a tool. Its docstring tells models what it does; its parameter `request` is what it takes."""

    def added(call: Call) -> Call:
        takes, about = get_type_hints(call)["request"], " ".join((call.__doc__ or "").split())
        tools.append(McpTool(call.__name__, takes, gives, call, about, changes, repeatable))
        return call

    return added


class NodeSearch(RequestBody):
    query: Statement
    max_results: Most = 10
    group_ids: list[GroupId] | None = Field(None, max_length=50)
    entity_types: list[NodeId] | None = Field(None, max_length=50)


class FactSearch(NodeSearch):
    center_node_uuid: NodeId | None = None
    as_of: Moment | None = Field(None, description="What held then.")
    known_at: Moment | None = Field(None, description="What we knew then.")
    include_invalid: bool = False


class MessageSearchArguments(RequestBody):
    query: Statement
    max_results: Most = 10
    group_ids: list[GroupId] | None = Field(None, max_length=50)
    since: Moment | None = Field(None, description="Said then or later.")
    until: Moment | None = Field(None, description="Said before.")


class EpisodeListing(RequestBody):
    group_id: GroupId | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 10
    offset: Annotated[int, Field(ge=0, le=LARGEST_ID)] = 0


class ById(RequestBody):
    uuid: NodeId
    user_id: Owner | None = None


class FactUpdate(graph_schemas.FactUpdateRequest, ById):
    pass


class PeopleSearchArguments(RequestBody):
    query: Statement
    user_id: Owner | None = Field(None, description="The user's id. Default: the only user.")
    limit: Most = 10


class StatusRequest(RequestBody):
    group_id: GroupId | None = None


class MemoryToStore(RequestBody):
    """`links` lead from the new node to others, by id or by label and properties; those are found by name, or made."""

    user_id: Owner | None = Field(None, description="The user's id. Default: the only user.")
    label: NodeId = Field("Memory", description="One of the 13 of the memory graph.")
    properties: Properties = Field(default_factory=dict)
    content: Statement | None = Field(None, description="The same as properties.content.")
    links: list[memory_schemas.NodeLink] = Field([], max_length=50)


class MemoryRecallArguments(memory_schemas.RecallRequest):
    user_id: Owner | None = Field(None, description="The user's id. Default: the only user.")  # type: ignore[assignment] # REST needs one


class ConnectionChange(memory_schemas.LinkChange):
    user_id: Owner | None = Field(None, description="The user's id. Default: the only user.")  # type: ignore[assignment] # as above


class MaintenanceArguments(memory_schemas.MaintenanceOrder):
    user_id: Owner | None = Field(None, description="The user's id. Default: the only user.")  # type: ignore[assignment] # as above


class OfOwner(RequestBody):
    user_id: Owner | None = Field(None, description="The user's id. Default: the only user.")


class PastQuestion(OfOwner):
    question: Statement


class CitedResults(graph_schemas.GraphSearchResponse):
    """Facts carry their citations themselves; those of nodes are `chains`, by the node's uuid."""

    chains: dict[str, graph_schemas.CitationChain] = Field(default_factory=dict)


class Done(BaseModel):
    status: str
    message: str


class ServerStatus(Done):
    """`graph` is about one user; null where none was named and there are several."""

    graph: graph_schemas.GraphStatus | None = None


@tool(TOOLS, graph_schemas.EpisodeCreateResponse, "adds")
async def add_memory(rest: RestClient, request: graph_schemas.EpisodeCreateRequest) -> Answer:
    """Remember a text, a JSON document or a message. It is stored at once; entities and facts are drawn from it in the
    background, in the order of its group. reference_time is when it happened.
    """
    return await object_of(rest.send("POST", "/graph/episodes", body_of(request)))


@tool(TOOLS, graph_schemas.GraphSearchResponse)
async def search_nodes(rest: RestClient, request: NodeSearch) -> Answer:
    """Find entities: people, organizations, places, preferences and other things, by meaning, words and names."""
    return await _search(rest, request, "nodes")


@tool(TOOLS, graph_schemas.GraphSearchResponse)
async def search_memory_facts(rest: RestClient, request: FactSearch) -> Answer:
    """Find facts between entities. By default only facts that are valid now. as_of: facts valid at that time;
    known_at: facts known at that time; include_invalid: ended facts too. center_node_uuid ranks facts near that node
    first.
    """
    return await _search(rest, request, "facts")


@tool(TOOLS, CitedResults)
async def search_with_citations(rest: RestClient, request: graph_schemas.GraphSearchRequest) -> Answer:
    """Find facts, nodes or episodes together with where they come from: episodes, their sources and the very words."""
    answer = await _search(rest, request, request.search_type)
    if request.search_type != "nodes":
        return answer
    nodes = [ById(uuid=node["uuid"], user_id=int(node["group_id"])) for node in answer["results"]]
    return {**answer, "chains": {one.uuid: await get_citation_chain(rest, one) for one in nodes}}


@tool(TOOLS, graph_schemas.GraphSearchResponse)
async def search_messages(rest: RestClient, request: MessageSearchArguments) -> Answer:
    """Search past conversations. Returns messages word for word, each with the chance that it answers the query and
    the reason it was found. since and until limit the time.
    """
    return await _search(rest, request, "messages")


@tool(TOOLS, graph_schemas.EpisodesOut)
async def get_episodes(rest: RestClient, request: EpisodeListing) -> Answer:
    """List the episodes, newest first."""
    return await object_of(rest.get("/graph/episodes", body_of(request)))


@tool(TOOLS, graph_schemas.CitationChain)
async def get_citation_chain(rest: RestClient, request: ById) -> Answer:
    """The history of one entity: which episodes created, updated or referenced it."""
    return await object_of(rest.get(f"/graph/nodes/{_path(request.uuid)}/citations", {"user_id": request.user_id}))


@tool(TOOLS, graph_schemas.FactUpdateResponse, "replaces")
async def update_fact(rest: RestClient, request: FactUpdate) -> Answer:
    """Correct a fact: the old version expires and is kept, a new one takes its place."""
    body = {name: value for name, value in body_of(request).items() if name not in ById.model_fields}
    query = {"user_id": request.user_id}
    return await object_of(rest.send("PATCH", f"/graph/facts/{_path(request.uuid)}", body, query))


@tool(TOOLS, Done, "replaces")
async def delete_episode(rest: RestClient, request: ById) -> Answer:
    """Delete an episode for good, with everything that only it supports. Facts that it had superseded become valid
    again."""
    await rest.delete(f"/graph/episodes/{_path(request.uuid)}", {"user_id": request.user_id})
    return {"status": "deleted", "message": f"episode {request.uuid} is deleted, with all that only it supported"}


@tool(TOOLS, FoundPeople)
async def search_people(rest: RestClient, request: PeopleSearchArguments) -> Answer:
    """Find people the user knows, by name in any form or by what is known of them."""
    query = {"user_id": await owner_named(rest, request.user_id), "query": request.query, "limit": request.limit}
    return await object_of(rest.get("/people/search", query))


@tool(TOOLS, ReflectionsOut)
async def list_reflections(rest: RestClient, request: OfOwner) -> Answer:
    """List patterns and changes of the user's last weeks, each with the lines that show it."""
    return await object_of(rest.get("/reflections", {"user_id": await owner_named(rest, request.user_id)}))


@tool(TOOLS, PastOut)
async def ask_past(rest: RestClient, request: PastQuestion) -> Answer:
    """Answer "how often do I see Anna?" or "what led to the move?" from the user's own lines, which come along."""
    query = {"user_id": await owner_named(rest, request.user_id), "question": request.question}
    return await object_of(rest.get("/reflections/past", query))


@tool(TOOLS, CypherAnswer)
async def query_graph(rest: RestClient, request: CypherRequest) -> Answer:
    """Ask the user's graph a reading Cypher statement: entities and FACT relations, memories, goals, decisions,
    questions and preferences, and the chronicle of conversations (Session, Request, Response, NEXT ...).
    """
    return await object_of(rest.send("POST", QUERY_PATH, body_of(request)))


@tool(TOOLS, memory_schemas.NodeOut, "adds", repeatable=False)
async def store_memory(rest: RestClient, request: MemoryToStore) -> Answer:
    """Store one memory (content, summary, confidence) or another node of the memory graph: a goal, decision, question,
    preference, concept ... with its links, as the user's own word. It is stored unchanged.
    """
    body = {"label": request.label, **body_of(request), "user_id": await owner_named(rest, request.user_id)}
    content = body.pop("content", None)
    if content is not None:
        body["properties"] = {"content": content, **request.properties}
    return await object_of(rest.send("POST", "/memory/nodes", {"properties": {}, **body}))


@tool(TOOLS, memory_schemas.RecalledMemories, "adds", repeatable=False)
async def recall_memory(rest: RestClient, request: MemoryRecallArguments) -> Answer:
    """Recall memories that belong to a question, with their strongest associations. labels also finds goals, decisions,
    questions, preferences and so on. What is recalled together grows together.
    """
    return await _for_owner(rest, request, request.user_id, "/memory/recall")


@tool(TOOLS, memory_schemas.StrengthOut, "adds", repeatable=False)
async def strengthen_connection(rest: RestClient, request: ConnectionChange) -> Answer:
    """Strengthen the link from one memory to another by an amount from 0 to 1; at most to 1."""
    return await _for_owner(rest, request, request.user_id, "/memory/plasticity/strengthen")


@tool(TOOLS, memory_schemas.StrengthOut, "replaces", repeatable=False)
async def weaken_connection(rest: RestClient, request: ConnectionChange) -> Answer:
    """Weaken the link from one memory to another by an amount from 0 to 1; at least to 0."""
    return await _for_owner(rest, request, request.user_id, "/memory/plasticity/weaken")


@tool(TOOLS, memory_schemas.MaintenanceOut, "replaces")
async def run_maintenance(rest: RestClient, request: MaintenanceArguments) -> Answer:
    """Run the nightly maintenance now: links between memories decay with time and the weakest are removed. Faded
    memories are listed, none is deleted. dry_run only reports.
    """
    return await _for_owner(rest, request, request.user_id, "/memory/maintenance")


@tool(TOOLS, ServerStatus)
async def get_status(rest: RestClient, request: StatusRequest) -> Answer:
    """Report whether the memory is ready, how much it holds, and how much the agents still have to read."""
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


async def _search(rest: RestClient, request: RequestBody, search_type: str) -> Answer:
    return await object_of(rest.send("POST", "/graph/search", {**body_of(request), "search_type": search_type}))


async def _for_owner(rest: RestClient, request: RequestBody, user_id: int | None, path: str) -> Answer:
    return await object_of(rest.send("POST", path, {**body_of(request), "user_id": await owner_named(rest, user_id)}))


async def owner_named(rest: RestClient, user_id: int | None) -> int:
    """The id of the named user, else of the only one."""
    return user_id if user_id is not None else int((await rest.get("/graph/status"))["group_id"])


async def object_of(answer: Awaitable[Any]) -> Answer:
    found: Answer = await answer
    return found


def body_of(request: RequestBody) -> dict[str, Any]:
    """The given fields only; REST has the defaults of the others."""
    return {name: _plain(value) for name, value in request.model_dump(exclude_unset=True).items()}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime | date) else value


def _path(one_id: str) -> str:
    return quote(one_id, safe="")


TASK_TOOLS: Final[list[McpTool]] = []


class TaskListing(RequestBody):
    user_id: Owner | None = Field(None, description="The user's id. Default: the only user.")
    state: Literal["proposed", "open", "done", "cancelled"] | None = Field("open", description="Null for all.")
    limit: Most = 50


class TaskToAdd(TaskRequest):
    user_id: Annotated[Owner | None, Field(description="The user's id. Default: the only user.")] = None  # type: ignore[assignment] # REST needs one


@tool(TASK_TOOLS, TasksOut)
async def list_tasks(rest: RestClient, request: TaskListing) -> Answer:
    """List the user's tasks, reminders and promises by time; those without a date come last."""
    query = {"user_id": await owner_named(rest, request.user_id), "limit": request.limit}
    return await object_of(rest.get("/tasks", query | ({"state": request.state} if request.state else {})))


@tool(TASK_TOOLS, TaskOut, "adds", repeatable=False)
async def add_task(rest: RestClient, request: TaskToAdd) -> Answer:
    """Add a task. due_at: a time, or a bare date for a whole day in the user's zone; the user is reminded
    then. recurrence is an RRULE such as FREQ=WEEKLY;BYDAY=MO and needs the first time in due_at.
    """
    owner = await owner_named(rest, request.user_id)
    return await object_of(rest.send("POST", "/tasks", body_of(request) | {"user_id": owner}))
