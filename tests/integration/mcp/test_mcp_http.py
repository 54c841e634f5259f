"""MCP over streamable HTTP: behind the guard, built when it is first asked, driven by the SDK's own client."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import copy
from datetime import UTC, datetime
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from support.interfaces.mcp_stage import (
    OWNER,
    TOOLS,
    ask,
    configured,
    drive,
    refusals,
    refused,
    remember,
    scripted,
)
from support.patience import PATIENCE_S

from bot.mcp import http as mcp_http
from bot.mcp.http import McpServer
from bot.mcp.tools import TASK_TOOLS, TOOLS as TABLE
from bot.runtime.headless import open_alone
from bot.runtime.http import RunningServers, serve_rest_and_mcp, server_key
from bot.web.server.uvicorn import listening, serving
from internal.access.api_keys import ApiKeys
from internal.errors import ConfigurationError


@asynccontextmanager
async def connected(url: str, key: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[tuple[RunningServers, str]]:
    """The product's servers, and the key."""
    async with (
        scripted() as model,
        open_alone(configured(tmp_path, model)) as (app, ports),
        serve_rest_and_mcp(app, ports) as server,
    ):
        yield server, server_key(app)


async def test_every_tool_works_for_the_sdks_own_client(running: tuple[RunningServers, str]) -> None:
    """From add_memory to delete_episode; refusals are answers; unknown tools are errors of the protocol."""
    server, key = running
    async with connected(server.mcp, key) as client:
        assert client.server_info is not None
        assert client.server_info.name == "laplaced"
        await drive(client)
        await remember(client)
        await refusals(client)
        with pytest.raises(MCPError, match="there is no tool clear_graph; there are add_memory, "):
            await client.call_tool("clear_graph", {})
    async with connected(server.mcp, key, "legacy") as old:
        assert (await old.call_tool("get_status", {})).structured_content["status"] == "ok"


async def test_nobody_gets_in_without_the_key(running: tuple[RunningServers, str]) -> None:
    """401 without it, 403 under a foreign name; only POST at the one path."""
    server, key = running
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE_S) as client:
        for headers, status in (
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Authorization": ""}, 401),
            ({"Host": "evil.example"}, 403),
            ({}, 200),
        ):
            assert (await client.post(server.mcp, json=call, headers=accept | headers)).status_code == status
        for method, path, status in (("GET", "/mcp", 405), ("DELETE", "/mcp", 405), ("POST", "/", 404)):
            url = server.mcp.removesuffix("/mcp") + path
            assert (await client.request(method, url, headers=accept)).status_code == status
        big = b" " * (5 << 20)
        headers = accept | {"Content-Type": "application/json"}
        assert (await client.post(server.mcp, content=big, headers=headers)).status_code == 413


async def test_the_sdk_is_loaded_by_the_first_call_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers and probes load nothing; clients that come together load it once; nothing changes the signals."""
    loaded = []
    build = McpServer._application

    def counted(self: McpServer) -> object:
        loaded.append(1)
        return build(self)

    monkeypatch.setattr(McpServer, "_application", counted)

    async def web(scope: object, receive: object, send: object) -> None:
        raise AssertionError("no tool is called")

    tools = McpServer(web, "the-key", [])
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    async with (
        serving(tools.guarded, "127.0.0.1", 0) as server,
        httpx.AsyncClient(trust_env=False, timeout=PATIENCE_S) as client,
    ):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        url = f"{server.url}{mcp_http.PATH}"
        await client.post(url, json=call)
        await client.get(url, headers={"Authorization": "Bearer the-key"})
        assert loaded == []
        headers = {"Accept": "application/json", "Authorization": "Bearer the-key"}
        answers = await asyncio.gather(*(client.post(url, json=call, headers=headers) for _ in range(3)))
        assert [len(answer.json()["result"]["tools"]) for answer in answers] == [len(TOOLS)] * 3
        assert loaded == [1]
    await tools.close()
    assert before == [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]


async def test_a_taken_port_is_told(tmp_path: Path) -> None:
    """In one line that names the setting, before anything is served."""
    async with scripted() as model, open_alone(configured(tmp_path, model)) as (app, ports):
        taken = listening("127.0.0.1", 0)
        mcp = app.config.mcp.model_copy(update={"port": taken.port})
        busy = copy(app)
        busy.config = app.config.model_copy(update={"mcp": mcp})
        with pytest.raises(ConfigurationError, match=rf":{taken.port} \(server\.host, mcp\.port\): .*in use"):
            async with serve_rest_and_mcp(busy, ports):
                pass
        taken.close()


async def test_a_named_key_reaches_what_it_may(running: tuple[RunningServers, str], tmp_path: Path) -> None:
    """A read-only key is offered the tools that read, and each of them works; an owner's key knows nobody else."""
    server, key = running
    keys, now = ApiKeys(tmp_path / "data"), datetime.now(UTC)
    async with connected(server.mcp, key) as client:
        stored = await ask(client, "store_memory", content="Olena drinks green tea")
    async with connected(server.mcp, keys.add("reader", OWNER, read_only=True, now=now)) as reader:
        offered = {tool.name: tool for tool in (await reader.list_tools()).tools}
        assert set(offered) == {tool.name for tool in (*TABLE, *TASK_TOOLS) if tool.changes == "nothing"}
        given = {
            "query": {"query": "tea"},
            "uuid": {"uuid": stored["id"]},
            "question": {"question": "How often do I drink tea?"},
        }
        for name, tool in offered.items():
            needed = tool.input_schema.get("required", [])
            arguments = {"query": "RETURN 1"} if name == "query_graph" else given[needed[0]] if needed else {}
            assert not (await reader.call_tool(name, arguments)).is_error, name
        assert await refused(reader, "store_memory", content="x") == "this key may only read"
        assert await refused(reader, "recall_memory", query="tea") == "this key may only read"
    async with connected(server.mcp, keys.add("writer", OWNER, read_only=False, now=now)) as writer:
        assert {tool.name for tool in (await writer.list_tools()).tools} == TOOLS
        assert (await ask(writer, "recall_memory", query="tea"))["memories"] != []
    async with connected(server.mcp, keys.add("stranger", 5, read_only=False, now=now)) as stranger:
        assert (
            await refused(stranger, "search_nodes", query="tea", group_ids=[str(OWNER)]) == f"there is no user {OWNER}"
        )
        assert (
            await refused(stranger, "get_citation_chain", uuid=stored["id"], user_id=OWNER) == "there is no such thing"
        )
        assert "no node" in await refused(stranger, "get_citation_chain", uuid=stored["id"])
        assert await refused(stranger, "store_memory", content="x", user_id=OWNER) == f"there is no user {OWNER}"
        keys.revoke("stranger")
        with pytest.raises(MCPError):
            await stranger.call_tool("get_status", {})
