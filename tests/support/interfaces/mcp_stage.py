"""The product without Telegram, with a scripted archivist, and the SDK's own client driving every tool."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.types import TextContent
from support.paths import ROOT
from support.patience import PATIENCE_S
from support.product.program import NO_DICTIONARIES

from internal.config.settings import Config, load
from internal.testing import ScriptedModel

OWNER = 77
ARCHIVIST = "test/archivist"
URL = "https://example.org/notes/1,2"
SAID = "Олена з лютого працює в ACME. Я люблю чай."
READ = {
    "people_operations": [
        {
            "type": "Added",
            "person": {"display_name": "Олена", "circle": "Friends", "bio": "Працює в ACME."},
            "evidence": [1],
        }
    ],
    "entities": [{"name": "ACME", "labels": ["Organization"], "summary": "A firm", "evidence": [1]}],
    "facts": [
        {
            "source": "Олена",
            "relation": "WORKS_FOR",
            "target": "ACME",
            "fact": "Олена працює в ACME",
            "valid_at": "2026-02-01",
            "entity_types": {"ACME": "Organization"},
            "evidence": [1],
        }
    ],
}
"""What the scripted archivist finds in SAID."""

TOOLS = {
    "add_memory", "search_nodes", "search_memory_facts", "search_with_citations", "get_episodes", "get_citation_chain",
    "search_messages", "update_fact", "delete_episode", "search_people", "get_status",
    "store_memory", "recall_memory", "strengthen_connection", "weaken_connection", "run_maintenance", "query_graph",
    "list_tasks", "add_task", "list_reflections", "ask_past",
}  # fmt: skip


def environment(folder: Path, model: ScriptedModel) -> dict[str, str]:
    return NO_DICTIONARIES | {
        "LAPLACED_DATA_DIR": str(folder / "data"),
        "LAPLACED_SERVER__PORT": "0",
        "LAPLACED_MCP__PORT": "0",
        "LAPLACED_SERVER__CONSOLE_PORT": "0",
        "LAPLACED_SCHEDULER__TICK": "0.1s",
        "LAPLACED_ACCESS__ALLOWED_USER_IDS": str(OWNER),
        "LAPLACED_TELEGRAM__TOKEN": "1:never-used",
        "LAPLACED_LLM__BASE_URL": model.url,
        "LAPLACED_EMBEDDING__DIMENSIONS": "64",
        "LAPLACED_RAG__RETRIEVAL__PEOPLE_THRESHOLD": "0.1",
        "LAPLACED_AGENTS__ARCHIVIST__MODEL": ARCHIVIST,
    }


def process_environment(folder: Path, model: ScriptedModel) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAPLACED_")}
    return kept | {"PYTHONPATH": str(ROOT)} | environment(folder, model)


def configured(folder: Path, model: ScriptedModel) -> Config:
    return load(None, environment(folder, model))


@asynccontextmanager
async def scripted() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as model:
        model.always(ARCHIVIST, READ, match="ACME")
        model.always(ARCHIVIST, {"people_operations": []})
        yield model


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured answer of a tool, which must not refuse."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The words in which a tool refuses."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert answer.structured_content is None
    (words,) = answer.content
    assert isinstance(words, TextContent)
    return words.text


async def read(client: Client) -> None:
    """Waits until the agents have read everything."""
    async with asyncio.timeout(PATIENCE_S):
        while (await ask(client, "get_status"))["graph"]["waiting"]:  # noqa: ASYNC110 - it is asked from outside
            await asyncio.sleep(0.05)


async def drive(client: Client) -> None:
    """Every tool once, from the first memory to its deletion: the same facts, chain and people as over REST."""
    offered = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(offered) == TOOLS
    assert all(tool.output_schema and tool.description for tool in offered.values())
    assert (await ask(client, "get_status"))["graph"]["episodes"] == 0

    told = {"name": "note", "content": SAID, "source_description": "notes", "source_url": URL}
    added = await ask(client, "add_memory", **told, reference_time="2026-02-05T10:00:00Z")
    assert (added["status"], added["group_id"], added["episode_name"]) == ("accepted", str(OWNER), "note")
    assert (await ask(client, "add_memory", **told, reference_time="2026-02-05T10:00:00Z"))["uuid"] == added["uuid"]
    await read(client)
    status = await ask(client, "get_status", group_id=str(OWNER))
    assert [status["graph"][name] for name in ("episodes", "facts", "people", "dead")] == [1, 1, 1, 0]

    [fact] = (await ask(client, "search_memory_facts", query="Де працює Олена?"))["results"]
    assert (fact["name"], fact["fact"], fact["episodes"]) == ("WORKS_FOR", "Олена працює в ACME", [added["uuid"]])
    assert fact["citations"][0]["source_url"] == URL
    assert [line["quote"] for line in fact["evidence"]] == [SAID]
    assert (await ask(client, "search_memory_facts", query="Олена", as_of="2026-01-01"))["results"] == []
    nodes = await ask(client, "search_nodes", query="ACME", entity_types=["Organization"])
    assert [node["name"] for node in nodes["results"]] == ["ACME"]
    cited = await ask(client, "search_with_citations", query="ACME", search_type="nodes", max_results=1)
    acme = cited["results"][0]["uuid"]
    assert cited["chains"][acme] == await ask(client, "get_citation_chain", uuid=acme)
    assert [one["operation"] for one in cited["chains"][acme]["citations"]] == ["created"]
    assert (await ask(client, "search_with_citations", query="Олена"))["results"][0]["citations"] == fact["citations"]
    [person] = (await ask(client, "search_people", query="Олена"))["people"]
    assert (person["display_name"], person["circle"], person["user_id"]) == ("Олена", "Friends", OWNER)

    corrected = await ask(client, "update_fact", uuid=fact["uuid"], fact="Олена керує ACME", reason="promoted")
    assert corrected["new_edge"]["original_fact"] == "Олена працює в ACME"
    assert "expired" in await refused(client, "update_fact", uuid=fact["uuid"], fact="Олена")
    [episode] = (await ask(client, "get_episodes"))["episodes"]
    assert (episode["uuid"], episode["content"]) == (added["uuid"], SAID)
    assert (await ask(client, "delete_episode", uuid=added["uuid"]))["status"] == "deleted"
    assert (await ask(client, "get_episodes"))["count"] == 0
    assert (await ask(client, "search_memory_facts", query="Олена"))["results"] == []
    assert "there is no episode" in await refused(client, "delete_episode", uuid=added["uuid"])


async def remember(client: Client) -> None:
    """The tools of the memory graph: stored, recalled with what it is linked to, linked more and less, maintained."""
    tea = {"type": "HAS_CONCEPT", "to": {"label": "Concept", "properties": {"name": "чай"}}}
    green = await ask(client, "store_memory", content="Olena drinks green tea", links=[tea])
    assert (green["label"], green["properties"]["summary"]) == ("Memory", "Olena drinks green tea")
    similar = {"type": "RELATES_TO", "to": {"id": green["id"]}, "properties": {"strength": 0.3}}
    told = {"content": "Tea keeps Olena awake", "confidence": 0.8}
    awake = await ask(client, "store_memory", user_id=OWNER, properties=told, links=[tea, similar])
    goal = await ask(client, "store_memory", label="Goal", properties={"description": "Sleep better"})
    ends = {"source_id": awake["id"], "target_id": green["id"]}
    assert (await ask(client, "strengthen_connection", **ends, amount=0.2))["strength"] == pytest.approx(0.5)
    assert (await ask(client, "weaken_connection", **ends, amount=0.1))["strength"] == pytest.approx(0.4)

    for label, named in (("Preference", {"preference": "green tea"}), ("Topic", {"name": "sorts of tea"})):
        stored = await ask(client, "store_memory", label=label, properties=named)
        nodes = await ask(client, "search_with_citations", query="tea", search_type="nodes", entity_types=[label])
        assert [(node["uuid"], node["labels"]) for node in nodes["results"]] == [(stored["id"], [label])]
        assert set(nodes["chains"]) == {stored["id"]}

    recalled = await ask(client, "recall_memory", query="What tea does Olena drink?")
    assert {one["node"]["id"] for one in recalled["memories"]} == {green["id"], awake["id"]}
    found = next(one for one in recalled["memories"] if one["node"]["id"] == awake["id"])
    assert [(one["node"]["id"], one["strength"]) for one in found["associations"]] == [
        (green["id"], pytest.approx(0.5))  # used together just now
    ]
    assert found["node"]["properties"]["accessCount"] == 1
    goals = await ask(client, "recall_memory", query="sleep", labels=["Goal"], limit=1)
    assert [one["node"]["id"] for one in goals["memories"]] == [goal["id"]]
    assert (await ask(client, "recall_memory", query="quarterly budget"))["memories"] == []

    report = await ask(client, "run_maintenance", dry_run=True)
    assert [report[name] for name in ("dry_run", "links", "pruned", "memories", "faded")] == [True, 1, 0, 2, 0]
    assert (await ask(client, "run_maintenance", user_id=OWNER))["dry_run"] is False
    assert await refused(client, "strengthen_connection", **ends, amount=2) == (
        "amount: Input should be less than or equal to 1"
    )
    turned = {"source_id": green["id"], "target_id": awake["id"], "amount": 0.1}
    assert (await refused(client, "weaken_connection", **turned)).startswith("target_id: no RELATES_TO leads from ")
    assert (await refused(client, "store_memory", label="Ship")).startswith("Ship: there is no such label")
    assert (await refused(client, "store_memory", content="x", user_id=5)) == "there is no user 5"
    assert (await refused(client, "recall_memory", query="x", labels=["Entity"])).startswith(
        "labels: Entity is none of "
    )
    unread = await refused(client, "store_memory", content="x", links=[{"type": "HAS_CONCEPT", "to": {}}])
    assert unread == "links.0.to: either id, or label and properties, are expected"


async def refusals(client: Client) -> None:
    """What is wrong is told in words the model can act on: by REST, and by the tool's own arguments."""
    assert await refused(client, "add_memory", name="n") == "content: Field required"
    assert (
        await refused(client, "search_memory_facts", query="x", asof="2026") == "asof: Extra inputs are not permitted"
    )
    assert await refused(client, "search_nodes", query="x", group_ids=["5"]) == "there is no user 5"
    beyond = await refused(client, "search_nodes", query="x", group_ids=["9999999999999999999"])
    assert beyond == "group_ids.0: the id of a user is expected"
    assert (await refused(client, "search_nodes", query="x", entity_types=["Ship"])).startswith("entity_types: ")
    assert (await refused(client, "add_memory", name="n", content="x", source="json")).startswith("content: ")
    assert await refused(client, "get_citation_chain", uuid="nothing") == "there is no node nothing"
    assert await refused(client, "get_citation_chain", uuid="../../people/1?user_id=77#") == "Not Found"
