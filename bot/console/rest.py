"""The REST client of the console: it uses the token of the browser's session and has no rights of its own."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from internal.certificates import ssl_context

Json = dict[str, Any]

_CONNECT_S = 3.0
_PATIENCE = httpx.Timeout(30, connect=_CONNECT_S)
_SILENCE_S = 40.0
"""Seconds without data after which a live stream is dead; it sends something every 15 seconds."""


class RestError(Exception):
    """A failed call."""


class BotDown(RestError):
    """The bot does not answer, or its server failed."""


class LoggedOut(RestError):
    """The session has ended."""


class RefusedByServer(RestError):
    """The server refused a call, for the reason given; `status` is 403 to 429."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One server-sent event: its id and its data."""

    id: str
    value: Json


class ConsoleRest:
    """The API client of one browser session. `csrf` is known after the first call of `/console/me`."""

    def __init__(self, http: httpx.AsyncClient, token: str, csrf: str = "") -> None:
        self._http, self._token, self.csrf = http, token, csrf

    async def get(self, path: str, **query: Any) -> Any:
        """The JSON of a path; parameters that are None are left out, lists are repeated. Raises Trouble."""
        return await self._call("GET", path, query)

    async def post(self, path: str, body: Json | None = None, **query: Any) -> Any:
        return await self._call("POST", path, query, body or {})

    async def patch(self, path: str, body: Json, **query: Any) -> Any:
        return await self._call("PATCH", path, query, body)

    async def delete(self, path: str, **query: Any) -> Any:
        return await self._call("DELETE", path, query)

    async def stream(self, path: str, **query: Any) -> AsyncIterator[ServerSentEvent | None]:
        """Server-sent events as they come; None first, once connected. Raises Trouble when the stream ends."""
        timeout = httpx.Timeout(_SILENCE_S, connect=_CONNECT_S)
        try:
            async with self._http.stream(
                "GET", path, params=_parameters(query), headers=self._headers(), timeout=timeout
            ) as answer:
                if answer.status_code != httpx.codes.OK:
                    await answer.aread()
                    _raise(answer)
                yield None
                event_id = ""
                async for line in answer.aiter_lines():
                    name, _, value = line.partition(": ")
                    if name == "id":
                        event_id = value
                    elif name == "data":
                        yield ServerSentEvent(event_id, json.loads(value))
        except httpx.HTTPError as error:
            raise BotDown(str(error)) from error
        raise BotDown("the stream ended")

    async def _call(self, method: str, path: str, query: Mapping[str, Any], body: Json | None = None) -> Any:
        if not self._token:
            raise LoggedOut
        try:
            answer = await self._http.request(
                method, path, params=_parameters(query), json=body, headers=self._headers()
            )
        except httpx.HTTPError as error:
            raise BotDown(str(error)) from error
        if answer.is_error:
            _raise(answer)
        return answer.json() if answer.content else None

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "X-CSRF-Token": self.csrf}


def segment(value: object) -> str:
    """A quoted path segment: whatever it contains, it cannot lead to another call."""
    quoted = quote(str(value), safe="")
    # Quoting leaves dots unchanged, and `..` would lead to a parent path.
    return quoted.replace(".", "%2E") if quoted in {".", ".."} else quoted


def client(address: str) -> httpx.AsyncClient:
    """Connections to the API, shared by all sessions; cookies are not kept."""
    # Every open control room holds one connection for its live stream.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    verify = ssl_context(address)
    return httpx.AsyncClient(base_url=address, timeout=_PATIENCE, limits=limits, trust_env=False, verify=verify)


def _parameters(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


def _raise(answer: httpx.Response) -> None:
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        raise LoggedOut
    if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise BotDown(str(answer.status_code))
    try:
        detail = str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        detail = answer.reason_phrase
    raise RefusedByServer(answer.status_code, detail)
