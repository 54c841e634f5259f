"""Builds the HTTP application over an opened product, for the bot and for commands that work without one."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from fastapi import FastAPI

from bot.application.app import App
from bot.application.owner_data import OwnerData, import_agents
from bot.console.launch import ConsoleSetup, console_at
from bot.mcp.http import PATH, McpServer
from bot.shared.hosts import is_loopback
from bot.web.activity.chronicle import Chronicle
from bot.web.admin.console_login import Console
from bot.web.admin.operations import Examine, Operations
from bot.web.admin.simulator import Simulator
from bot.web.graph.cypher import Cypher
from bot.web.graph.episodes import EpisodeIntake
from bot.web.graph.router import Graph
from bot.web.http.owners import Allows, Owners
from bot.web.memory.nodes import MemoryPorts, memory_eraser
from bot.web.server.app import build_web
from bot.web.server.ports import WebPorts
from bot.web.server.telegram_webhook import Webhook
from bot.web.server.uvicorn import Listener, RunningServer, listening, serving, serving_on
from internal.access.api_keys import ApiKeys
from internal.config.settings import Config
from internal.flows.transfer.imports import Importer
from internal.memory.plasticity.maintenance import MaintenanceReport
from internal.storage.files.keys import ensure_key
from internal.telemetry.logs import redact


@dataclass(frozen=True, slots=True)
class ServerPorts:
    """The ports that depend on the process that serves the application.

    `poll_fresh` is a port of `/readyz`; `chat_page` the local Telegram's address, if the bot uses it; `simulator`
    drives the virtual users, if there are any. `bot_token` is what Telegram signs the Mini App's visitors with.
    """

    allows: Allows
    operations: Operations
    examine: Examine
    poll_fresh: Callable[[], bool] = lambda: True
    webhook: Webhook | None = None
    chat_page: str | None = None
    simulator: Simulator | None = None
    bot_token: str = ""


def server_key(app: App) -> str:
    """The key of REST and MCP: the configured one, else the one in the data folder, made on first use."""
    key = app.config.server.api_key.get_secret_value() or ensure_key(app.config.data_dir, "server_api_key")
    redact.register(key)
    return key


METRICS_KEYED: Final = (
    "/metrics names users and can be reached from elsewhere (server.host), so it needs the server's key or a named "
    "one; with metrics.identity hashed or off it needs none."
)


def metrics_open(config: Config) -> bool:
    """Whether the metrics need no key: they contain no names, or cannot be reached from other machines."""
    return config.metrics.identity != "raw" or is_loopback(config.server.host)


def web_of(
    app: App,
    ports: ServerPorts,
    *,
    stopping: asyncio.Event,
    mcp: str | None = None,
    console: str | None = None,
    caller_key: str = "",
) -> FastAPI:
    """The application. `mcp` and `console` are addresses to show; `stopping` ends streams. `caller_key` is
    sent by the console's process.

    Raises ConfigurationError.
    """
    config = app.config

    async def erase(user_id: int, episode_id: str) -> None:
        await app.eraser.erase_now(user_id, "episode", episode_id)

    async def erase_file(user_id: int, message_id: str) -> None:
        await app.eraser.erase_now(user_id, "message", message_id)
        await app.unused_files.delete_due()

    async def maintain(user_id: int, dry_run: bool) -> MaintenanceReport:
        return await app.nights.maintain(user_id, dry_run=dry_run)

    async def publish_imported() -> None:
        await app.restore()
        app.ticker.wake()

    agents, searches = import_agents(config), app.searches
    intake = EpisodeIntake(agents, app.ticker.wake, erase)
    owners = Owners(app.database, ports.allows, allowed=config.access.allowed_user_ids, admit_all=config.local_telegram)
    return build_web(
        WebPorts(
            database=app.database,
            metrics=app.metrics,
            clock=app.clock,
            api_key=server_key(app),
            allowed_hosts=config.server.hosts,
            owners=owners,
            poll_fresh=ports.poll_fresh,
            archive=app.archive,
            graph=Graph(searches.knowledge, searches.finder, intake, searches.messages),
            eraser=app.eraser,
            memory=MemoryPorts(memory_eraser(app.eraser), maintain, searches.knowledge, app.nights.plasticity),
            files=erase_file,
            cypher=Cypher(app.mirrors.query, app.mirrors.rebuild),
            chronicle=Chronicle(app.chronicle_audit, config.persona.name),
            recall=searches.overview,
            examine=ports.examine,
            operations=ports.operations,
            importer=Importer(app.database, app.clock, agents, owners, woken=app.ticker.wake),
            owner_data=OwnerData(
                app.database, app.clock, app.eraser, config.data_dir, app.artifacts, on_import=publish_imported
            ),
            simulator=ports.simulator,
            webhook=ports.webhook,
            console=Console(server_key(app), caller_key, config.console.session_lifetime, console, ports.bot_token),
            chat_page=ports.chat_page,
            mcp=mcp,
            whole_day_at=app.config.notifications.whole_day_at,
            daily_limit_usd=config.access.daily_cost_usd,
            stopping=stopping,
            metrics_open=metrics_open(config),
            keys=ApiKeys(config.data_dir),
            contacts=app.contacts,
            maps=app.people_maps,
            reflections=app.reflections,
            life=app.life,
            contact_sync=app.contact_sync,
        )
    )


@dataclass(frozen=True, slots=True)
class RunningServers:
    """The running servers. `mcp` is the address of the tools, `console` that of the pages, if there are any.

    The tasks in `ended` are done only if a server ends before its time.
    """

    rest: RunningServer
    mcp: str
    console: str | None
    ended: Sequence[asyncio.Task[None]]


@contextlib.asynccontextmanager
async def serve_rest_and_mcp(app: App, ports: ServerPorts) -> AsyncIterator[RunningServers]:
    """REST on `server.port` and MCP on `mcp.port` until the block ends. Raises ConfigurationError."""
    server, stopping = app.config.server, asyncio.Event()
    async with contextlib.AsyncExitStack() as stack:
        rest = listening(server.host, server.port, "server.port")
        stack.callback(rest.close)
        mcp = listening(server.host, app.config.mcp.port, "mcp.port")
        stack.callback(mcp.close)
        address = f"{mcp.url}{PATH}"
        pages = _console_listener(app, stack)
        console = None if pages is None else app.config.console.url or pages.url
        caller_key = secrets.token_urlsafe()
        web = web_of(app, ports, stopping=stopping, mcp=address, console=console, caller_key=caller_key)
        tools = McpServer(web, server_key(app), server.allowed_hosts, ApiKeys(app.config.data_dir))
        stack.push_async_callback(tools.close)
        proxies = server.trusted_proxies
        calls = await stack.enter_async_context(serving_on(rest, web, trusted_proxies=proxies))
        tool_calls = await stack.enter_async_context(serving_on(mcp, tools.guarded, trusted_proxies=proxies))
        if pages is not None:
            await stack.enter_async_context(console_at(_setup(app, pages, calls.url, caller_key)))
        stack.callback(stopping.set)
        yield RunningServers(calls, address, console, [calls.ended, tool_calls.ended])


def _console_listener(app: App, stack: contextlib.AsyncExitStack) -> Listener | None:
    """Listens now, so that a port in use ends the start. None if the console is switched off."""
    if not app.config.console.enabled:
        return None
    pages = listening(app.config.server.host, app.config.server.console_port, "server.console_port")
    stack.callback(pages.close)
    return pages


def _setup(app: App, pages: Listener, rest: str, caller_key: str) -> ConsoleSetup:
    config = app.config
    public = urlsplit(config.console.url)
    return ConsoleSetup(
        pages.socket,
        rest,
        config.data_dir / "console",
        allowed_hosts=[*config.server.allowed_hosts, *filter(None, [public.hostname])],
        trusted_proxies=config.server.trusted_proxies,
        secure=public.scheme == "https",
        caller_key=caller_key,
    )


@contextlib.asynccontextmanager
async def served_for_commands(app: App, ports: ServerPorts) -> AsyncIterator[tuple[RunningServer, FastAPI]]:
    """REST for this machine's other commands on a free port, and the application itself."""
    stopping = asyncio.Event()
    web = web_of(app, ports, stopping=stopping)
    async with serving(web, "127.0.0.1", 0) as server:
        try:
            yield server, web
        finally:
            stopping.set()
