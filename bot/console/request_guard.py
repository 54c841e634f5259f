"""Checks a request before any page sees it: its Host, and its Origin."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.shared.hosts import Hosts

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # A link in a message must not tell its target on which page it was read.
    "Referrer-Policy": "same-origin",
    # The page library compiles its templates in the browser, hence 'unsafe-eval'; nothing is loaded from elsewhere.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'self'"
    ),
}


class RequestGuard:
    """Refuses requests sent by pages of other sites, and host names that an attacker points here."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
        elif self._allowed(Headers(scope=scope)):
            await self._pass(scope, receive, _with_headers(send))
        elif scope["type"] == "http":
            await PlainTextResponse("Forbidden", 403)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = False

        async def received() -> Message:
            nonlocal gone
            message = await receive()
            gone = gone or message["type"] == "http.disconnect"
            return message

        try:
            await self._app(scope, received, send)
        except RuntimeError:  # the page library's middlewares fail when a visitor leaves before the answer
            if not gone:
                raise

    def _allowed(self, headers: Headers) -> bool:
        host, origin = headers.get("host", ""), headers.get("origin")
        return self._hosts.allow(host) and (origin is None or origin.split("://")[-1] == host)


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_HEADERS)
        await send(message)

    return sent
