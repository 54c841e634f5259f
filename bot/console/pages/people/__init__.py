"""The people of an owner's life: as circles around him, and each with a profile and its sources."""

from nicegui import ui

from bot.console.elements import empty_list, heading, style
from bot.console.page_context import Page, PageContext
from bot.console.pages.people.circles import lay_circles
from bot.console.pages.people.profile import lay_profile


async def build(context: PageContext) -> None:
    """Lays out the circles, or the profile of `person` in the address."""
    style("people")
    request = ui.context.client.request
    asked = request.query_params.get("person", "") if request is not None else ""
    if asked.isascii() and asked.isdigit() and len(asked) < 19:
        await lay_profile(context, int(asked))
    elif request is not None and request.query_params.get("view") == "map":
        await _lay_map(context)
    else:
        await lay_circles(context)


async def _lay_map(context: PageContext) -> None:
    """Draws how people are related, or says that no relation is known."""
    known = await context.rest.get("/people/map", user_id=context.user_id)
    with ui.element("div").classes("people-map"):
        ui.link(context.say("people-circles"), context.at("/people")).classes("people-view")
        if not known["people"]:
            empty_list("family_restroom", context.say("people-map"), context.say("people-map-none"))
            return
        heading(context.say("people-map"), 2)
        with ui.element("div").classes("people-drawing").props('role="img" tabindex=0') as box:
            box.props["aria-label"] = "; ".join(f"{one['name']}: {one['relation']}" for one in known["people"])
            ui.html(known["svg"], sanitize=False)  # drawn by the bot, with every name escaped


PEOPLE = Page("people", "/people", "groups", "p", build, wide=True)
