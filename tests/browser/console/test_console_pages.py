"""The pages of what is stored: facts, sessions, tasks, notifications, context, memory, costs and health."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import time
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from sqlalchemy import Connection
from support.product.console_memory import CLARA, HOSTILE, furnish_clara, trouble
from support.product.console_product import ANNA, BORIS, KEY, House, Opened

from internal.access import repository as users
from internal.access.console import service as console
from internal.tasks import service as tasks
from internal.tasks.model import Schedule

pytestmark = pytest.mark.asyncio(loop_scope="session")

OpenPage = Callable[..., Awaitable[Opened]]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
_WRITTEN = """one => getElement(one.id.slice(1)).chart.getOption().series[0].markLine.data
    .filter((line) => line.label.show !== false).map((line) => line.label.formatter)"""
PATHS = ("/facts", "/sessions", "/tasks", "/notifications", "/context", "/memory", "/costs", "/health")


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def clara(house: House) -> None:
    """Moves in once, for all tests of this module."""
    if await house.app.database.read(lambda c: users.find(c, CLARA)) is None:
        now = house.app.clock.now()
        await house.app.database.write(lambda c: furnish_clara(c, now))
        await house.app.database.write(lambda c: trouble(c, now))


async def test_a_fact_shows_its_receipt_and_is_corrected_with_a_reason(open_page: OpenPage) -> None:
    """Search finds it, the receipt quotes the line, and the history tells the correction and why.

    A fact that is open stays so while another search lays the list anew: nobody's click goes into a row that is gone.
    """
    opened = await open_page("/facts", owner=CLARA)
    page = opened.page
    await expect(page.get_by_text(HOSTILE).first).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.type("penicillin")
    await expect(page.get_by_role("status").first).to_contain_text("found")
    fact = page.locator("details.fact").filter(has_text="penicillin")
    await fact.locator("summary").click()
    quoted = fact.locator("blockquote")
    await expect(quoted).to_have_text("Clara is allergic to penicillin")
    await page.get_by_label("Search").fill("who mentors Marek?")
    await expect(page.locator("details.fact").first).to_contain_text("mentors")
    assert await quoted.is_visible()
    await fact.get_by_role("button", name="Correct").click()
    await page.get_by_label("What is true").fill("Clara tolerates penicillin after all")
    await page.get_by_label("Why (saved with the fact)").fill("tested in October")
    await opened.accessible()
    await page.get_by_role("button", name="Save").click()
    changed = page.locator("details.fact").filter(has_text="after all")
    await changed.locator("summary").click()
    await expect(changed.locator(".version")).to_have_count(2)
    await expect(changed.locator(".why")).to_have_text("Reason: tested in October")


async def test_a_session_is_read_with_its_judgement(open_page: OpenPage) -> None:
    """The newest at first; another by its link, with every word, verdict and lesson. On a phone there is a way back."""
    opened = await open_page("/sessions", owner=CLARA, viewport={"width": 1280, "height": 400})
    page = opened.page
    await expect(page.locator(".transcript h2")).to_have_text("How many days are left until the conference?")
    await page.get_by_role("link", name="Can you draft").click()
    await expect(page.locator(".bubble")).to_have_count(4)
    await expect(page.locator(".ruling.whole")).to_contain_text("Keep mails short.")
    await expect(page.locator(".ruling").first).to_contain_text("partly correct")
    await opened.fits()
    await page.set_viewport_size({"width": 390, "height": 844})
    await expect(page.locator(".talks-list")).to_be_hidden()
    await page.get_by_role("link", name="All conversations").click()
    await expect(page.locator(".talks-list")).to_be_visible()


async def test_tasks_are_added_confirmed_put_off_and_done(open_page: OpenPage) -> None:
    """By keyboard and buttons; each goes to the section where it belongs, and what is over can be opened again."""
    page = (await open_page("/tasks", owner=CLARA)).page
    sections = page.locator(".card")
    await page.get_by_label("What to do").fill("Buy a torch")
    await page.keyboard.press("Enter")
    await expect(sections.filter(has_text="No date").get_by_text("Buy a torch")).to_be_visible()
    await page.get_by_label("What to do").fill("Answer Oksana")
    await page.get_by_label("Kind").select_option("promise")
    await choose_day(page, "4", "May", "2031")
    await page.get_by_label("Time").fill("18:30")
    await page.get_by_label("Repeat").select_option("weekly")
    await page.get_by_role("button", name="Add", exact=True).click()
    added = page.locator(".task", has_text="Answer Oksana")
    await expect(added).to_contain_text("Promise")
    await expect(added).to_contain_text("Sun 4 May 2031, 18:30")
    await expect(added).to_contain_text("every week")
    await page.get_by_role("button", name="Put off: Answer Oksana").click()
    await page.get_by_text("Choose a time…").click()
    dialog = page.get_by_role("dialog")
    await choose_day(page, "11", "May", "2031", ".question")
    await dialog.get_by_label("Time").fill("07:00")
    await dialog.get_by_role("button", name="Save").click()
    await expect(added).to_contain_text("reminder Sun 11 May, 07:00")
    await page.get_by_role("button", name="Yes, add: Book the flight to Lisbon").click()
    await expect(sections.filter(has_text="Later").get_by_text("Book the flight to Lisbon")).to_be_visible()
    await expect(page.get_by_text("To confirm")).to_have_count(0)
    await page.get_by_role("button", name="Put off: Call the landlord").click()
    await page.get_by_text("In a week").click()
    await expect(sections.filter(has_text="Later").get_by_text("Call the landlord")).to_be_visible()
    await page.get_by_role("button", name="Done: Buy a torch").click()
    await expect(page.get_by_text("Buy a torch")).to_have_count(0)
    await page.locator("summary").click()
    await page.get_by_role("button", name="Open again: Buy a torch").click()
    await expect(sections.filter(has_text="No date").get_by_text("Buy a torch")).to_be_visible()


async def choose_day(page: Page, day: str, month: str, year: str, place: str = ".add-task") -> None:
    """Opens the calendar of the field in that place and picks a day."""
    await page.locator(place).get_by_role("button").first.click()
    calendar, heads = page.locator(".q-date"), page.locator(".q-date__navigation button")
    await heads.nth(4).click()
    await calendar.get_by_role("button", name=year, exact=True).click()
    await heads.nth(1).click()
    await calendar.get_by_role("button", name=month, exact=True).click()
    await calendar.get_by_role("button", name=day, exact=True).click()
    await expect(calendar).to_have_count(0)


async def test_a_day_is_picked_in_the_words_of_the_page(open_page: OpenPage) -> None:
    """And not in the browser's; without a time of day it is the whole day."""
    opened = await open_page("/tasks", owner=ANNA, locale="en-US")
    page = opened.page
    await page.get_by_label("Что нужно сделать").fill("Позвонить маме")
    await page.get_by_role("button", name="Открыть календарь").click()
    await expect(page.locator(".q-date")).to_contain_text("Пн")
    await opened.accessible()
    await page.keyboard.press("Escape")
    await choose_day(page, "4", "Май", "2031")
    await expect(page.get_by_role("textbox", name="День")).to_have_value("4 мая 2031")
    await page.get_by_role("button", name="Добавить", exact=True).click()
    await expect(page.locator(".task", has_text="Позвонить маме")).to_contain_text("вс 4 мая 2031")


async def test_of_many_tasks_the_first_are_laid(house: House, open_page: OpenPage) -> None:
    """The others of a section follow on demand, and stay when something changes."""
    now = house.app.clock.now()

    def errands(connection: Connection) -> None:
        for number in range(30):
            wanted = tasks.NewTask(f"Errand {number}", Schedule(tz="UTC"))
            tasks.open_task(connection, BORIS, wanted, tasks.by_owner(BORIS, now, time(9)))

    await house.app.database.write(errands)
    page = (await open_page("/tasks", owner=BORIS)).page
    await expect(page.locator(".task")).to_have_count(20)
    await page.get_by_role("button", name="Show more: 10").click()
    await expect(page.locator(".task")).to_have_count(30)
    await page.get_by_role("button", name="Done: Errand 7", exact=True).click()
    await expect(page.locator(".task")).to_have_count(29)


async def test_notifications_tell_why_and_the_context_comes_back(open_page: OpenPage) -> None:
    """Each decision with its reason; an earlier version of the context is looked at and brought back."""
    page = (await open_page("/notifications", owner=CLARA)).page
    await expect(page.get_by_text("Reason: quiet hours until 8:00")).to_be_visible()
    await page.get_by_role("button", name="Not sent").click()
    await expect(page.locator(".notice-row")).to_have_count(1)
    await expect(page.locator(".notice-why")).to_contain_text("she bought it")
    await page.keyboard.press("g")
    async with page.expect_navigation():
        await page.keyboard.press("x")
    await expect(page.get_by_text("Marek waits for the load calculations")).to_be_visible()
    await page.get_by_role("button", name="View").last.click()
    await expect(page.get_by_text("Marek waits for the load calculations")).to_have_count(0)
    await page.get_by_role("button", name="Restore").click()
    await page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    await expect(page.get_by_text("restored from version 1")).to_be_visible()
    await expect(page.get_by_text("Version 4, the latest")).to_be_visible()


async def test_memory_and_costs_are_drawn(open_page: OpenPage) -> None:
    """Charts are there, in words too; the list beside them turns round, and another span counts other days."""
    page = (await open_page("/memory", owner=CLARA)).page
    await expect(page.get_by_role("img", name="Lines: how much is left")).to_be_visible()
    await expect(page.locator(".chart canvas")).to_have_count(2)
    await expect(page.locator(".chart-note")).to_contain_text("suggested for forgetting")
    written = await page.locator(".chart").first.evaluate(_WRITTEN)
    assert written == ["today"]  # above the lines; nothing is written over them
    await expect(page.locator(".memory-row").first).to_contain_text("poppy seed cake")
    await page.get_by_role("button", name="Lasting longest").click()
    await expect(page.locator(".memory-row").last).to_contain_text("poppy seed cake")
    await page.keyboard.press("g")
    async with page.expect_navigation():
        await page.keyboard.press("o")
    await expect(page.locator(".chart canvas")).to_have_count(1)
    await page.get_by_role("button", name="7 days").click()
    await expect(page.locator("tr", has_text="Responder")).to_contain_text("7")


async def test_health_lets_the_admin_help(open_page: OpenPage) -> None:
    """What was given up is tried again, what was put aside is dropped after a question; an owner sees his own only."""
    opened = await open_page("/health", owner=None)
    page = opened.page
    await expect(page.get_by_text("KeyError: 'question'")).to_be_visible()
    await opened.accessible()
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("KeyError: 'question'")).to_have_count(0)
    await page.get_by_role("button", name="Try all again").click()
    await expect(page.get_by_text("the model's reply was no JSON")).to_have_count(0)
    await page.get_by_role("button", name="Back up now").click()
    await expect(page.locator(".put-aside")).to_have_count(1)
    own = (await open_page("/health", owner=CLARA)).page
    await expect(own.get_by_text("Sources stored")).to_be_visible()
    await expect(own.get_by_text("Health checks")).to_have_count(0)
    await own.set_viewport_size({"width": 1180, "height": 800})
    rows = await own.locator(".figure").evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
    assert rows.count(rows[-1]) > 1  # no number stands alone


@pytest.mark.parametrize(("scheme", "language"), [("light", "uk"), pytest.param("dark", "ru", marks=pytest.mark.long)])
async def test_every_page_is_accessible_and_fits_a_phone(open_page: OpenPage, scheme: str, language: str) -> None:
    """In both schemes and other languages: axe finds nothing, and nothing is wider than the screen."""
    opened = await open_page("/calls", owner=CLARA, color_scheme=scheme, **PHONE)
    await opened.page.evaluate(f"document.cookie = 'laplaced_language={language}; path=/'")
    for path in PATHS:
        await opened.goto(path)
        await expect(opened.page.locator("html")).to_have_attribute("lang", language)
        await opened.accessible()
        await opened.fits()


async def test_without_anything_the_pages_say_how_that_changes(open_page: OpenPage) -> None:
    """Somebody of whom nothing is known sees a title and a way on, and nothing of Clara's."""
    opened = await open_page("/facts", owner=ANNA)
    await opened.page.evaluate("document.cookie = 'laplaced_language=en; path=/'")
    for path in ("/facts", "/sessions", "/notifications", "/context", "/memory", "/costs"):
        await opened.goto(path)
        await expect(opened.page.locator(".empty h2")).to_be_visible()
        await expect(opened.page.get_by_text("Clara")).to_have_count(0)


async def test_a_session_that_has_ended_leads_to_the_login(house: House, open_page: OpenPage) -> None:
    """A click after the logout elsewhere is told, and loses nothing."""
    page = (await open_page("/context", owner=CLARA)).page
    token = next(one["value"] for one in await page.context.cookies() if one["name"] == "laplaced_session")
    await house.app.database.write(lambda c: console.close(c, token, KEY))
    async with page.expect_navigation():
        await page.get_by_role("button", name="View").first.click()
    await expect(page.get_by_label("Server key")).to_be_visible()
