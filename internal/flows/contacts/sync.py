"""Keeps an owner's people and an address book on a CardDAV server in step, both ways.

New data is copied to the other side. The owner's own edits win; nothing is deleted on either side: a line that
was removed on the server stays a fact here and is not written back, a card that was removed there stays a person, and
a person who was forgotten here stays on the server and does not come back.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Protocol
from urllib.parse import quote, unquote, urlsplit

from sqlalchemy import Connection

from internal.access import repository as users
from internal.events import repository as events
from internal.flows.contacts.carddav import BookUnavailable, CardChanged, CardDavBook
from internal.flows.contacts.exports import cards_to_push
from internal.flows.contacts.imports import ContactBook
from internal.flows.contacts.review import GONE, BookCard
from internal.import_formats.model import Unreadable
from internal.import_formats.vcard import Card, Property, read_cards, write_cards
from internal.people.contacts import repository as contacts
from internal.people.contacts.model import StoredContact
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

log = logging.getLogger(__name__)

AGAIN: Final = timedelta(minutes=5)


class SyncObserver(Protocol):
    def carddav_synced(self, outcome: str) -> None:
        """`outcome` is done or failed."""


@dataclass(slots=True)
class SyncReport:
    """The result. `conflicts` were changed on both sides at once and wait for the next time; `gone` are cards
    that the server has no more, whose people stay. `failed` is the reason why the server could not be used.
    """

    came: int = 0
    updated: int = 0
    sent: int = 0
    rewritten: int = 0
    conflicts: int = 0
    gone: int = 0
    failed: str = ""


@dataclass(eq=False)
class ContactSync:
    """The synchronisation of one owner's book."""

    database: Database
    clock: Clock
    book: ContactBook
    server: CardDavBook
    owner: int
    every: timedelta
    observer: SyncObserver
    _next: datetime | None = field(default=None, init=False)

    async def sync_due(self) -> None:
        """Synchronises if it is time; a job."""
        if self._next is None or self.clock.now() >= self._next:
            report = await self.sync()
            self._next = self.clock.now() + (AGAIN if report.failed else self.every)

    async def sync(self) -> SyncReport:
        """Synchronises now. If the server does not answer, an event and a metric record it."""
        report = SyncReport()
        with acting_for(self.owner):
            try:
                await self._pull(report)
                await self._push(report)
            except BookUnavailable as error:
                report.failed = str(error)
                log.warning("carddav_failed", extra={"reason": report.failed})
            kind = "carddav_failed" if report.failed else "carddav_synced"
            payload = {name: value for name in report.__slots__ if (value := getattr(report, name))}
            if payload:
                await self.database.write(lambda c: self._note(c, kind, payload))
        self.observer.carddav_synced("failed" if report.failed else "done")
        return report

    async def _pull(self, report: SyncReport) -> None:
        stored = {one.href: one for one in await self._stored()}
        there = await self.server.etags()
        report.gone = sum(href not in there for href in stored)
        changed = [href for href, etag in there.items() if href not in stored or stored[href].etag != etag]
        book_cards = []
        for card in await self.server.read(changed):
            try:
                book_cards.append(BookCard(read_cards(card.text)[0], card.href, card.etag))
            except Unreadable:
                log.warning("carddav_card_unreadable", extra={"href": card.href})
        if book_cards:
            host = urlsplit(self.server.url).hostname or "CardDAV"
            done = await self.book.take(self.owner, book_cards, source=host, book=self.server.url)
            report.came, report.updated = done.count("new"), done.count("updated")

    async def _push(self, report: SyncReport) -> None:
        now, known = self.clock.now(), {one.person_id: one for one in await self._stored()}
        cards = await self.database.read(lambda c: cards_to_push(c, users.get(c, self.owner), self.server.url, now=now))
        there = await self.server.etags() if cards else {}
        for person_id, card in cards.items():
            before = known.get(person_id)
            if before is not None and before.href not in there:
                continue  # removed on the server: it is not created again
            await self._write(person_id, card, before, report)

    async def _write(self, person_id: int, card: Card, before: StoredContact | None, report: SyncReport) -> None:
        uid = next((one.text for one in card if one.name == "UID"), "")
        if not uid:
            uid = f"laplaced-{person_id}-{self.clock.now():%Y%m%d%H%M%S}"
            card = [*card, Property("UID", uid)]
        name = quote(uid.rpartition(":")[2], safe="-_.")
        href = before.href if before is not None and before.href else unquote(self.server.path_of(name))
        try:
            sent = [one for one in card if one.name != GONE]
            etag = await self.server.put(quote(href), write_cards([sent]), before.etag if before else None)
        except CardChanged:
            report.conflicts += 1
            return
        report.rewritten += before is not None
        report.sent += before is None
        now = self.clock.now()
        base = before or StoredContact(self.owner, self.server.url, person_id, uid, "", now)
        # Without an etag the card is read again next time, and found unchanged.
        stored = replace(base, card=write_cards([card]), href=href, etag=etag, updated_at=now)
        await self.database.write(lambda c: contacts.save_contact(c, stored))

    async def _stored(self) -> list[StoredContact]:
        return await self.database.read(lambda c: contacts.listing(c, self.owner, self.server.url))

    def _note(self, connection: Connection, kind: str, payload: Mapping[str, object]) -> None:
        now = self.clock.now()
        events.append(connection, kind, source="system:contacts", now=now, user_id=self.owner, payload=dict(payload))
