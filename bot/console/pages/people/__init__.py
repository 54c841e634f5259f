"""The people of an owner's life: as circles around him, and each with a profile and its sources."""

from nicegui import ui

from bot.console.elements import style
from bot.console.page import Page
from bot.console.page_context import PageContext
from bot.console.pages.people.circles import lay_circles
from bot.console.pages.people.profile import lay_profile


async def build(context: PageContext) -> None:
    """`person` in the address opens a profile."""
    style("people")
    request = ui.context.client.request
    asked = request.query_params.get("person", "") if request is not None else ""
    if asked.isascii() and asked.isdigit() and len(asked) < 19:
        await lay_profile(context, int(asked))
    else:
        await lay_circles(context)


PEOPLE = Page("people", "/people", "groups", "p", build, wide=True)
