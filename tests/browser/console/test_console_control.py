"""The control room: who talks, what happens live, and why."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import expect
from sqlalchemy import Connection, insert
from support.product.console_product import ANNA, BORIS, CONVERSATION, House, Opened

from bot.simulation.player import Simulation
from bot.simulator.scenarios import loader
from bot.simulator.scenarios.plan import plan
from bot.web.admin.simulator import SimulatorOrder
from internal.events import repository as events
from internal.storage.tables import events as event_rows

pytestmark = pytest.mark.asyncio(loop_scope="session")

OpenPage = Callable[..., Awaitable[Opened]]
MANY = 100_000
PATIENCE_S = 10.0
"""For a page over a hundred thousand events, on two slow cores. Measured: see docs/console.md."""


async def tell(house: House, user_id: int, kind: str, source: str) -> str:
    now = house.app.clock.now()
    return await house.app.database.write(
        lambda c: events.append(c, kind, source=source, now=now, user_id=user_id, payload={"why": kind})
    )


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
async def test_an_event_leads_to_the_exact_words(open_page: OpenPage, scheme: str) -> None:
    """A click on a message shows what came of it and the model call, down to the exact words; jumps follow links."""
    opened = await open_page("/", color_scheme=scheme)
    page = opened.page
    message = page.locator(".event", has_text=CONVERSATION[0][0])
    await message.click()
    details = page.locator(".room-details")
    await expect(details.locator(".details-text")).to_have_text(CONVERSATION[0][0])
    await details.locator("details.call summary").click()
    await expect(details.locator("pre.reply")).to_have_text("Запомнила.")
    await opened.accessible()
    await details.get_by_role("button", name="Результат").first.click()
    await expect(details.locator("h2")).to_have_text("Результат")
    await expect(details.locator(".details-text")).to_have_text(CONVERSATION[0][1])
    await expect(page.locator(".event.chosen")).to_have_count(1)


async def test_what_people_say_stays_text(open_page: OpenPage) -> None:
    """In the timeline, in the words at the left and in the details: markup is shown, never run."""
    opened = await open_page("/")
    page = opened.page
    await page.locator(".event", has_text="onerror").first.click()
    await expect(page.locator(".details-text")).to_have_text(CONVERSATION[1][0])
    await expect(page.locator(".talk .said p", has_text="onerror")).to_have_text(CONVERSATION[1][0])
    assert await page.locator("img[src=x]").count() == 0
    assert await page.title() != "pwned"


async def test_new_events_come_by_themselves(house: House, open_page: OpenPage) -> None:
    """At the end they are followed; further up they are counted; a hidden lane stays hidden."""
    page = (await open_page(f"/?user={BORIS}", owner=None)).page
    await tell(house, BORIS, "first_of_all", "agent:Archivist")
    await expect(page.locator(".event", has_text="First of all")).to_be_visible()
    await page.locator(".follow").click()
    await expect(page.locator(".follow")).to_have_attribute("aria-pressed", "false")
    await tell(house, BORIS, "second_of_all", "agent:Archivist")
    await expect(page.locator(".fresh")).to_have_text("1")
    await page.locator(".follow").click()
    await expect(page.locator(".event", has_text="Second of all")).to_be_visible()
    await page.get_by_role("button", name="Archivist").click()
    await expect(page.locator(".event", has_text="Second of all")).to_have_count(0)
    await tell(house, BORIS, "third_of_all", "agent:Archivist")
    await tell(house, BORIS, "fourth_of_all", "agent:Analyst")
    await expect(page.locator(".event", has_text="Fourth of all")).to_be_visible()
    await expect(page.locator(".event", has_text="Third of all")).to_have_count(0)


async def test_an_owner_sees_nothing_of_another(house: House, open_page: OpenPage) -> None:
    """Neither in the timeline nor at the left, whatever the address says, and nothing of what comes live."""
    page = (await open_page(f"/?user={ANNA}", owner=BORIS)).page
    await expect(page.locator(".who")).to_have_count(1)
    await expect(page.locator(".who-name")).to_have_text("Boris")
    await tell(house, ANNA, "annas_secret", "agent:Archivist")
    await tell(house, BORIS, "what_is_boriss", "agent:Archivist")
    await expect(page.locator(".event", has_text="What is boriss")).to_be_visible()
    text = await page.locator("body").inner_text()
    assert "Annas secret" not in text
    assert CONVERSATION[0][0] not in text


async def test_a_simulation_is_held_resumed_hurried_and_started_anew(
    house: House, open_page: OpenPage, tmp_path: Path
) -> None:
    """By the buttons of its panel, which follows what others order, and is not an owner's to see."""
    simulation = Simulation(plan(loader.load("family"), 1), tmp_path, stay=True)
    house.lodger.moved_in = simulation
    try:
        opened = await open_page("/", owner=None)
        panel = opened.page.locator(".simulation")
        state = panel.locator(".chip")
        await expect(panel.locator("h2")).to_have_text(simulation.state().title or "")
        await expect(state).to_have_text("running")
        await panel.get_by_role("button", name="Pause").click()
        await expect(state).to_have_text("paused")
        assert simulation.state().state == "stopped"
        await opened.accessible()
        hour = panel.get_by_role("button", name="1 h/s")
        await hour.click()
        await expect(hour).to_have_attribute("aria-pressed", "true")
        assert simulation.state().speed == 3600
        await panel.get_by_role("button", name="Resume").click()
        await expect(state).to_have_text("running")
        await hour.focus()
        await simulation.order(SimulatorOrder(action="stop", speed=0))
        await expect(state).to_have_text("paused")
        await expect(panel.get_by_role("button", name="As fast as possible")).to_have_attribute("aria-pressed", "true")
        await expect(hour).to_be_focused()
        await panel.get_by_role("button", name="Start again").click()
        await expect(state).to_have_text("running")
        assert (simulation.state().state, simulation.state().acts) == ("running", 0)
        owners = (await open_page("/")).page
        await expect(owners.locator(".who-name")).to_have_text("Анна")
        assert await owners.locator(".simulation").count() == 0
    finally:
        house.lodger.moved_in = None


@pytest.mark.parametrize("width", [1280, 1024])
async def test_on_a_small_screen_everything_has_room(open_page: OpenPage, width: int) -> None:
    """The timeline keeps more than half of it, chosen event or not; no lane is cut, and nothing is wider."""
    opened = await open_page("/", viewport={"width": width, "height": 800})
    page = opened.page
    await expect(page.locator(".room-people")).to_be_visible()
    await page.locator(".event", has_text=CONVERSATION[0][0]).click()
    await expect(page.locator(".details-text")).to_be_visible()
    assert await page.evaluate("document.querySelector('.room-middle').clientWidth / innerWidth") > 0.48
    assert await page.locator(".lanes-list").evaluate("one => one.scrollWidth <= one.clientWidth")
    await opened.fits()


async def test_on_a_phone_details_lie_above_the_timeline(open_page: OpenPage) -> None:
    """And are closed again; nothing is wider than the screen, and no title of an event is cut."""
    opened = await open_page("/", viewport={"width": 320, "height": 780})
    page = opened.page
    await expect(page.locator(".event").first).to_be_visible()
    cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
    assert await page.locator(".event-head b").evaluate_all(cut) == []
    await page.locator(".event", has_text=CONVERSATION[0][0]).click()
    await expect(page.locator(".details-text")).to_be_visible()
    await opened.accessible()
    await page.get_by_role("button", name="Закрыть").first.click()
    await expect(page.locator(".details-text")).to_have_count(0)
    await opened.fits()
    of_all = await open_page(f"/?user={ANNA}", owner=None, viewport={"width": 240, "height": 780})
    await expect(of_all.page.locator(".who[aria-current] .who-name")).to_be_in_viewport()
    await of_all.fits()


@pytest.mark.long
async def test_a_hundred_thousand_events_stay_fast(house: House, open_page: OpenPage) -> None:
    """Only rows in sight exist; the newest are there soon, older ones follow as one scrolls."""
    now = house.app.clock.now()
    row = {"timestamp": now, "event_type": "agent_result", "source": "agent:Archivist", "user_id": BORIS}

    def crowd(connection: Connection) -> None:
        for start in range(0, MANY, 10_000):
            rows = [{**row, "id": f"crowd-{n}", "payload": {"n": n}} for n in range(start, start + 10_000)]
            connection.execute(insert(event_rows), rows)

    await house.app.database.write(crowd)
    began = time.perf_counter()
    page = (await open_page(f"/?user={BORIS}", owner=None)).page
    await expect(page.locator(".event", has_text=f"n: {MANY - 1}")).to_be_visible(timeout=PATIENCE_S * 1000)
    took = time.perf_counter() - began
    assert took < PATIENCE_S
    print(f"the control room over {MANY} events: {took:.2f} s")
    scroller = page.locator(".events")
    for loaded in (200, 400, 600):
        await scroller.evaluate("element => { element.scrollTop = 0 }")
        await expect(page.locator(".event", has_text=f"n: {MANY - loaded - 1}")).to_be_attached()
        assert await page.locator(".event").count() < 60
