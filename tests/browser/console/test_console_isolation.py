"""Who came with a one-time link sees nothing of anybody else: not drawn, not in the page's source, not sent to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest
from playwright.async_api import Browser, Page, WebSocket
from sqlalchemy import Connection
from support.product.console_memory import CLARA, furnish_clara, trouble
from support.product.console_product import BORIS, House

from bot.console.pages import PAGES
from internal.access import repository as users
from internal.access.console import service as console
from internal.chronicle import repository as chronicle
from internal.dialogue import repository as dialogue
from internal.events import repository as events
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage.types import new_id
from internal.telemetry import call_repository

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLARAS: Final = ("Clara", "Marek", "Biscuit", "landlord", "Oksana", "Lisbon", "Meridian", "no JSON", "Zebedee")
"""Words that are in Clara's life only."""

_TOLD: Final = {"/costs": "Responder", "/health": ""}
"""What tells Clara's page from that of somebody without anything, where none of her words would stand."""

_LIVE: Final = {
    "/": ".events .event, .events-empty:not(:has-text('Loading'))",
    "/graph": ".graph-svg .node, .empty",
}
"""Pages that get what they show once they are open, and what shows that they got it, or that there is nothing."""


async def test_no_page_shows_another_owner_anything(house: House, chrome: Browser) -> None:
    """Boris asks for each page as Clara's, by her ids too: her own session has her words on them, and his has none."""
    ids = await _furnished(house)
    async with _entered(house, CLARA) as clara, _entered(house, BORIS) as boris:
        for page in PAGES:
            path = f"{page.path}?user={CLARA}"
            told = _TOLD.get(page.path)
            own = (await clara.get(path)).text
            assert page.path in _LIVE or (any(word in own for word in CLARAS) if told is None else told in own), path
            seen = (await boris.get(path)).text
            assert _hers(seen) == [], path
            assert not told or told not in seen, path
        for path in (f"/people?person={ids['person']}", f"/sessions?session={ids['session']}"):
            assert _hers((await clara.get(path)).text) != [], path
            assert _hers((await boris.get(f"{path}&user={CLARA}")).text) == [], path
        open_pages = ("/", f"/graph?node={ids['node']}")
        sent = {
            (name, path): await _sent(chrome, house, visitor, path)
            for name, visitor in (("clara", clara), ("boris", boris))
            for path in open_pages
        }
    assert all(_hers(sent["clara", path]) for path in open_pages)
    assert [path for path in open_pages if _hers(sent["boris", path])] == []


def _hers(text: str) -> list[str]:
    return [word for word in CLARAS if word in text]


async def _furnished(house: House) -> dict[str, Any]:
    """Clara's ids; she moves in if no other test had her do so."""

    def work(connection: Connection) -> dict[str, Any]:
        now = house.app.clock.now()
        if users.find(connection, CLARA) is None:
            furnish_clara(connection, now)
            trouble(connection, now)
        known = {"id": 0, "user_id": CLARA, "entity_id": new_id(), "display_name": "Zebedee", "bio": "Brother of Marek"}
        zebedee = Person(**known, circle=Circle.FRIENDS, first_seen=now, last_seen=now, mention_count=1)
        person = people.create(connection, zebedee, by="archivist", now=now)
        call_repository.add(connection, [{
            "id": "call-of-clara", "user_id": CLARA, "agent": "responder", "model": "model-of-Zebedee", "at": now,
            "duration_s": 1.0, "prompt_tokens": 1, "completion_tokens": 1, "cost_usd": 0.0,
            "prompt": [{"role": "user", "content": "Clara"}], "reply": "Clara", "error": None, "links": None,
        }])  # fmt: skip
        [said] = dialogue.recent(connection, CLARA, limit=1)
        told = {"source": f"user:{CLARA}", "now": now, "user_id": CLARA}
        events.append(connection, "notice_of_Zebedee", payload={"message": said.id, "why": "Zebedee"}, **told)
        return {
            "person": person.id,
            "node": person.entity_id,
            "session": chronicle.listing(connection, CLARA)[-1].id,
        }

    return await house.app.database.write(work)


@asynccontextmanager
async def _entered(house: House, owner: int) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who came in with a one-time link."""
    life, now = house.app.config.console.link_lifetime, house.app.clock.now()
    link = await house.app.database.write(lambda c: console.issue_link(c, owner, lifetime=life, now=now))
    async with httpx.AsyncClient(base_url=house.url, timeout=60) as visitor:
        assert (await visitor.post("/login", data={"link": link})).status_code == 303
        yield visitor


async def _sent(chrome: Browser, house: House, visitor: httpx.AsyncClient, path: str) -> str:
    """All that the server sent for a page until it showed something, over the WebSocket too."""
    context = await chrome.new_context(locale="en", reduced_motion="reduce")
    token = visitor.cookies["laplaced_session"]
    await context.add_cookies([{"name": "laplaced_session", "value": token, "url": house.url}])
    page, sent = await context.new_page(), list[str]()
    page.on("websocket", lambda socket: _listen(socket, sent))
    await page.goto(f"{house.url}{path}{'&' if '?' in path else '?'}user={CLARA}")
    await _settled(page, path)
    sent += [await page.content(), await page.locator("body").inner_text()]
    await context.close()
    return "\n".join(sent)


def _listen(socket: WebSocket, sent: list[str]) -> None:
    def received(frame: str | bytes) -> None:
        sent.append(frame if isinstance(frame, str) else frame.decode("utf-8", "replace"))

    socket.on("framereceived", received)


async def _settled(page: Page, path: str) -> None:
    """Shows something of its own, or says that there is nothing or that this is refused: not what lies hidden."""
    shown = page.locator(f"{_LIVE[path.partition('?')[0]]}, [role=alert]").filter(visible=True)
    await shown.first.wait_for(timeout=60_000)
    await page.wait_for_timeout(300)
