"""Access to the server: a loopback or allowed Host, and a key or a session, checked before a request is read."""

import hmac
from collections.abc import Collection
from contextlib import AbstractContextManager
from hashlib import sha256

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.shared.hosts import Hosts
from bot.web.http.docs_page import DOCUMENTATION_PATHS
from bot.web.http.request_trigger import READING
from bot.web.http.sessions import ADMITTED, OWNER, Caller, Recognise, limit_to_owner, limited, owner_named
from internal.access.api_keys import PREFIX as KEY_PREFIX
from internal.access.console.service import SESSION_PREFIX
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone

METRICS_PATH = "/metrics"
OPEN_PATHS = frozenset({METRICS_PATH, "/healthz", "/readyz"})
"""Paths of probes and scrapers, without a key and with any host name. They contain no user's words."""

KEYLESS_PATHS = frozenset({"/", "/openapi.json"}) | DOCUMENTATION_PATHS
"""Paths without a key, for callers that use loopback or allowed names. They contain no user's data."""


CSRF_HEADER = "x-csrf-token"

READING_POSTS = frozenset({"/graph/search", "/graph/query"})
"""POST calls that only read, with their query in the body."""

CALLER = "laplaced.caller"
"""The scope's key for the Caller of a call that was made with a session or a named key."""

_RECOGNISED = (SESSION_PREFIX, KEY_PREFIX)


class Guard:
    """Answers 403 to a foreign Host (a page may rebind its own name to loopback), 401 without key or session.

    The server's key allows everything, and so does a session that was opened with it. A session or named key of an
    owner is limited to that owner: anything else is 404. A read-only key may read, and a call that changes something
    with a session needs the session's CSRF token, else it is 403. Without `limits` that is left to the application,
    which finds the Caller under CALLER in the scope.

    `own_secret` are paths with another secret, which their handlers check; `keyless` are files that
    contain no user's data, like KEYLESS_PATHS. Without `metrics_open` the metrics, which may name users, need the key.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        api_key: str,
        allowed_hosts: Collection[str],
        own_secret: Collection[str],
        keyless: Collection[str] = (),
        recognise: Recognise | None = None,
        metrics_open: bool = True,
        limits: bool = True,
    ) -> None:
        if not api_key:
            raise ValueError("without a key everybody could read everything")
        self._app = app
        self._key = _digest(api_key.encode())
        self._hosts = Hosts(allowed_hosts)
        self._keyless = KEYLESS_PATHS | frozenset(own_secret) | frozenset(keyless)
        self._recognise, self._limits = recognise, limits
        self._open = OPEN_PATHS if metrics_open else OPEN_PATHS - {METRICS_PATH}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        admitted = await self._admitted(scope)
        if isinstance(admitted, JSONResponse):
            await admitted(scope, receive, send)
        else:
            with limit_to_owner(admitted.get(OWNER)), _acting(admitted):
                await self._app(admitted, receive, send)

    async def _admitted(self, scope: Scope) -> Scope | JSONResponse:
        """The scope to continue with, or the refusal."""
        path, headers = scope["path"], Headers(scope=scope)
        if path in self._open:
            return scope
        if path not in OPEN_PATHS and not self._hosts.allow(headers.get("host", "")):
            return JSONResponse({"detail": "Host is neither loopback nor in server.allowed_hosts"}, 403)
        secret = _bearer(headers.get("authorization", ""))
        if path in self._keyless or self._key_fits(secret):
            return scope
        recognise = self._recognise
        if recognise is not None and secret.startswith(_RECOGNISED):

            async def admitted() -> bool:
                return await recognise(secret) is not None

            caller = await recognise(secret)
            if caller is not None:
                found = {**scope, ADMITTED: admitted, CALLER: caller}
                return self._limited(found, headers, caller) if self._limits else found
        detail = "Authorization: Bearer <server.api_key> is missing or wrong"
        return JSONResponse({"detail": detail}, 401, {"WWW-Authenticate": "Bearer"})

    @staticmethod
    def _limited(scope: Scope, headers: Headers, caller: Caller) -> Scope | JSONResponse:
        reads = scope.get("method", "GET") in READING
        if caller.read_only and not reads and scope["path"] not in READING_POSTS:
            return JSONResponse({"detail": "this key may only read"}, 403)
        token = headers.get(CSRF_HEADER, "").encode("latin-1")
        if caller.csrf is not None and not reads and not hmac.compare_digest(token, caller.csrf.encode()):
            return JSONResponse({"detail": "X-CSRF-Token is missing or not this session's"}, 403)
        if caller.user_id is None:
            return scope
        return limited(scope, caller.user_id) or JSONResponse({"detail": "there is no such thing"}, 404)

    def _key_fits(self, secret: str) -> bool:
        # Headers are read as Latin-1: encoded again, they are the bytes that were sent. Digests, as the time to
        # compare texts reveals the length of the key.
        return hmac.compare_digest(_digest(secret.encode("latin-1")), self._key)


def _acting(admitted: Scope) -> AbstractContextManager[None]:
    """Limits the store to the rows of the session's owner or of the owner in the address, if there is one."""
    owner = admitted[OWNER] if OWNER in admitted else owner_named(admitted)
    return acting_for_everyone() if owner is None else acting_for(owner)


def _digest(secret: bytes) -> bytes:
    return sha256(secret).digest()


def _bearer(authorization: str) -> str:
    """The secret of an Authorization header, or empty for another scheme."""
    scheme, _, secret = authorization.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""
