"""The server of the local Telegram: Bot API, control API and chat page on one loopback address."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.simulator.server.bot_api import bot_api
from bot.simulator.server.control_api import control_api
from bot.simulator.server.group_api import group_api
from bot.simulator.server.webhook import Webhook
from bot.simulator.telegram import Telegram


def build(telegram: Telegram, *, storage: Path, local_only: bool = True) -> ASGIApp:
    """The whole application. `storage` is where the page library may keep its files."""
    webhook = Webhook(telegram)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        webhook.start()
        yield
        await webhook.stop()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(bot_api(telegram, webhook))
    app.include_router(control_api(telegram, webhook))
    app.include_router(group_api(telegram))
    # Read once, when NiceGUI is imported; without it NiceGUI makes a folder in the current directory.
    os.environ["NICEGUI_STORAGE_PATH"] = str(storage)
    from bot.simulator.page import mount

    mount(app, telegram)
    return LoopbackOnly(app) if local_only else SameOrigin(app)


class SameOrigin:
    """Refuses requests that a page of another site makes a browser send."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and not self.allowed(Headers(scope=scope)):
            if scope["type"] == "http":
                await PlainTextResponse("Forbidden", 403)(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        await self._app(scope, receive, send)

    def allowed(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        return origin is None or origin.split("://")[-1] == headers.get("host")


class LoopbackOnly(SameOrigin):
    """Refuses a Host that is not this machine, too: an attacker's DNS name may point here."""

    def allowed(self, headers: Headers) -> bool:
        host = headers.get("host", "")
        name = host[: host.rindex("]") + 1] if host.startswith("[") else host.split(":")[0]
        return name in {"127.0.0.1", "localhost", "[::1]"} and super().allowed(headers)
