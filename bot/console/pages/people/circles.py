"""People as circles around the owner."""

from __future__ import annotations

from typing import Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from bot.console.elements import empty, told
from bot.console.page_context import PageContext, initials
from bot.console.rest import Json

CIRCLES: Final = {"Family": 0, "Work_Inner": 4, "Friends": 3, "Work_Outer": 5, "Other": 2}
"""The circles from the inside out, and each one's tone."""

_DRAWN: Final = 300
"""Most people that are drawn, the most mentioned ones; the search finds the others."""

_WORDS: Final = ("search", "filter", "drawing", "closer", "farther", "whole", "list", "looking", "nobody")


async def lay_circles(seat: PageContext) -> None:
    """Raises Trouble."""
    found = await seat.rest.get("/people", user_id=seat.user_id, limit=_DRAWN)
    if not found["people"]:
        empty("groups", seat.say("people-empty"), seat.say("people-empty-text"))
        return
    _Circles(seat, found["people"], found["count"])


class _Circles(ui.element, component="circles.js"):
    """Rings, list, search and filters live in the browser; what it does not know it has searched."""

    def __init__(self, seat: PageContext, people: list[Json], count: int) -> None:
        super().__init__()
        self._seat = seat
        say, name = seat.say, (seat.user or {}).get("name", "")
        words = {one: say(f"people-{one}") for one in _WORDS}
        words |= {"found": say("people-found", count="#"), "all": say("people-count", count=count)}
        words["most"] = say("people-most", count=count, shown=len(people))
        self._props["words"] = words
        self._props["owner"] = {"name": name, "initials": initials(name)}
        self._props["circles"] = [
            {"id": circle, "name": circle_name(seat, circle), "tone": f"tone-{tone}"}
            for circle, tone in CIRCLES.items()
        ]
        self._props["people"] = [shown(seat, person) for person in people]
        self._props["count"] = count
        self.on("search", self._search)

    async def _search(self, event: GenericEventArguments) -> None:
        query = str(event.args)
        with told(self._seat):
            found = await self._seat.rest.get("/people/search", user_id=self._seat.user_id, query=query, limit=10)
            self.run_method("found", query, [shown(self._seat, person) for person in found["people"]])


def shown(seat: PageContext, person: Json) -> Json:
    """What the browser needs of a person."""
    say, circle = seat.say, circle_name(seat, person["circle"])
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
        "told": f"{person['display_name']}, {circle}, {mentioned}",
        "href": seat.at("/people", person=person["id"]),
    }


def circle_name(seat: PageContext, circle: str) -> str:
    return seat.say.known(f"circle-{circle}", circle)


def circle_tone(circle: str) -> str:
    """The class of a circle's colour."""
    return f"tone-{CIRCLES.get(circle, 7)}"
