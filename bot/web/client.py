"""A client of the REST calls, of the running server over HTTP or of an application inside this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError
from starlette.types import ASGIApp

from internal.errors import LaplacedError

T = TypeVar("T")
Body = Mapping[str, Any] | bytes

TIMEOUT: Final = httpx.Timeout(10.0, read=300.0)
"""Seconds to connect, and to wait for a reply: a search may wait for an embedding model."""


class CallFailed(LaplacedError):
    """The call gave no usable answer."""


class CallRefused(CallFailed):
    """The server refused the call."""


class ServerUnreachable(CallFailed):
    """Nothing, or something other than Laplaced, answers at the server's address."""


class RestClient:
    """Calls REST. Every call raises CallRefused with the server's own words, and ServerUnreachable."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        unreachable: str = "the server does not answer",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._client, self._unreachable, self._headers = client, unreachable, headers

    @classmethod
    def inside(cls, web: ASGIApp, key: str) -> RestClient:
        """REST of an application in this process. Errors that the application does not answer are passed on."""
        transport = httpx.ASGITransport(web)
        return cls(httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=_headers(key)))

    @classmethod
    def of_server(
        cls, url: str, key: str, *, timeout: httpx.Timeout = TIMEOUT, unreachable: str = "the server does not answer"
    ) -> RestClient:
        """REST of the running server of this machine. `unreachable` is the message when it does not answer."""
        # The guard knows this machine as localhost, whichever address the server listens on. Proxies from the
        # environment must not come between two processes of one machine, and reading certificates takes 50 ms.
        headers = _headers(key) | {"Host": "localhost"}
        client = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, trust_env=False, verify=False)
        return cls(client, unreachable)

    def under(self, authorization: str) -> RestClient:
        """The same calls with this Authorization header."""
        return RestClient(self._client, self._unreachable, {"Authorization": authorization})

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return await self._json("GET", path, query, None)

    async def text(self, path: str, query: Mapping[str, Any] | None = None, body: Body | None = None) -> str:
        """The unparsed answer to a GET, or to a POST if there is a body."""
        return (await self._answer("GET" if body is None else "POST", path, query, body)).text

    async def send(
        self, method: str, path: str, body: Mapping[str, Any], query: Mapping[str, Any] | None = None
    ) -> Any:
        return await self._json(method, path, query, body)

    async def delete(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return await self._json("DELETE", path, query, None)

    async def post(self, path: str, body: Body, form: type[T]) -> T:
        """The answer to a POST, validated against its type."""
        answer = await self._answer("POST", path, None, body)
        try:
            return TypeAdapter(form).validate_json(answer.content)
        except ValidationError:
            raise self._stranger() from None

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _json(self, method: str, path: str, query: Mapping[str, Any] | None, body: Body | None) -> Any:
        answer = await self._answer(method, path, query, body)
        try:
            return answer.json() if answer.content else {}
        except ValueError:
            raise self._stranger() from None

    async def _answer(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: Body | None
    ) -> httpx.Response:
        params = {name: value for name, value in (query or {}).items() if value is not None}
        # Escaped to ASCII: a command's argument may hold half a surrogate pair, which UTF-8 cannot.
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        try:
            answer = await self._client.request(method, path, params=params, content=content, headers=self._headers)
        except httpx.HTTPError as error:
            raise ServerUnreachable(f"{self._unreachable}: {type(error).__name__}") from error
        if answer.is_error:
            raise CallRefused(_detail(answer))
        return answer

    def _stranger(self) -> ServerUnreachable:
        return ServerUnreachable(f"what answers at {str(self._client.base_url).rstrip('/')} is no Laplaced")


def _headers(key: str) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    return headers | ({"Authorization": f"Bearer {key}"} if key else {})


def _detail(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {answer.status_code}"
