"""The graph: opened node by node, as it was at a day, by kinds, as a drawing and as a list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect
from support.product.console_people import HOSTILE, LONELY, VIRA, Acquaintances, acquainted
from support.product.console_product import House, Opened

pytestmark = pytest.mark.asyncio(loop_scope="session")

OpenPage = Callable[..., Awaitable[Opened]]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def known(house: House) -> Acquaintances:
    return await acquainted(house)


UNDER_NAMES = """() => {
  const names = [...document.querySelectorAll(".names text")].map((one) => one.getBoundingClientRect());
  return [...document.querySelectorAll(".edge text")].filter((one) => {
    const box = one.getBBox(), on = one.getScreenCTM();
    return [...Array(21).keys()].some((n) => {
      const at = new DOMPoint(box.x + (box.width * n) / 20, box.y + box.height / 2).matrixTransform(on);
      return names.some((name) => at.x > name.left && at.x < name.right && at.y > name.top && at.y < name.bottom);
    });
  }).map((one) => one.textContent);
}"""
"""The words on lines that are written over the name of a node."""


def node(page: Page, name: str) -> Locator:
    return page.locator(".graph-svg").get_by_role("button", name=name)


async def test_one_goes_from_node_to_node(open_page: OpenPage, known: Acquaintances) -> None:
    """From Maria to what holds of her, to a memory and a conversation; receipts, search, and on to the next node."""
    opened = await open_page(f"/graph?node={known.maria}", owner=VIRA)
    page, details = opened.page, opened.page.locator(".graph-details")
    await expect(details.get_by_role("heading", name="Maria Koval")).to_be_visible()
    for name in ("Vector, Organization", "Vira, User", "Tea with Maria by the river., Memory"):
        await expect(node(page, name)).to_be_visible()
    await expect(node(page, "Rubin")).to_have_count(0)
    await details.get_by_role("button", name="Sources: Maria Koval works for Vector.").click()
    await expect(details.locator("blockquote")).to_contain_text("Maria Koval works for Vector.")
    await opened.accessible()
    await page.get_by_role("button", name="Memories").click()
    await expect(node(page, "Tea with Maria")).to_have_count(0)
    await page.get_by_role("button", name="Memories").click()
    talk = page.locator(f'[data-node="{known.session}"]')
    await talk.click()
    await details.get_by_role("button", name="Expand").click()
    await expect(node(page, "Where does Maria work?, Request")).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.type("Vector")
    await page.locator(".graph-found").get_by_role("button", name="Vector").click()
    await expect(details.get_by_role("heading", name="Vector")).to_be_visible()
    await details.get_by_role("button", name="works for Maria Koval").click()
    await expect(details.get_by_role("link", name="Profile")).to_have_attribute(
        "href", f"/people?user={VIRA}&person={known.ids['Maria Koval']}"
    )


async def test_the_owner_stands_among_his_people_with_whole_names(open_page: OpenPage, known: Acquaintances) -> None:
    """Linked by circle, each name as wide as there is room, under no word; what is pointed at tells its whole name."""
    opened = await open_page("/graph", owner=VIRA)
    page, details = opened.page, opened.page.locator(".graph-details")
    for tie in ("family Maria Koval", "close colleague Petro Bondar", "knows Mariia K."):
        await expect(details.get_by_role("button", name=tie, exact=True)).to_be_visible()
    said = [" ".join(await one.locator("text").all_text_contents()) for one in await page.locator(".edge.near").all()]
    assert "close colleague" in said
    assert "…" not in "".join(said)
    assert await page.evaluate(UNDER_NAMES) == []
    names = page.locator(".names text")
    await expect(names.filter(has_text="Petro Bondar")).to_have_count(1)
    hostile = names.filter(has_text="<b")
    await expect(hostile).to_contain_text("…")
    await node(page, HOSTILE).hover()
    await expect(hostile).to_have_text(HOSTILE.replace(" ", ""))


async def test_the_graph_as_it_was_at_a_day(open_page: OpenPage, known: Acquaintances) -> None:
    """What has ended since is there again, what came later is not."""
    opened = await open_page(f"/graph?node={known.maria}", owner=VIRA)
    page = opened.page
    await expect(node(page, "Vector")).to_be_visible()
    day = page.locator('input[type="range"]')
    today = int(await day.get_attribute("max") or 0)
    await day.fill(str(today - 200))
    await expect(node(page, "Rubin")).to_be_visible()
    await expect(node(page, "Vector")).to_have_count(0)
    await expect(node(page, "Tea with Maria")).to_have_count(0)


async def test_the_graph_by_keyboard_and_as_a_list(open_page: OpenPage, known: Acquaintances) -> None:
    """Arrows go from node to node, Enter opens one; the list has the same nodes."""
    opened = await open_page(f"/graph?node={known.maria}", owner=VIRA)
    page = opened.page
    await node(page, "Maria Koval").focus()
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        await page.keyboard.press(key)
    await expect(page.locator('.node[aria-pressed="true"]')).to_be_focused()
    await page.keyboard.press("Enter")
    shown = await page.locator(".graph-svg .node").count()
    await page.get_by_role("button", name="List", exact=True).click()
    await expect(page.locator(".graph-list .listed")).to_have_count(shown)
    await page.locator(".graph-list").get_by_role("button", name="Vector").click()
    await expect(page.locator(".graph-details").get_by_role("heading", name="Vector")).to_be_visible()
    await opened.accessible()


async def test_the_graph_on_a_phone_in_the_dark(open_page: OpenPage, known: Acquaintances) -> None:
    """Details come from below and go again; it begins with the owner, and where nothing is known that is told."""
    opened = await open_page("/graph", owner=VIRA, color_scheme="dark", **PHONE)
    page, details = opened.page, opened.page.locator(".graph-details")
    await expect(details).to_be_hidden()
    await node(page, "Vira, User").click()
    await expect(details.get_by_role("heading", name="Vira")).to_be_visible()
    await opened.accessible()
    await details.get_by_role("button", name="Close", exact=True).click()
    await expect(details).to_be_hidden()
    await opened.fits()
    alone = await open_page("/graph", owner=LONELY)
    await expect(alone.page.get_by_role("heading", name="Nothing is linked yet")).to_be_visible()
    await alone.goto(f"/graph?node={known.maria}")
    await expect(alone.page.get_by_role("heading", name="There is nothing here")).to_be_visible()
