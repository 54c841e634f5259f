"""What stands around every page of the console: coming in, finding one's way, keyboard and phone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from support.product.console_product import ANNA, BORIS, KEY, House, Opened

from internal.access.console import service as console

pytestmark = pytest.mark.asyncio(loop_scope="session")

OpenPage = Callable[..., Awaitable[Opened]]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}, "has_touch": True}


async def test_the_key_opens_the_door(house: House, chrome: Browser) -> None:
    """Who comes without a session lands at the login; a wrong key is told, the right one leads where one wanted."""
    context = await chrome.new_context(locale="uk")
    page = await context.new_page()
    await page.goto(house.url + "/calls")
    await expect(page.get_by_role("heading", name="Консоль")).to_be_visible()
    await page.get_by_label("Ключ сервера").fill("wrong")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_have_text("Неправильний ключ.")
    await page.goto(house.url + "/login?back=/calls")
    await page.get_by_label("Ключ сервера").fill(KEY)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Виклики моделей")).to_be_visible()
    [cookie] = [one for one in await context.cookies() if one["name"] == "laplaced_session"]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    await page.get_by_role("button", name="Вийти", exact=True).click()
    await expect(page.get_by_label("Ключ сервера")).to_be_visible()
    await page.goto(house.url + "/calls")
    await expect(page.get_by_label("Ключ сервера")).to_be_visible()
    await context.close()


async def test_a_link_opens_it_once(house: House, chrome: Browser) -> None:
    """For that owner; the same link again says that it was used."""
    link = await house.app.database.write(
        lambda c: console.issue_link(
            c, ANNA, lifetime=house.app.config.console.link_lifetime, now=house.app.clock.now()
        )
    )
    context = await chrome.new_context(locale="en")
    page = await context.new_page()
    await page.goto(f"{house.url}/login#link={link}")
    await expect(page.locator("h1.bar-title")).to_be_visible()
    assert link not in page.url
    assert await page.locator(".chooser").count() == 0
    again = await context.new_page()
    await again.goto(f"{house.url}/login#link={link}")
    await expect(again.get_by_role("alert")).to_contain_text("already been used")
    await context.close()


async def test_one_leaves_every_browser_at_once(house: House, open_page: OpenPage) -> None:
    """An owner ends his own sessions; his other browser is asked to log in again."""
    here, there = [(await open_page("/context", owner=BORIS)).page for _ in range(2)]
    await here.get_by_role("button", name="Log out everywhere").click()
    for page in (here, there):
        await page.goto(house.url + "/context")
        await expect(page.get_by_label("Server key")).to_be_visible()


async def test_language_and_theme_are_kept(open_page: OpenPage) -> None:
    """The owner's own language at first; what is chosen holds over reloads."""
    page = (await open_page("/calls")).page
    await expect(page.locator("h1")).to_have_text("Вызовы моделей")
    await page.get_by_role("button", name="Язык").click()
    await page.get_by_text("English").click()
    await expect(page.locator("h1")).to_have_text("Model calls")
    await expect(page.locator("html")).to_have_attribute("lang", "en-GB")
    await page.get_by_role("button", name="Theme").click()
    await page.get_by_text("Dark", exact=True).click()
    await expect(page.locator("body.body--dark")).to_be_attached()
    await page.reload()
    await expect(page.locator("body.body--dark")).to_be_attached()


async def test_the_keyboard_is_enough(open_page: OpenPage) -> None:
    """Tab offers to skip to the content, ? lists the keys, g and a letter go to a page."""
    page = (await open_page("/calls", owner=None)).page
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#main")).to_be_focused()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await page.keyboard.press("g")
    async with page.expect_navigation():
        await page.keyboard.press("m")


async def test_the_menu_tells_its_pages_in_words(open_page: OpenPage) -> None:
    """Also beside pages that fill the window."""
    opened = await open_page("/calls", owner=None)
    for path in ("/", "/people", "/graph", "/sessions"):
        await opened.goto(path)
        link = opened.page.get_by_role("link", name="Notifications")
        box = await link.locator("span").bounding_box()
        assert box is not None
        assert box["width"] > 60, path


async def test_on_a_phone_the_pages_are_in_a_drawer(open_page: OpenPage) -> None:
    """Opened by its button, closed by Escape; nothing is wider than the screen."""
    opened = await open_page("/calls", owner=None, **PHONE)
    page = opened.page
    await expect(page.locator(".nav")).to_be_hidden()
    await page.get_by_role("button", name="Open the menu").click()
    await expect(page.locator(".nav")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator(".nav")).to_be_hidden()
    await opened.fits()
    await opened.accessible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_model_calls_show_their_exact_words(open_page: OpenPage, scheme: str) -> None:
    """Folded up they tell tokens and price; opened, prompt and reply as they were."""
    opened = await open_page("/calls", owner=None, color_scheme=scheme)
    row = opened.page.locator("details.row", has_text="1,204 → 96 tokens · $0.0012")
    await row.locator("summary").click()
    await expect(row.locator("pre.exact").first).to_have_text("You are Laplaced.")
    await expect(row.locator("pre.reply")).to_have_text("Запомнила.")
    await opened.accessible()


async def test_an_address_that_is_none_leads_on(house: House, chrome: Browser) -> None:
    """In the reader's language, with a way to the first page; axe-core finds nothing against it."""
    context = await chrome.new_context(locale="uk")
    page = Opened(await context.new_page(), house)
    await page.goto("/nonsense")
    await expect(page.page.get_by_role("heading", name="Сторінку не знайдено", level=1)).to_be_visible()
    await page.accessible()
    told = [one for one in page.complaints if "404" not in one]
    await page.page.get_by_role("link", name="Диспетчерська").click()
    await expect(page.page.get_by_label("Ключ сервера")).to_be_visible()
    await context.close()
    assert told == []


async def test_the_login_is_accessible(house: House, chrome: Browser) -> None:
    """Plain HTML, without the page library."""
    context = await chrome.new_context()
    opened = Opened(await context.new_page(), house)
    await opened.goto("/login")
    await opened.accessible()
    assert opened.complaints == []
    await context.close()
