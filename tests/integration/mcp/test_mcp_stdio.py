"""MCP over standard streams: a process that a client starts, with a server beside it and without."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from support.interfaces.mcp_stage import OWNER, ask, configured, drive, process_environment, refused, scripted
from support.patience import PATIENCE_S
from support.product.program import BOT, command_by_fork

from bot.runtime.headless import open_alone
from bot.runtime.http import serve_rest_and_mcp
from internal.events import repository as events
from internal.storage.engine.data_lock import held
from internal.testing import ScriptedModel

COMMAND = ["mcp", "--stdio"]


@asynccontextmanager
async def started(folder: Path, model: ScriptedModel) -> AsyncIterator[Client]:
    """`laplaced mcp --stdio` as a client starts it, though by fork."""
    environment = process_environment(folder, model)
    command, *arguments = command_by_fork(BOT, *COMMAND)
    with (folder / "mcp.log").open("a") as log:
        wanted = StdioServerParameters(command=command, args=arguments, env=environment, cwd=folder)
        async with Client(stdio_client(wanted, errlog=log)) as client:
            yield client


async def test_every_tool_works_when_nothing_runs(tmp_path: Path) -> None:
    """The command opens the memory itself and lets the agents work; a second one goes through the first."""
    async with scripted() as model:
        async with started(tmp_path, model) as client:
            await drive(client)
            async with started(tmp_path, model) as second:
                assert (await ask(second, "get_status"))["graph"]["episodes"] == 0
        async with asyncio.timeout(PATIENCE_S):
            while held(tmp_path / "data"):  # noqa: ASYNC110 - another process holds it
                await asyncio.sleep(0.05)
    assert "Traceback" not in (tmp_path / "mcp.log").read_text()


async def test_a_running_server_is_asked(tmp_path: Path) -> None:
    """What is told through the command is stored by the holder of the data folder; if that stops, it is said so."""
    async with scripted() as model, AsyncExitStack() as client_side:
        async with open_alone(configured(tmp_path, model)) as (app, ports), serve_rest_and_mcp(app, ports) as server:
            app.lock.announce(server.rest.url)
            client = await client_side.enter_async_context(started(tmp_path, model))
            await drive(client)
            stored = await app.database.read(lambda c: events.count(c, OWNER, event_type="episode_added"))
            assert stored == 1
        assert "the server does not answer" in await refused(client, "get_episodes")
        assert (await ask(client, "get_status"))["status"] == "error"


async def test_a_signal_ends_it_in_order(tmp_path: Path) -> None:
    """SIGTERM while a fresh one waits for its client: the folder is free again, and the exit code is 0."""
    async with scripted() as model:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", BOT), *COMMAND, cwd=tmp_path, env=process_environment(tmp_path, model),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        call = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
        call["params"] = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        process.stdin.write(json.dumps(call).encode() + b"\n")
        async with asyncio.timeout(PATIENCE_S):
            answer = json.loads(await process.stdout.readline())
        assert answer["result"]["serverInfo"]["name"] == "laplaced"
        process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
        assert process.stderr is not None
        assert b"Traceback" not in await process.stderr.read()
    assert not held(tmp_path / "data")
