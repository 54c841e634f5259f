"""The commands that query the memory: `laplaced recall`, and `laplaced mcp` for clients with tools."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.base import command, load

if TYPE_CHECKING:
    from bot.web.admin.recall import Recalled
    from bot.web.client import RestClient
    from internal.config.settings import Config
    from internal.storage.engine.data_lock import Holder


@command('laplaced recall --user 123456789 "Where does Olena work?"')
@click.argument("query", metavar="QUERY")
@click.option(
    "--user", "user_id", type=click.IntRange(-(2**63) + 1, 2**63 - 1), metavar="ID", required=True, help="Whose memory."
)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Most things of each kind.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def recall(config_path: Path | None, query: str, user_id: int, limit: int, as_json: bool) -> None:
    """Show what a question brings to mind: people, facts, memories, messages and so on, with scores and chances.

    A running bot is asked; if none runs, its memory is opened here. No chat model is asked.
    """
    if not query.strip():
        raise click.UsageError("the question is empty")
    found = asyncio.run(_recall(load(config_path), user_id, query, limit))
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    lines = list(found.lines())
    for line in lines:
        click.echo(line)
    if not lines:
        click.echo("nothing was found", err=True)


async def _recall(config: Config, user_id: int, query: str, limit: int) -> Recalled:
    from bot.application.rest import open_rest
    from bot.web.admin.recall import RECALL_PATH, Recalled

    async with open_rest(config, "with models") as rest:
        return await rest.post(RECALL_PATH, {"user_id": user_id, "query": query, "limit": limit}, Recalled)


@command("laplaced mcp --stdio")
@click.option("--stdio", is_flag=True, help="Serve this process's own input and output, for a client that started it.")
def mcp(config_path: Path | None, stdio: bool) -> None:
    """Serve the memory as MCP tools, without a bot if none runs.

    Without --stdio over HTTP at mcp.port; a running bot does that already, and its address is printed.
    """
    asyncio.run(_mcp(load(config_path), stdio))


async def _mcp(config: Config, stdio: bool) -> None:
    from bot.application.rest import rest_of, running_server

    server = running_server(config)
    if server is not None and not stdio:
        async with contextlib.aclosing(rest_of(server, config)) as rest:
            click.echo(f"MCP: {await _mcp_address(rest, server)} (served by process {server.pid})")
        return
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for wanted in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(wanted, stop.set)
    await (_serve_stdio(config, server, stop) if stdio else _serve_http(config, stop))


async def _mcp_address(rest: RestClient, server: Holder) -> str:
    """The address at which the running server serves MCP. Raises ServerUnreachable if it does not."""
    from bot.web.client import CallFailed, ServerUnreachable

    with contextlib.suppress(CallFailed, KeyError, TypeError):
        return str((await rest.get("/"))["mcp"])
    raise ServerUnreachable(f"process {server.pid} holds the data folder and serves no MCP over HTTP")


async def _serve_stdio(config: Config, server: Holder | None, stop: asyncio.Event) -> None:
    from bot.application.rest import key_of
    from bot.mcp.stdio import serve_stdio
    from bot.web.client import RestClient

    async with contextlib.AsyncExitStack() as stack:
        if server is not None:
            rest = RestClient.of_server(server.url or "", key_of(config))
        else:
            from bot.runtime.headless import open_alone
            from bot.runtime.http import served_for_commands, server_key

            app, ports = await stack.enter_async_context(open_alone(config))
            running, web = await stack.enter_async_context(served_for_commands(app, ports))
            app.lock.announce(running.url)
            rest = RestClient.inside(web, server_key(app))
        stack.push_async_callback(rest.aclose)
        serving = asyncio.create_task(serve_stdio(rest))
        try:
            await _until(stop, serving)
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


async def _serve_http(config: Config, stop: asyncio.Event) -> None:
    from bot.runtime.headless import open_alone
    from bot.runtime.http import serve_rest_and_mcp

    async with open_alone(config) as (app, ports), serve_rest_and_mcp(app, ports) as running:
        app.lock.announce(running.rest.url)
        print(f"MCP: {running.mcp}", flush=True)
        await _until(stop, *running.ended)


async def _until(stop: asyncio.Event, *work: asyncio.Task[None]) -> None:
    """Waits for a signal or the end of one of these tasks, and raises its error. Signals are ignored afterwards."""
    stopping = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait([stopping, *work], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
    if stopping not in done:
        for task in done:
            task.result()
