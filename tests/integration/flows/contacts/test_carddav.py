"""An address book on a CardDAV server (Radicale) and the people of an owner are kept in step, both ways."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server

import httpx
import pytest
from radicale import Application, config
from support.flows.erase_stage import KEY, ErasingStage, LanguageHere
from support.flows.flow_stage import OWNER, Talk
from support.patience import PATIENCE_S

from internal.events import repository as events
from internal.flows.contacts.carddav import CardDavBook
from internal.flows.contacts.imports import ContactBook
from internal.flows.contacts.review import BookCard, cards_of
from internal.flows.contacts.sync import ContactSync, SyncReport
from internal.flows.merging import people as merging

MASHA = "\r\n".join(
    (
        "BEGIN:VCARD", "VERSION:3.0", "UID:masha-1", "FN:Марія Петренко", "N:Петренко;Марія;;;",
        "TEL;TYPE=CELL:+380671234567", "X-MOOD:sunny", "END:VCARD", "",
    )
)  # fmt: skip


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture(scope="module")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on loopback whose users need no password."""
    settings = config.load()
    folder = str(tmp_path_factory.mktemp("radicale"))
    settings.update({"auth": {"type": "none"}, "storage": {"filesystem_folder": folder}}, "tests")
    with make_server("127.0.0.1", 0, Application(settings), handler_class=Quiet) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Both:
    """The owner's people here and the cards there."""

    def __init__(self, talk: Talk, url: str) -> None:
        self.stage, self.url, self.outcomes = ErasingStage(talk), url, list[str]()
        self.book = ContactBook(talk.database, talk.clock, LanguageHere(), KEY)
        self.server = CardDavBook(url, "owner", "secret")
        hour = timedelta(hours=1)
        self.syncing = ContactSync(talk.database, talk.clock, self.book, self.server, OWNER, hour, self)

    def carddav_synced(self, outcome: str) -> None:
        self.outcomes.append(outcome)

    async def sync(self) -> SyncReport:
        self.stage.talk.clock.advance(60)
        return await self.syncing.sync()

    async def there(self, name: str, text: str | None = None, *, gone: bool = False) -> str:
        """Reads, writes or deletes a card on the server."""
        async with httpx.AsyncClient(trust_env=False, auth=("owner", "secret"), timeout=PATIENCE_S) as http:
            if gone:
                (await http.delete(f"{self.url}{name}.vcf")).raise_for_status()
            elif text is not None:
                kind = {"Content-Type": "text/vcard"}
                (await http.put(f"{self.url}{name}.vcf", content=text.encode(), headers=kind)).raise_for_status()
            answer = await http.get(f"{self.url}{name}.vcf")
            return answer.text if answer.is_success else ""

    async def cards(self) -> list[str]:
        return [card.text for card in await self.server.read(list(await self.server.etags()))]

    async def here(self) -> list[str]:
        return sorted(person.display_name for person in await self.stage.people())


@pytest.fixture
async def both(talk: Talk, radicale: str, request: pytest.FixtureRequest) -> AsyncIterator[Both]:
    url = f"{radicale}owner/{abs(hash(request.node.name))}/"
    body = (
        '<mkcol xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><set><prop><resourcetype>'
        "<collection/><C:addressbook/></resourcetype></prop></set></mkcol>"
    )
    async with httpx.AsyncClient(trust_env=False, auth=("owner", "secret"), timeout=PATIENCE_S) as http:
        (await http.request("MKCOL", url, content=body)).raise_for_status()
    pair = Both(talk, url)
    yield pair
    await pair.server.aclose()


async def test_both_sides_get_what_the_other_has(both: Both) -> None:
    """New cards come, people with a phone go; what neither side changed stays as it is, unknown properties too."""
    await both.there("masha", MASHA)
    oleh = "\r\n".join(("BEGIN:VCARD", "VERSION:3.0", "FN:Олег Коваль", "TEL:+380501112233", "END:VCARD", ""))
    await both.book.take(OWNER, [BookCard(card) for card in cards_of(oleh)], source="oleh.vcf")
    first = await both.sync()
    assert (first.came, first.sent, first.rewritten) == (1, 1, 0)
    assert await both.here() == ["Марія Петренко", "Олег Коваль"]
    assert sorted("Олег" in card for card in await both.cards()) == [False, True]
    again, third = await both.sync(), await both.sync()
    assert (again.came, again.updated, again.sent, again.rewritten) == (0, 0, 0, 0)
    assert third == SyncReport()
    assert "X-MOOD:sunny" in await both.there("masha")
    assert both.outcomes == ["done"] * 3


async def test_edits_go_both_ways_and_the_owners_win(both: Both) -> None:
    """A phone added there is a fact here; the owner's name for her goes there, and a title that he told of as well."""
    await both.there("masha", MASHA)
    await both.sync()
    [masha] = await both.stage.people()
    now = both.stage.talk.clock.now()
    await both.stage.talk.write(lambda c: merging.edit(c, OWNER, masha.id, {"display_name": "Маруся"}, now=now))
    await both.there("masha", MASHA.replace("X-MOOD", "EMAIL:masha@example.com\r\nX-MOOD"))
    report = await both.sync()
    assert (report.updated, report.rewritten) == (1, 1)
    assert ("HAS_EMAIL", "masha@example.com") in {(f.name, f.target_name) for f in await both.stage.facts()}
    card = await both.there("masha")
    assert "FN:Маруся" in card
    assert "EMAIL:masha@example.com" in card
    assert "X-MOOD:sunny" in card


async def test_nothing_is_deleted_on_either_side(both: Both) -> None:
    """A phone removed there stays a fact and is not written back; a card removed there stays a person here."""
    await both.there("masha", MASHA)
    await both.sync()
    await both.there("masha", MASHA.replace("TEL;TYPE=CELL:+380671234567\r\n", "TITLE:Engineer\r\n"))
    await both.sync()
    await both.sync()
    assert "TEL" not in await both.there("masha")
    assert ("HAS_PHONE", "+380671234567") in {(f.name, f.target_name) for f in await both.stage.facts()}
    await both.there("masha", gone=True)
    report = await both.sync()
    assert (report.gone, report.sent) == (1, 0)
    assert await both.cards() == []
    assert await both.here() == ["Марія Петренко"]


async def test_who_was_forgotten_does_not_come_back(both: Both) -> None:
    """The card stays on the server, and also a changed one brings nobody."""
    await both.there("masha", MASHA)
    await both.sync()
    [masha] = await both.stage.people()
    await both.stage.forget("person", str(masha.id))
    await both.there("masha", MASHA.replace("sunny", "rainy"))
    await both.sync()
    assert await both.here() == []
    assert len(await both.cards()) == 1


async def test_a_card_changed_on_both_sides_waits_for_the_next_time(both: Both) -> None:
    """Its etag does not fit any more: nothing of either change is lost."""
    await both.there("masha", MASHA)
    await both.sync()
    [masha] = await both.stage.people()
    now = both.stage.talk.clock.now()
    await both.stage.talk.write(lambda c: merging.edit(c, OWNER, masha.id, {"display_name": "Маруся"}, now=now))
    read = both.server.etags

    async def meanwhile() -> dict[str, str]:
        found = await read()
        both.server.etags = read  # type: ignore[method-assign] # once
        await both.there("masha", MASHA.replace("X-MOOD", "TITLE:Boss\r\nX-MOOD"))
        return found

    both.server.etags = meanwhile  # type: ignore[method-assign] # somebody writes right behind the reading
    assert (await both.sync()).conflicts == 1
    await both.sync()
    card = await both.there("masha")
    assert "FN:Маруся" in card
    assert "TITLE:Boss" in card


async def test_a_dead_server_is_an_event_and_a_metric(both: Both) -> None:
    """It is asked again in five minutes, and nobody is told in the chat."""
    both.server.url = "http://127.0.0.1:9/nowhere/"
    report = await both.sync()
    assert report.failed
    assert both.outcomes == ["failed"]
    kinds = await both.stage.talk.read(lambda c: [one.event_type for one in events.listing(c, OWNER, limit=50)])
    assert "carddav_failed" in kinds
