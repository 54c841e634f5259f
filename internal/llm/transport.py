"""HTTP to a model server: translates aiohttp's errors into ours and keeps secrets out of them."""

import asyncio
import ipaddress
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson

from internal.certificates import ssl_context
from internal.errors import ConfigurationError, ModelError, ModelRefused, ModelReplyInvalid, ModelUnavailable
from internal.llm.failures import from_status
from internal.llm.sse import EventStream

ALLOW_MODEL_REQUESTS = True
"""False in tests: then only loopback addresses may be called, so that no test costs money."""

RETRY_PAUSES = (0.1, 0.4)
"""Seconds before each repetition of a request whose connection broke before an answer. The caller handles outages."""
CONNECT_TIMEOUT = 10.0
ERROR_LIMIT = 64 * 1024
KEPT_S = 5.0
"""Seconds for which an unused connection is kept: some servers close theirs after the same time."""
SHORTEST_SECRET = 8
"""Characters of the shortest redacted key. Shorter ones such as "x" are placeholders and occur in replies by chance."""
REPLY_LIMIT = 8 * 1024 * 1024
"""Most bytes of a reply: 4,096 tokens are about 20 KiB, 32 vectors of 3,072 numbers as text 2.2 MiB."""


class ModelRequestsForbidden(ModelRefused):
    """Requests to real model providers are switched off (ALLOW_MODEL_REQUESTS)."""


@dataclass(frozen=True, slots=True)
class FormBody:
    """The body of a request and its content type."""

    body: bytes
    kind: str


class Endpoint:
    """One model server. Deadlines are times of the running event loop and cover everything up to the last byte."""

    def __init__(self, base_url: str, api_key: str = "", *, reply_limit: int = REPLY_LIMIT) -> None:
        """Raises ConfigurationError if the address or the key cannot be used; the message never holds the key."""
        url = _checked_url(base_url)
        user, password = unquote(url.username or ""), unquote(url.password or "")
        self._secrets = [secret for secret in (api_key.strip(), password) if len(secret) >= SHORTEST_SECRET]
        self._reply_limit = reply_limit
        self.host = url.hostname or ""
        self.local = _is_loopback(self.host)
        self._url = url._replace(netloc=url.netloc.rpartition("@")[2]).geturl()
        self._headers = _authorization(api_key.strip())
        if user and not api_key.strip():
            self._headers["Authorization"] = aiohttp.encode_basic_auth(user, password, "utf-8")
        # The environment's proxy is not used for this machine.
        self._proxy = None if self.local else _proxy_for(url)
        self._session: aiohttp.ClientSession | None = None

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, deadline: float) -> bytes:
        """Returns the whole answer. Raises what `post` raises."""
        async with self.open(path, None, deadline) as response:
            return await self._read(response, deadline, self._reply_limit)

    async def post(self, path: str, body: dict[str, Any] | FormBody, deadline: float) -> bytes:
        """Returns the whole answer. Raises ModelUnavailable, ModelRefused or ModelReplyInvalid (too long)."""
        async with self.open(path, body, deadline) as response:
            return await self._read(response, deadline, self._reply_limit)

    async def events(self, response: aiohttp.ClientResponse, until: Callable[[], float]) -> AsyncGenerator[str, None]:
        """Yields the data of each server-sent event of an opened response; `until` returns the next one's deadline."""
        stream, chunks, size = EventStream(), response.content.iter_any(), 0
        while (chunk := await self._next(chunks, until())) is not None:
            size += len(chunk)
            if size > self._reply_limit:
                raise ModelReplyInvalid("the reply is too long")
            for event in stream.feed(chunk):
                yield self._redact(event)
        for event in stream.finish():
            yield self._redact(event)

    @asynccontextmanager
    async def open(
        self, path: str, body: dict[str, Any] | FormBody | None, deadline: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Opens a successful response whose body is still to be read; raises the error of a status of 300 and above.

        Without a `body` the request is a GET.
        """
        content = body if not isinstance(body, dict) else _as_json(body)
        response = await self._send(path, content, deadline)
        try:
            if response.status >= 300:
                model = body.get("model", "") if isinstance(body, dict) else ""
                raise await self._refusal(response, deadline, str(model))
            yield response
        finally:
            response.release()

    async def read(self, response: aiohttp.ClientResponse, deadline: float) -> bytes:
        """Returns the whole body of an opened response."""
        return await self._read(response, deadline, self._reply_limit)

    def without_secrets(self, error: ModelError) -> ModelError:
        """Redacts the error's message, in which a key that was streamed in pieces is complete."""
        error.args = tuple(self._redact(str(arg)) for arg in error.args)
        return error

    async def _send(self, path: str, content: FormBody | None, deadline: float) -> aiohttp.ClientResponse:
        if not (ALLOW_MODEL_REQUESTS or self.local):
            raise ModelRequestsForbidden
        for pause in RETRY_PAUSES:
            try:
                return await self._attempt(path, content, deadline)
            except _Broken:
                await _sleep(pause, deadline)
        return await self._attempt(path, content, deadline)

    async def _attempt(self, path: str, content: FormBody | None, deadline: float) -> aiohttp.ClientResponse:
        verb, headers = ("GET", {}) if content is None else ("POST", {"Content-Type": content.kind})
        data = None if content is None else content.body
        asked: dict[str, Any] = {"data": data, "headers": self._headers | headers, "proxy": self._proxy}
        try:
            async with asyncio.timeout_at(deadline):
                return await self._client().request(verb, self._url + path, allow_redirects=False, **asked)
        except (aiohttp.ClientError, TimeoutError) as error:
            translated = self._translate(error)
        # Raised outside the handler, because aiohttp's exception holds the request with the key.
        raise translated

    def _client(self) -> aiohttp.ClientSession:
        """The connections, which belong to the running event loop."""
        if self._session is None:
            believes = ssl_context(self._url, environment=not self.local) or True
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=believes, keepalive_timeout=KEPT_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
            )
        return self._session

    async def _next(self, chunks: AsyncIterator[bytes], deadline: float) -> bytes | None:
        try:
            async with asyncio.timeout_at(deadline):
                return await anext(chunks, None)
        except (aiohttp.ClientError, TimeoutError) as error:
            translated = self._translate(error)
        raise translated

    async def _read(self, response: aiohttp.ClientResponse, deadline: float, limit: int) -> bytes:
        chunks, parts, size = response.content.iter_any(), [], 0
        while (chunk := await self._next(chunks, deadline)) is not None:
            parts.append(chunk)
            size += len(chunk)
            if size > limit:
                raise ModelReplyInvalid("the reply is too long")
        return self._redact_bytes(b"".join(parts))

    async def _refusal(self, response: aiohttp.ClientResponse, deadline: float, model: str) -> ModelError:
        try:
            body = (await self._read(response, deadline, ERROR_LIMIT)).decode("utf-8", "replace")
        except ModelError:
            body = ""
        try:
            answer: Any = json.loads(body)
        except (ValueError, RecursionError):
            answer = "" if "<html" in body.casefold() else body
        return from_status(response.status, answer, response.headers, model)

    def _redact(self, text: str) -> str:
        """Removes secrets: some providers quote the key back in replies of every status, 200 included."""
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text

    def _redact_bytes(self, body: bytes) -> bytes:
        for secret in self._secrets:
            body = body.replace(secret.encode(), b"[key]")
        return body

    def _translate(self, error: aiohttp.ClientError | TimeoutError) -> ModelError:
        """Returns our error with a fixed sentence, because aiohttp's may quote addresses and headers."""
        match error:
            case aiohttp.ClientConnectorError():
                return _Broken(f"the model server {self.host} cannot be reached")
            case TimeoutError():
                return ModelUnavailable(f"the model server {self.host} did not answer in time")
            case aiohttp.InvalidURL():
                return ModelRefused(f"no request can be made to the model server {self.host}")
            case _:
                return _Broken(f"the connection to the model server {self.host} broke")


class _Broken(ModelUnavailable):
    """The connection broke. Worth an immediate retry if no answer had begun."""


async def _sleep(seconds: float, deadline: float) -> None:
    await asyncio.sleep(max(0.0, min(seconds, deadline - asyncio.get_running_loop().time())))


def _checked_url(base_url: str) -> SplitResult:
    try:
        url = urlsplit(base_url.rstrip("/") + "/")
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError("the model server's base_url must be an http or https address")
    if url.query:
        raise ConfigurationError("the model server's base_url must have no query; the key belongs into api_key")
    return url


def _as_json(body: dict[str, Any]) -> FormBody:
    try:
        content = orjson.dumps(body)
    except TypeError:  # half a character, which is replaced
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return FormBody(content, "application/json")


def _authorization(api_key: str) -> dict[str, str]:
    if not api_key:
        return {}
    if not api_key.isascii() or not api_key.isprintable():
        raise ConfigurationError("the model server's api_key holds characters that no key has")
    return {"Authorization": f"Bearer {api_key}"}


def _proxy_for(url: SplitResult) -> str | None:
    """The proxy that the environment names for this address."""
    named = getproxies()
    proxy = named.get(url.scheme) or named.get("all")
    if not proxy or proxy_bypass(url.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
