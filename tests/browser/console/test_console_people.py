"""People as circles, and the profile of one: found, read down to the message, edited, merged and split."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect
from sqlalchemy import Connection
from support.product.console_people import HOSTILE, LONELY, VIRA, Acquaintances, acquainted
from support.product.console_product import House, Opened

from internal.dialogue import repository as dialogue
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage.types import new_id

pytestmark = pytest.mark.asyncio(loop_scope="session")

OpenPage = Callable[..., Awaitable[Opened]]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def known(house: House) -> Acquaintances:
    return await acquainted(house)


async def test_people_stand_around_their_owner(open_page: OpenPage, known: Acquaintances) -> None:
    """Every circle has its ring; the search finds an alias and fades the others, a filter takes a circle away."""
    opened = await open_page("/people", owner=VIRA)
    page = opened.page
    drawn = page.locator(".circles-svg .dot")
    await expect(drawn).to_have_count(5)
    await expect(page.get_by_role("link", name="Maria Koval, Family, 44 mentions")).to_be_visible()
    await expect(page.locator(".circles-list")).to_contain_text(HOSTILE)
    sizes = {
        await dot.get_attribute("aria-label"): float(await dot.locator("circle").get_attribute("r") or 0)
        for dot in await drawn.all()
    }
    assert max(sizes, key=lambda one: sizes[one]) == "Maria Koval, Family, 44 mentions"
    sides = await drawn.evaluate_all("all => all.map((one) => one.getCTM().e)")
    assert max(sides) - min(sides) > 200  # on all sides, though each is alone in a ring
    await opened.accessible()
    await page.keyboard.press("/")
    await page.keyboard.type("petya")
    await expect(page.locator(".circles-list .someone")).to_have_count(1)
    await expect(page.locator(".circles-svg .dot.dim")).to_have_count(4)
    await page.get_by_label("Find somebody").fill("")
    await page.get_by_role("button", name="Family").click()
    await expect(drawn).to_have_count(4)
    await page.get_by_role("button", name="Family").click()
    await page.locator(".circles-list").get_by_role("link", name="Maria Koval").click()
    await expect(page.locator(".profile-name")).to_have_text("Maria Koval")


async def test_a_profile_tells_where_everything_is_from(open_page: OpenPage, known: Acquaintances) -> None:
    """Facts over time with what has ended, each with its line; mentions by month, and the whole conversation."""
    opened = await open_page(f"/people?person={known.ids['Maria Koval']}", owner=VIRA)
    page = opened.page
    facts = page.locator(".facts-list > li")
    await expect(facts).to_have_count(3)
    await expect(facts.last).to_contain_text("works for Rubin")
    await facts.first.locator("summary").click()
    await expect(facts.first.locator("blockquote")).to_contain_text("Maria Koval works for Vector.")
    await expect(facts.first).to_contain_text("true now")
    await expect(page.get_by_role("img", name="Mentions by month")).to_be_visible()
    mention = page.locator("details.row").first
    await mention.locator("summary").click()
    await mention.get_by_role("button", name="Read the whole conversation").click()
    await expect(mention.locator("pre")).to_contain_text("Maria Koval works for Vector.")
    await opened.accessible()


async def test_a_conversation_names_whom_it_is_about(open_page: OpenPage, known: Acquaintances) -> None:
    """By the name, which leads to the profile."""
    page = (await open_page("/sessions", owner=VIRA)).page
    named = page.locator(".transcript-sub").get_by_role("link", name="Maria Koval", exact=True)
    await expect(named).to_have_attribute("href", f"/people?user={VIRA}&person={known.ids['Maria Koval']}")


async def test_a_profile_is_edited_and_that_is_taken_back(open_page: OpenPage, known: Acquaintances) -> None:
    """What the server refuses stands in the dialog, which stays open."""
    opened = await open_page(f"/people?person={known.ids['Olha Savchuk']}", owner=VIRA)
    page = opened.page
    await page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Telegram username").fill("no spaces here")
    await dialog.get_by_label("Circle").select_option("Family")
    await opened.accessible()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("username")
    opened.complaints.clear()  # the refusal itself
    await dialog.get_by_label("Telegram username").fill("")
    await dialog.get_by_label("About").fill("Ran in Kyiv.")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator(".chip.circle")).to_have_text("Family")
    await expect(page.locator(".bio")).to_have_text("Ran in Kyiv.")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".chip.circle")).to_have_text("Friends")
    await expect(page.locator(".bio")).to_have_text("Runs marathons.")


async def test_two_are_merged_and_split_again(open_page: OpenPage, known: Acquaintances) -> None:
    """Asked before, undone at once; and later from the profile into which one was merged."""
    opened = await open_page(f"/people?person={known.ids['Mariia K.']}", owner=VIRA)
    page = opened.page
    await page.get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name of the other").fill("koval")
    await dialog.get_by_role("button", name="Maria Koval").click()
    await expect(dialog).to_contain_text("Merge Mariia K. into Maria Koval?")
    await opened.accessible()
    await dialog.get_by_role("button", name="Merge").click()
    await expect(page.locator(".profile-name")).to_have_text("Maria Koval")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".profile-name")).to_have_text("Mariia K.")
    await page.get_by_role("button", name="Merge").click()
    await dialog.get_by_role("button", name="Maria Koval").click()
    await dialog.get_by_role("button", name="Merge").click()
    await page.locator(".part").get_by_role("button", name="Split").click()
    await expect(dialog).to_contain_text("Split off Mariia K.?")
    await dialog.get_by_role("button", name="Split").click()
    await expect(page.locator(".undo")).to_contain_text("Mariia K. has a separate profile again.")
    await expect(page.locator(".part")).to_have_count(0)


async def test_people_on_a_phone_in_the_dark(open_page: OpenPage, known: Acquaintances) -> None:
    """Circles above, the list below; nobody known yet is told with a way on, somebody else's person is not found."""
    opened = await open_page("/people", owner=VIRA, color_scheme="dark", **PHONE)
    page = opened.page
    await expect(page.locator(".circles-svg .dot")).to_have_count(5)
    await opened.fits()
    await opened.accessible()
    await opened.goto(f"/people?person={known.ids['Maria Koval']}")
    await expect(page.locator(".profile-name")).to_be_visible()
    await opened.fits()
    await opened.accessible()
    alone = await open_page("/people", owner=LONELY)
    await expect(alone.page.get_by_role("heading", name="No people yet")).to_be_visible()
    await alone.goto(f"/people?person={known.ids['Maria Koval']}")
    await expect(alone.page.get_by_role("heading", name="There is nothing here")).to_be_visible()


async def test_a_person_is_forgotten_with_the_messages(open_page: OpenPage, house: House, known: Acquaintances) -> None:
    """Asked before: what goes, how many messages stay; a second button takes them along."""

    def met(connection: Connection) -> int:
        now = house.app.clock.now()
        dialogue.add(connection, LONELY, "user", "Met Zoya at the market", now=now)
        zoya = Person(0, LONELY, new_id(), "Zoya", Circle.OTHER, "Sells plums.", now, now)
        return people.create(connection, zoya, by="archivist", now=now).id

    person_id = await house.app.database.write(met)
    opened = await open_page(f"/people?person={person_id}", owner=LONELY)
    page = opened.page
    await page.get_by_role("button", name="Forget").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("One message about them stays")
    await opened.accessible()
    await dialog.get_by_role("button", name="Forget with the message").click()
    await expect(page.get_by_role("heading", name="No people yet")).to_be_visible()
    assert await house.app.database.read(lambda c: dialogue.recent(c, LONELY, limit=9)) == []


async def test_who_is_what_to_whom_is_drawn_apart(open_page: OpenPage, known: Acquaintances) -> None:
    """From the circles to the drawing and back; where no relation is known it says how that changes."""
    opened = await open_page("/people", owner=VIRA)
    page = opened.page
    await page.get_by_role("link", name="Who is what to whom").click()
    await expect(page.locator(".people-map")).to_be_visible()
    await opened.accessible()
    await page.get_by_role("link", name="All people").click()
    await expect(page.locator(".circles-svg .dot").first).to_be_visible()
