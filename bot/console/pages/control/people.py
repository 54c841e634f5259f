"""The left of the control room: users, most recently active first, with what they sent and got."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from nicegui import ui

from bot.console.elements import avatar, chip, words
from bot.console.page_context import PageContext
from bot.console.rest import Json, RestError

_LAST_WORDS: Final = 12
_SHOWN: Final = 100
"""Who has more users finds them with the choice in the bar."""


class People:
    """Counts go on with the live stream; the words of the chosen user stand under him. `foot` is for a panel below."""

    def __init__(self, seat: PageContext) -> None:
        self._seat = seat
        self._counts: dict[int, tuple[ui.label, ui.label]] = {}
        self._traffic = {user["user_id"]: [user["sent"], user["received"]] for user in seat.users}
        with ui.element("section").classes("room-people") as section:
            section.props["aria-label"] = seat.say("control-people")
            with ui.element("div").classes("room-scroll"):
                if seat.admin and len(seat.users) > 1:
                    self._everybody()
                for user in seat.users[:_SHOWN]:
                    self._user(user)
                self._talk = ui.element("div").classes("talk").props('tabindex=0 role="log"')
                self._talk.props["aria-label"] = seat.say("control-words")
            self.foot = ui.element("div").classes("room-foot")
        self._talk.set_visibility(seat.user_id is not None)
        # On a phone users stand beside one another, and the chosen one may be out of sight.
        ui.run_javascript(
            'document.querySelector(".who[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" })'
        )
        ui.timer(0, self._words, once=True)

    def _everybody(self) -> None:
        with _entry("/", chosen=self._seat.user_id is None):
            ui.icon("groups").classes("avatar everybody").props("aria-hidden=true")
            with ui.element("span").classes("who-lines"):
                words("span", self._seat.say("everybody"), "who-name")
                words("span", self._seat.say("control-users", count=len(self._seat.users)), "who-line")

    def _user(self, user: Json) -> None:
        say, user_id = self._seat.say, user["user_id"]
        with _entry(f"/?user={user_id}", chosen=user_id == self._seat.user_id):
            avatar(user["name"], user_id)
            with ui.element("span").classes("who-lines"):
                with ui.element("span").classes("who-head"):
                    words("span", user["name"], "who-name")
                    if user["paused"]:
                        chip(say("control-paused"), "warn")
                with ui.element("span").classes("who-line"):
                    seen = user["last_activity"]
                    words("span", say.ago(seen, datetime.now(UTC)) if seen else say("control-never"))
            with ui.element("span").classes("who-counts"):
                self._counts[user_id] = (self._count("sent", user["sent"]), self._count("received", user["received"]))

    def _count(self, way: str, number: int) -> ui.label:
        with ui.element("span").classes(f"who-count {way}"):
            ui.icon("north_east" if way == "sent" else "south_west").props("aria-hidden=true")
            words("span", self._seat.say(f"control-{way}"), "sr")
            return ui.label(self._seat.say.number(number))

    async def heard(self, events: list[Json]) -> None:
        """Counts what went by, and shows the words if they are the chosen user's."""
        ways = {"message_received": 0, "message_sent": 1}
        fresh = False
        for event in events:
            way, user_id = ways.get(event["event_type"]), event["user_id"]
            if way is None or user_id not in self._counts:
                continue
            self._traffic[user_id][way] += 1
            self._counts[user_id][way].set_text(self._seat.say.number(self._traffic[user_id][way]))
            fresh = fresh or user_id == self._seat.user_id
        if fresh:
            await self._words()

    async def _words(self) -> None:
        if self._seat.user_id is None:
            return
        try:
            found = await self._seat.rest.get("/messages", user_id=self._seat.user_id, limit=_LAST_WORDS)
        except RestError:
            return  # the timeline beside it says that the bot is away
        self._talk.clear()
        with self._talk:
            for message in found["messages"]:
                with ui.element("div").classes(f"said {message['role']}"):
                    words("p", message["content"])
                    words("time", self._seat.say.moment(message["timestamp"], "HH:mm"))
        ui.run_javascript(f"const talk = getHtmlElement({self._talk.id}); if (talk) talk.scrollTop = talk.scrollHeight")


def _entry(address: str, *, chosen: bool) -> ui.element:
    link = ui.element("a").classes("who").props(f'href="{address}"')
    return link.props("aria-current=true") if chosen else link
