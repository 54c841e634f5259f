"""The people of an owner's life: as circles around him, and each with a profile and its sources."""

from nicegui import ui

from bot.console.elements import heading, style
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
        await _lay_map(context)


async def _lay_map(context: PageContext) -> None:
    """Who is what to whom, as a drawing; nothing while no relation is known."""
    known = await context.rest.get("/people/map", user_id=context.user_id)
    if known["people"]:
        heading(context.say("people-map"), 2).classes("people-map-title")
        with ui.element("div").classes("people-map").props('role="img" tabindex=0') as place:
            place.props["aria-label"] = "; ".join(f"{one['name']}: {one['relation']}" for one in known["people"])
            ui.html(known["svg"], sanitize=False)  # drawn by the bot, every name in it escaped


PEOPLE = Page("people", "/people", "groups", "p", build, wide=True)
