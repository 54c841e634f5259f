"""The users, most recently active first, with the numbers of messages sent and received."""

from datetime import UTC, datetime
from typing import Final

from nicegui import ui

from bot.console.elements import avatar, chip, words
from bot.console.page_context import PageContext
from bot.console.rest import Json, RestError

_LAST_WORDS: Final = 12
_MESSAGES_SHOWN: Final = 100
"""The most users listed; others are found with the selection in the bar."""


class UserPanel:
    """The users, with counts that follow the live stream; below them the chosen user's last messages and `foot`."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._counts: dict[int, tuple[ui.label, ui.label]] = {}
        self._traffic = {user["user_id"]: [user["sent"], user["received"]] for user in context.users}
        with ui.element("section").classes("room-people") as section:
            section.props["aria-label"] = context.say("control-people")
            with ui.element("div").classes("room-scroll"):
                if context.admin and len(context.users) > 1:
                    self._everybody()
                for user in context.users[:_MESSAGES_SHOWN]:
                    self._user(user)
                self._talk = ui.element("div").classes("talk").props('tabindex=0 role="log"')
                self._talk.props["aria-label"] = context.say("control-words")
            self.foot = ui.element("div").classes("room-foot")
        self._talk.set_visibility(context.user_id is not None)
        # On a phone users stand side by side, and the chosen one may be out of view.
        ui.run_javascript(
            'document.querySelector(".who[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" })'
        )
        ui.timer(0, self._words, once=True)

    def _everybody(self) -> None:
        with _entry("/", chosen=self._context.user_id is None):
            ui.icon("groups").classes("avatar everybody").props("aria-hidden=true")
            with ui.element("span").classes("who-lines"):
                words("span", self._context.say("everybody"), "who-name")
                words("span", self._context.say("control-users", count=len(self._context.users)), "who-line")

    def _user(self, user: Json) -> None:
        say, user_id = self._context.say, user["user_id"]
        with _entry(f"/?user={user_id}", chosen=user_id == self._context.user_id):
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
            words("span", self._context.say(f"control-{way}"), "sr")
            return ui.label(self._context.say.number(number))

    async def update_from(self, events: list[Json]) -> None:
        """Counts the events, and shows the messages if they are the chosen user's."""
        ways = {"message_received": 0, "message_sent": 1}
        fresh = False
        for event in events:
            way, user_id = ways.get(event["event_type"]), event["user_id"]
            if way is None or user_id not in self._counts:
                continue
            self._traffic[user_id][way] += 1
            self._counts[user_id][way].set_text(self._context.say.number(self._traffic[user_id][way]))
            fresh = fresh or user_id == self._context.user_id
        if fresh:
            await self._words()

    async def _words(self) -> None:
        if self._context.user_id is None:
            return
        try:
            found = await self._context.rest.get("/messages", user_id=self._context.user_id, limit=_LAST_WORDS)
        except RestError:
            return  # the timeline beside it shows that the bot does not answer
        self._talk.clear()
        with self._talk:
            for message in found["messages"]:
                with ui.element("div").classes(f"said {message['role']}"):
                    words("p", message["content"])
                    words("time", self._context.say.moment(message["timestamp"], "HH:mm"))
        ui.run_javascript(f"const talk = getHtmlElement({self._talk.id}); if (talk) talk.scrollTop = talk.scrollHeight")


def _entry(address: str, *, chosen: bool) -> ui.element:
    link = ui.element("a").classes("who").props(f'href="{address}"')
    return link.props("aria-current=true") if chosen else link
