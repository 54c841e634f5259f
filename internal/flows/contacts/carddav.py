"""An address book on a CardDAV server: lists, reads and writes its cards (RFC 6352), with their etags."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, urljoin, urlsplit
from xml.etree import ElementTree

import httpx

from internal.errors import LaplacedError

_DAV: Final = "{DAV:}"
_CARD: Final = "{urn:ietf:params:xml:ns:carddav}"
_AT_ONCE: Final = 50
"""The number of cards read by one request."""

_PATIENCE: Final = httpx.Timeout(30, connect=10)
_ETAGS: Final = '<propfind xmlns="DAV:"><prop><getetag/><getcontenttype/><resourcetype/></prop></propfind>'
_READ: Final = (
    '<C:addressbook-multiget xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">'
    "<prop><getetag/><C:address-data/></prop>{}</C:addressbook-multiget>"
)


class BookUnavailable(LaplacedError):
    """The server of an address book does not answer as it should."""


class CardChanged(LaplacedError):
    """A card was changed on the server since it was read."""


@dataclass(frozen=True, slots=True)
class ServerCard:
    """A card of the book: the path of its address, its etag, and its text."""

    href: str
    etag: str
    text: str


class CardDavBook:
    """One address book. Every call raises BookUnavailable."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self.url = url if url.endswith("/") else f"{url}/"
        login = httpx.BasicAuth(user, password) if user else None
        self._http = httpx.AsyncClient(auth=login, timeout=_PATIENCE, trust_env=False, follow_redirects=True)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def etags(self) -> dict[str, str]:
        """The etag of each card by its path."""
        body = await self._call("PROPFIND", self.url, _ETAGS, {"Depth": "1"})
        found = {}
        for href, prop in _responses(body):
            etag, kind = prop.findtext(f"{_DAV}getetag"), prop.findtext(f"{_DAV}getcontenttype") or ""
            folder = prop.find(f"{_DAV}resourcetype/{_DAV}collection") is not None
            if etag and not folder and ("vcard" in kind or href.endswith(".vcf")):
                found[href] = etag
        return found

    async def read(self, hrefs: Sequence[str]) -> list[ServerCard]:
        found = []
        for start in range(0, len(hrefs), _AT_ONCE):
            asked = "".join(f"<href>{_escaped(quote(href))}</href>" for href in hrefs[start : start + _AT_ONCE])
            for href, prop in _responses(await self._call("REPORT", self.url, _READ.format(asked), {"Depth": "1"})):
                text, etag = prop.findtext(f"{_CARD}address-data"), prop.findtext(f"{_DAV}getetag")
                if text and etag:
                    found.append(ServerCard(href, etag, text))
        return found

    async def put(self, href: str, text: str, etag: str | None) -> str | None:
        """Writes a card over the version with this etag, or (None) a new one. Returns its etag, if the server gives it.

        Raises CardChanged if the server has another version.
        """
        headers = {"If-Match": etag} if etag else {"If-None-Match": "*"}
        headers["Content-Type"] = "text/vcard; charset=utf-8"
        answer = await self._answer("PUT", urljoin(self.url, href), text, headers)
        if answer.status_code == httpx.codes.PRECONDITION_FAILED:
            raise CardChanged(href)
        self._check(answer)
        written: str | None = answer.headers.get("ETag")
        return written

    def path_of(self, name: str) -> str:
        return f"{urlsplit(self.url).path}{name}.vcf"

    async def _call(self, method: str, url: str, body: str, headers: dict[str, str]) -> bytes:
        answer = await self._answer(method, url, body, {"Content-Type": "application/xml; charset=utf-8", **headers})
        self._check(answer)
        return answer.content

    async def _answer(self, method: str, url: str, body: str, headers: dict[str, str]) -> httpx.Response:
        try:
            return await self._http.request(method, url, content=body.encode(), headers=headers)
        except httpx.HTTPError as error:
            raise BookUnavailable(type(error).__name__) from None

    @staticmethod
    def _check(answer: httpx.Response) -> None:
        if answer.is_error:
            raise BookUnavailable(f"HTTP {answer.status_code}")


def _responses(body: bytes) -> Iterator[tuple[str, ElementTree.Element]]:
    """The path and the properties of each thing in an answer."""
    try:
        tree = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        raise BookUnavailable("no XML") from None
    for response in tree.iter(f"{_DAV}response"):
        href = response.findtext(f"{_DAV}href")
        for state in response.iter(f"{_DAV}propstat"):
            prop = state.find(f"{_DAV}prop")
            if href and prop is not None and " 200" in (state.findtext(f"{_DAV}status") or " 200"):
                yield unquote(urlsplit(href.strip()).path), prop


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
