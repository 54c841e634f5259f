"""MCP over streamable HTTP: behind the same guard as REST, built with the first call."""

import asyncio
import contextlib
from collections.abc import Collection
from typing import Final, Protocol

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.web.client import RestClient
from bot.web.http.body_limit import LARGEST_BODY
from bot.web.http.guard import Guard
from bot.web.http.sessions import Caller
from internal.access.api_keys import ApiKeys

PATH: Final = "/mcp"


class SessionManager(Protocol):
    """The SDK's session manager."""

    def run(self) -> contextlib.AbstractAsyncContextManager[None]: ...


class McpServer:
    """An application that serves the tools at PATH. It costs nothing until it is used.

    The SDK is imported by a thread, in a second and a half, when the first call comes that has passed the guard.
    """

    def __init__(self, web: ASGIApp, api_key: str, allowed_hosts: Collection[str], keys: ApiKeys | None = None) -> None:
        async def named(secret: str) -> Caller | None:
            key = keys.find(secret) if keys is not None else None
            return None if key is None else Caller(key.user_id, key.read_only)

        # REST checks what a key may reach: every tool calls it with the caller's own key.
        self.guarded: ASGIApp = Guard(
            self._serve, api_key=api_key, allowed_hosts=allowed_hosts, own_secret=(), recognise=named, limits=False
        )
        self._rest = RestClient.inside(web, api_key)
        self._one_building = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._app: ASGIApp | None = None
        self._running: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Ends every session."""
        self._stopping.set()
        if self._running is not None:
            await self._running
        await self._rest.aclose()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"].rstrip("/") != PATH:
            await JSONResponse({"detail": f"MCP is at {PATH}"}, 404)(scope, receive, send)
            return
        if scope["method"] != "POST":
            # Streams for messages of the server are optional; there are none, and open ones would delay a stop.
            detail = {"detail": "every call is a POST of its own"}
            await JSONResponse(detail, 405, {"Allow": "POST"})(scope, receive, send)
            return
        async with self._one_building:
            app = self._app = self._app or await self._build()
        await app(scope, receive, send)

    async def _build(self) -> ASGIApp:
        app, sessions = await asyncio.to_thread(self._application)
        ready = asyncio.Event()

        async def run() -> None:
            # One task must enter and leave it: its task group requires that.
            async with sessions.run():
                ready.set()
                await self._stopping.wait()

        self._running = asyncio.create_task(run(), name="mcp-sessions")
        await ready.wait()
        return app

    def _application(self) -> tuple[ASGIApp, SessionManager]:
        from bot.mcp.server import application

        return application(self._rest, PATH, LARGEST_BODY)
