"""The product without Telegram, with a scripted archivist, and the SDK's own client driving every tool."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.client.client import Client

from internal.config import Config, load
from internal.testing import ScriptedModel

ROOT = Path(__file__).parents[3]
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
    "update_fact", "delete_episode", "search_people", "get_status",
}  # fmt: skip


def environment(folder: Path, model: ScriptedModel) -> dict[str, str]:
    return {
        "LAPLACED_DATA_DIR": str(folder / "data"),
        "LAPLACED_SERVER__PORT": "0",
        "LAPLACED_MCP__PORT": "0",
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
    return str(answer.content[0].text)


async def read(client: Client) -> None:
    """Waits until the agents have read everything."""
    async with asyncio.timeout(45):
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
