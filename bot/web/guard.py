"""Who may call: a loopback or allowed Host, and the server's key, before anything of a request is read."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.web.documentation import DOCUMENTATION_PATHS

OPEN_PATHS = frozenset({"/metrics", "/healthz", "/readyz"})
"""Called by probes and scrapers, which know no key and name any host. They tell nothing that people said."""

KEYLESS_PATHS = frozenset({"/", "/openapi.json"}) | DOCUMENTATION_PATHS
"""Where to go from here, and how. Only on the machine itself and under allowed names; it tells of nobody."""


class Guard:
    """Answers 403 to a foreign Host (a page that rebinds its own name to loopback), 401 without the key.

    `own_secret` are paths whose callers bring another secret, which their handlers check.
    """

    def __init__(
        self, app: ASGIApp, *, api_key: str, allowed_hosts: Collection[str], own_secret: Collection[str]
    ) -> None:
        if not api_key:
            raise ValueError("without a key everybody could read everything")
        self._app = app
        self._key = api_key.encode()
        self._hosts = frozenset(_name(host) for host in allowed_hosts)
        self._own_secret = frozenset(own_secret)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] in {"http", "websocket"} else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        path, headers = scope["path"], Headers(scope=scope)
        if path in OPEN_PATHS:
            return None
        if not self._host_allowed(headers.get("host", "")):
            return JSONResponse({"detail": "Host is neither loopback nor in server.allowed_hosts"}, 403)
        if path in KEYLESS_PATHS | self._own_secret or self._key_fits(headers.get("authorization", "")):
            return None
        detail = "Authorization: Bearer <server.api_key> is missing or wrong"
        return JSONResponse({"detail": detail}, 401, {"WWW-Authenticate": "Bearer"})

    def _host_allowed(self, host: str) -> bool:
        name = _name(host)
        return name == "localhost" or name in self._hosts or _is_loopback(name)

    def _key_fits(self, authorization: str) -> bool:
        scheme, _, key = authorization.partition(" ")
        # Headers are read as Latin-1: written back, they are the bytes that were sent.
        return scheme.lower() == "bearer" and hmac.compare_digest(key.strip().encode("latin-1"), self._key)


def _name(host: str) -> str:
    """The host's name or address without its port, lower-case; empty for what is none."""
    try:
        return (urlsplit(f"//{host.strip()}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
