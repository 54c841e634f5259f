"""The tools' way to the memory: the REST calls of the very same server, so that both refuse and answer alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import httpx
from starlette.types import ASGIApp

from internal.errors import LaplacedError

PATIENCE: Final = httpx.Timeout(10.0, read=300.0)
"""A search may wait for an embedding model; only the connection itself must be quick."""


class CallRefused(LaplacedError):
    """The server refused the call."""


class Rest:
    """Calls REST, inside this process or of a running server. A call raises CallRefused with the server's own words."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    @classmethod
    def inside(cls, web: ASGIApp, key: str) -> Rest:
        """REST of an application in this very process."""
        # What nobody foresaw is raised here, since no server stands between that would log it.
        transport = httpx.ASGITransport(web)
        return cls(httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=_headers(key)))

    @classmethod
    def of_server(cls, url: str, key: str) -> Rest:
        """REST of the running server of this machine."""
        # The guard knows this machine as localhost, whatever address the server listens on. No proxy comes between.
        headers = _headers(key) | {"Host": "localhost"}
        return cls(httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE, trust_env=False, verify=False))

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return await self._call("GET", path, query, None)

    async def text(self, path: str, query: Mapping[str, Any] | None = None) -> str:
        """An answer that is no JSON."""
        return (await self._answer("GET", path, query, None)).text

    async def send(
        self, method: str, path: str, body: Mapping[str, Any], query: Mapping[str, Any] | None = None
    ) -> Any:
        return await self._call(method, path, query, body)

    async def delete(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return await self._call("DELETE", path, query, None)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _call(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: Mapping[str, Any] | None
    ) -> Any:
        answer = await self._answer(method, path, query, body)
        return answer.json() if answer.content else {}

    async def _answer(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: Mapping[str, Any] | None
    ) -> httpx.Response:
        params = {name: value for name, value in (query or {}).items() if value is not None}
        try:
            answer = await self._client.request(method, path, params=params, json=body)
        except httpx.HTTPError as error:
            raise CallRefused(f"the server does not answer: {type(error).__name__}") from error
        if answer.is_error:
            raise CallRefused(_detail(answer))
        return answer


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _detail(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {answer.status_code}"
