"""Every tool is called for Bob with Alice's ids: she is not found, not told of, and not changed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
import pytest_asyncio
from support.interfaces.isolation_stage import ALICE, BOB, CANARY, QUESTION, Isolation
from support.interfaces.rest_graph_stage import KEY

from bot.mcp.tools import TOOLS
from bot.web.client import CallRefused, RestClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

Arguments = Callable[[Mapping[str, str], int], dict[str, Any]]


def asking(**more: Any) -> Arguments:
    return lambda ids, owner: {"query": QUESTION, "group_ids": [str(owner)]} | more


def of(name: str, **more: Any) -> Arguments:
    return lambda ids, owner: {"uuid": ids[name], "user_id": owner} | more


def about(**more: Any) -> Arguments:
    return lambda ids, owner: {"user_id": owner} | more


def between(ids: Mapping[str, str], owner: int) -> dict[str, Any]:
    return {"user_id": owner, "source_id": ids["memory"], "target_id": ids["memory 2"], "amount": 0.1}


ARGUMENTS: dict[str, Arguments] = {
    "add_memory": lambda ids, owner: {"name": "n", "content": "c", "uuid": ids["episode"], "group_id": str(owner)},
    "search_nodes": asking(),
    "search_memory_facts": lambda ids, owner: asking(center_node_uuid=ids["node"])(ids, owner),
    "search_with_citations": asking(search_type="nodes"),
    "search_messages": asking(),
    "get_episodes": lambda ids, owner: {"group_id": str(owner)},
    "get_citation_chain": of("node"),
    "update_fact": of("fact", fact="changed"),
    "delete_episode": of("episode"),
    "search_people": about(query=QUESTION),
    "list_reflections": about(),
    "ask_past": about(question=f"how often do I mention {QUESTION}"),
    "query_graph": about(query="MATCH (n) RETURN n"),
    "store_memory": lambda ids, owner: {
        "user_id": owner,
        "content": "c",
        "links": [{"type": "RELATES_TO", "to": {"id": ids["memory"]}}],
    },
    "recall_memory": about(query=QUESTION),
    "strengthen_connection": between,
    "weaken_connection": between,
    "run_maintenance": about(dry_run=False),
    "get_status": lambda ids, owner: {"group_id": str(owner)},
}
"""What each tool is asked. One that is missing here fails the suite."""

TELLING = ("search_nodes", "search_memory_facts", "search_with_citations", "search_messages", "get_episodes",
           "search_people", "recall_memory", "ask_past")  # fmt: skip
"""Tools by which Alice herself gets her canary."""


@pytest_asyncio.fixture(loop_scope="module")
async def rest(apart: Isolation) -> AsyncIterator[RestClient]:
    calls = RestClient.inside(apart.stage.app, KEY)
    yield calls
    await calls.aclose()


async def called(rest: RestClient, name: str, arguments: dict[str, Any]) -> str:
    """What the tool answered, as text; a refusal is an answer too."""
    tool = next(tool for tool in TOOLS if tool.name == name)
    try:
        return json.dumps(await tool.call(rest, tool.takes.model_validate(arguments)), ensure_ascii=False, default=str)
    except CallRefused as refusal:
        return str(refusal)


async def test_every_tool_has_its_case() -> None:
    """A tool that nobody has thought about here fails this test."""
    assert {tool.name for tool in TOOLS} == ARGUMENTS.keys()


async def test_the_owner_is_told(apart: Isolation, rest: RestClient) -> None:
    """Alice gets her own things: what is asked is worth asking."""
    answers = {name: await called(rest, name, ARGUMENTS[name](apart.ids, ALICE)) for name in TELLING}
    assert [name for name, answer in answers.items() if CANARY not in answer] == []


async def test_nobody_else_is(apart: Isolation, rest: RestClient) -> None:
    """No tool tells Bob a word of Alice's, and nothing of hers is changed."""
    before = await apart.alices_rows()
    answers = {name: await called(rest, name, make(apart.ids, BOB)) for name, make in ARGUMENTS.items()}
    assert [(name, answer) for name, answer in answers.items() if CANARY in answer] == []
    assert await apart.alices_rows() == before
