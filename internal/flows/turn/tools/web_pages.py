"""Reads public web pages and asks a search engine. What a page says is somebody else's word, and is not stored.

A page is fetched from the address that was checked: the name is resolved once, every answer must be public, and the
connection goes to that address, at every redirect again. A name that resolves differently later has no effect.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import urljoin, urlsplit

import httpx

from internal.errors import ModelUnavailable
from internal.language.text.page_text import main_text
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker

MOST_BYTES: Final = 2_000_000
MOST_CHARACTERS: Final = 8_000
"""The most characters of a page's text; more would crowd out the conversation."""
MOST_REDIRECTS: Final = 5
SECONDS: Final = 12.0
"""Seconds for a whole page with its redirects: the user is waiting."""
MOST_FOUND: Final = 6
_TYPES: Final = ("text/html", "application/xhtml+xml", "text/plain")
_MAPPED: Final = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""IPv4 addresses in IPv6 ones, which a gateway may lead into the local network."""
_ADDRESS: Final = re.compile(
    r"https?://[^\s<>\"'«»]+|(?<![\w@.])(?:[\w-]+\.)+[a-zа-яіїє]{2,}(?:/[^\s<>\"'«»]*)?", re.IGNORECASE
)
_TITLE: Final = 200


class PageRefused(Exception):
    """A page cannot be read; the message tells the model why."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page's address after redirects, its title and main text."""

    url: str
    title: str
    text: str


class Settings(Protocol):
    """The configuration of web access."""

    @property
    def read_pages(self) -> bool: ...

    @property
    def search_provider(self) -> str: ...

    @property
    def search_url(self) -> str: ...


Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def addresses_of(host: str, port: int) -> Sequence[str]:
    """The addresses of a name. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in found))


def is_public(address: str) -> bool:
    """Whether an IP address is public: not in the local network, not multicast, not reserved."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is not None or any(ip in network for network in _MAPPED):
            return inner is not None and is_public(str(inner))
    return ip.is_global and not ip.is_multicast


@dataclass(slots=True)
class Web:
    """Reads pages and searches. `resolve` and `public` exist for tests, which have no internet."""

    settings: Settings
    worker: LanguageWorker
    resolve: Resolve = field(default=addresses_of)
    public: Callable[[str], bool] = field(default=is_public)

    @property
    def reads(self) -> bool:
        return self.settings.read_pages

    @property
    def searches(self) -> bool:
        return self.settings.search_provider != "none" and bool(self.settings.search_url)

    async def read(self, url: str) -> WebPage:
        """The main text of a page. Raises PageRefused."""
        try:
            async with asyncio.timeout(SECONDS):
                address, kind, body = await self._fetched(url)
        except TimeoutError:
            raise PageRefused("the page takes too long") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            raise PageRefused(f"the page cannot be reached ({type(error).__name__})") from None
        if kind == "text/plain":
            title, text = "", body.decode("utf-8", "replace")
        else:
            try:
                title, text = await self.worker.run_bulk(main_text, body)
            except (ModelUnavailable, LanguageCallFailed):
                raise PageRefused("the page cannot be read now") from None
        if not text.strip():
            raise PageRefused("the page has no text")
        return WebPage(address, title[:_TITLE], text[:MOST_CHARACTERS])

    async def search(self, query: str, language: str) -> list[WebPage]:
        """The results of the search engine, whose configured address may be in the local network."""
        base = self.settings.search_url.rstrip("/")
        asked = {"q": query, "format": "json", "language": language}
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=SECONDS) as client:
                answer = await client.get(f"{base}/search", params=asked)
                answer.raise_for_status()
                found = answer.json()["results"]
            return [_hit(one) for one in found if urlsplit(str(one.get("url"))).scheme in ("http", "https")][
                :MOST_FOUND
            ]
        except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise PageRefused(f"the search does not answer ({type(error).__name__})") from None

    async def _fetched(self, url: str) -> tuple[str, str, bytes]:
        """The address after redirects, the type, and the bytes."""
        async with httpx.AsyncClient(trust_env=False, timeout=SECONDS, headers=_HEADERS) as client:
            for _ in range(MOST_REDIRECTS + 1):
                request = await self._request(client, url)
                answer = await client.send(request, stream=True)
                try:
                    if answer.has_redirect_location:
                        url = urljoin(url, answer.headers["location"])
                        continue
                    return url, _type_of(answer), await _body(answer)
                finally:
                    await answer.aclose()
        raise PageRefused("the page redirects too often")

    async def _request(self, client: httpx.AsyncClient, url: str) -> httpx.Request:
        """A request to the checked address of a name, with the name as its host."""
        asked = httpx.URL(url)
        if asked.scheme not in ("http", "https") or not asked.host or asked.userinfo:
            raise PageRefused("only http and https addresses without a password can be read")
        port = asked.port or (443 if asked.scheme == "https" else 80)
        name = asked.raw_host.decode("ascii").strip("[]")
        found = await self.resolve(name, port)
        if not found or not all(map(self.public, found)):
            raise PageRefused("only public addresses can be read")
        request = client.build_request("GET", asked.copy_with(host=found[0], fragment=None))
        request.headers["host"] = asked.netloc.decode("ascii")
        request.extensions["sni_hostname"] = name
        return request


_HEADERS: Final = {"accept": "text/html, text/plain;q=0.8", "accept-encoding": "identity", "user-agent": "Laplaced"}


def _type_of(answer: httpx.Response) -> str:
    if answer.status_code != httpx.codes.OK:
        raise PageRefused(f"the page answers with status {answer.status_code}")
    kind: str = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _TYPES:
        raise PageRefused("only pages of text can be read")
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise PageRefused("the page comes packed, which was not asked for")
    return kind


async def _body(answer: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > MOST_BYTES:
            raise PageRefused("the page is too large")
    return bytes(body)


def _hit(one: dict[str, Any]) -> WebPage:
    return WebPage(
        str(one["url"]), str(one.get("title") or "")[:_TITLE], " ".join(str(one.get("content") or "").split())[:400]
    )


def stands_in(url: str, texts: Sequence[str]) -> bool:
    """Whether an address, or its site if it has no query, was written in these texts: models must not invent addresses.

    A page could make a model request an address that carries the owner's words away.
    """
    written = [found.rstrip(".,;:!?)]") for text in texts for found in _ADDRESS.findall(text)]
    if url in written or url.rstrip("/") in {one.rstrip("/") for one in written}:
        return True
    asked = urlsplit(url)
    hosts = {(urlsplit(one if "//" in one else f"//{one}").hostname or "").removeprefix("www.") for one in written}
    return not asked.query and asked.path in ("", "/") and (asked.hostname or "").removeprefix("www.") in hosts
