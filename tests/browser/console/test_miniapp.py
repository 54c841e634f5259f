"""The Mini App on a phone, opened as Telegram opens it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlencode

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect
from support.product.console_people import VIRA, acquainted
from support.product.console_product import BOT_TOKEN, House

from bot.web.miniapp.init_data import signed

OpenApp = Callable[..., Awaitable[Page]]

pytestmark = pytest.mark.asyncio(loop_scope="session")

DARK = {"bg_color": "#17212b", "text_color": "#f5f5f5", "hint_color": "#9fb0c0", "secondary_bg_color": "#232e3c"}


@pytest_asyncio.fixture(loop_scope="session")
async def open_app(house: House, chrome: Browser) -> AsyncIterator[OpenApp]:
    """Opens the Mini App for a user, as an app does; at the end the page may not have complained."""
    pages: list[Page] = []
    complaints: list[str] = []

    async def open_app(user_id: int, theme: dict[str, str] | None = None, **fields: str) -> Page:
        at = str(int(house.app.clock.now().timestamp()))
        told = {"auth_date": at, "user": json.dumps({"id": user_id, "first_name": "Vira"}), **fields}
        data = urlencode(told | {"hash": signed(told, BOT_TOKEN)})
        launch = {"tgWebAppData": data, "tgWebAppVersion": "9.6", "tgWebAppThemeParams": json.dumps(theme or {})}
        context = await chrome.new_context(viewport={"width": 390, "height": 844}, locale="en", reduced_motion="reduce")
        page = await context.new_page()
        pages.append(page)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        await page.goto(f"{house.rest}/app#{urlencode(launch)}")
        await page.locator("nav button").first.wait_for()
        return page

    yield open_app
    for page in pages:
        await page.context.close()
    assert complaints == []


async def accessible(page: Page) -> None:
    found = await Axe().run(page, options={"resultTypes": ["violations"]})
    assert [
        (fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found.response["violations"]
    ] == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_an_owner_looks_corrects_and_forgets(house: House, open_app: OpenApp) -> None:
    """People, a person, a fact with its sources; corrected, it says so; nothing of others is there."""
    await acquainted(house)
    page = await open_app(VIRA, DARK)
    await page.get_by_role("button", name="People").click()
    await accessible(page)
    await page.get_by_role("button", name="Maria").first.click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Maria")
    await page.locator("button.item", has_text="Vector").first.click()
    await expect(page.locator("blockquote").first).to_be_visible()
    await accessible(page)
    await page.get_by_role("textbox").fill("Maria works for Vector Robotics")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("main p").first).to_have_text("Maria works for Vector Robotics")
    await expect(page.locator("main")).to_contain_text("corrected by you on")
    await page.get_by_role("button", name="Forget").click()
    await page.get_by_role("button", name="Forget").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Maria")
    await expect(page.locator("main")).not_to_contain_text("Vector Robotics")


async def test_tasks_are_added_and_done(open_app: OpenApp) -> None:
    """By the field at the top and the button under a task, in the light."""
    page = await open_app(VIRA)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Week")
    await page.get_by_role("button", name="Files").click()
    await expect(page.locator("main")).to_contain_text("No files yet")
    await page.get_by_role("button", name="Tasks").click()
    await page.get_by_role("textbox").fill("Buy <b>tea</b>")
    await page.keyboard.press("Enter")
    task = page.locator(".item", has_text="Buy <b>tea</b>")
    await expect(task).to_be_visible()
    await accessible(page)
    await task.get_by_role("button", name="Done").click()
    await expect(task).to_have_count(0)


async def test_a_link_opens_its_person_and_a_reload_stays_logged_in(house: House, open_app: OpenApp) -> None:
    """`startapp=p_ID` leads there; after a reload, which has no fragment any more, the session opens again."""
    maria = (await acquainted(house)).ids["Maria Koval"]
    page = await open_app(VIRA, start_param=f"p_{maria}")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Maria")
    await page.get_by_role("button", name="Back").click()
    await page.reload()
    await page.locator("nav button").first.wait_for()
    assert "tgWebAppData" not in page.url


async def test_outside_of_telegram_it_says_where_to_open_it(house: House, chrome: Browser) -> None:
    """Nobody is vouched for there, so nothing is shown."""
    page = await chrome.new_page(locale="uk")
    await page.goto(f"{house.rest}/app")
    await expect(page.get_by_role("alert")).to_contain_text("Telegram")
    await page.close()
