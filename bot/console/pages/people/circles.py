"""People as circles around the owner."""

from typing import Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from bot.console.elements import empty_list, trouble_notice
from bot.console.page_context import PageContext
from bot.console.rest import Json
from bot.shared.phrases import initials

CIRCLES: Final = {"Family": 0, "Work_Inner": 4, "Friends": 3, "Work_Outer": 5, "Other": 2}
"""The circles from the inside out, with their tones."""

_DRAWN: Final = 300
"""The most people drawn, by number of mentions; the search finds the others."""

_WORDS: Final = ("search", "filter", "drawing", "closer", "farther", "whole", "list", "looking", "map", "nobody")


async def lay_circles(context: PageContext) -> None:
    """Lays out the circles. Raises Trouble."""
    found = await context.rest.get("/people", user_id=context.user_id, limit=_DRAWN)
    if not found["people"]:
        empty_list("groups", context.say("people-empty"), context.say("people-empty-text"))
        return
    _Circles(context, found["people"], found["count"])


class _Circles(ui.element, component="circles.js"):
    """Fetches the people that the browser asks for; rings, list, search and filters live in the browser."""

    def __init__(self, context: PageContext, people: list[Json], count: int) -> None:
        super().__init__()
        self._context = context
        say, name = context.say, (context.user or {}).get("name", "")
        words = {one: say(f"people-{one}") for one in _WORDS}
        words |= {"found": say("people-found", count="#"), "all": say("people-count", count=count)}
        words["most"] = say("people-most", count=count, shown=len(people))
        self._props["words"] = words
        self._props["map"] = context.at("/people", view="map")
        self._props["owner"] = {"name": name, "initials": initials(name)}
        self._props["circles"] = [
            {"id": circle, "name": circle_name(context, circle), "tone": f"tone-{tone}"}
            for circle, tone in CIRCLES.items()
        ]
        self._props["people"] = [browser_person(context, person) for person in people]
        self._props["count"] = count
        self.on("search", self._search)

    async def _search(self, event: GenericEventArguments) -> None:
        query = str(event.args)
        with trouble_notice(self._context):
            found = await self._context.rest.get("/people/search", user_id=self._context.user_id, query=query, limit=10)
            self.run_method("found", query, [browser_person(self._context, person) for person in found["people"]])


def browser_person(context: PageContext, person: Json) -> Json:
    """The fields of a person that the browser needs."""
    say, circle = context.say, circle_name(context, person["circle"])
    mentioned = say("people-mentions", count=person["mention_count"])
    return {
        "id": person["id"],
        "name": person["display_name"],
        "initials": initials(person["display_name"]),
        "tone": circle_tone(person["circle"]),
        "circle": person["circle"],
        "circleName": circle,
        "mentions": person["mention_count"],
        "mentioned": mentioned,
        "bio": person["bio"],
        "seen": say("people-seen", at=say.moment(person["last_seen"], "d MMM y")),
        "aliases": person["aliases"],
        "username": person["username"],
        "label": f"{person['display_name']}, {circle}, {mentioned}",
        "href": context.at("/people", person=person["id"]),
    }


def circle_name(context: PageContext, circle: str) -> str:
    return context.say.known(f"circle-{circle}", circle)


def circle_tone(circle: str) -> str:
    """The CSS class of a circle's colour."""
    return f"tone-{CIRCLES.get(circle, 7)}"
