"""The chosen event: what led to it, what it led to, and the model calls made for it."""

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import chip, heading, icon_button, words
from bot.console.page_context import PageContext
from bot.console.pages.calls import open_call, price
from bot.console.pages.control.lanes import LaneList
from bot.console.pages.control.timeline import summary, title
from bot.console.rest import Json, RefusedByServer, segment

_NEAREST: Final = 40
"""Events shown on each side; the timeline has the rest."""


class Details:
    """`jump` is called with the id of another event, `shut` when the panel is closed."""

    def __init__(
        self,
        context: PageContext,
        lanes: LaneList,
        jump: Callable[[str], Awaitable[None]],
        shut: Callable[[], Awaitable[None]],
    ) -> None:
        self._context, self._lanes, self._jump, self._shut = context, lanes, jump, shut
        with ui.element("section").classes("room-details") as section:
            section.props["aria-label"] = context.say("control-details")
            self._inside = ui.element("div").classes("room-scroll").props("tabindex=0")
        self.clear()

    def clear(self) -> None:
        self._inside.clear()
        with self._inside, ui.element("div").classes("empty"):
            ui.icon("ads_click").classes("empty-icon").props("aria-hidden=true")
            words("p", self._context.say("control-choose"), "empty-text")

    async def show(self, event_id: str) -> list[str]:
        """Shows an event. Returns the ids of the events linked with it. Raises Trouble."""
        rest, user_id = self._context.rest, self._context.user_id
        event = await rest.get(f"/timeline/{segment(event_id)}", user_id=user_id)
        texts = {event_id: event["text"]}
        try:
            chain = await rest.get(f"/events/{segment(event_id)}/chain", user_id=user_id)
        except RefusedByServer:  # an event of the system has none
            chain = {"back": [], "forward": [], "calls": []}
        back, forward = chain["back"][-_NEAREST:], chain["forward"][:_NEAREST]
        if back or forward:
            ids = [one["id"] for one in (*back, *forward)]
            sentences = await rest.get("/timeline", user_id=user_id, only=ids, limit=2 * _NEAREST)
            texts |= {one["id"]: one["text"] for one in sentences["events"]}
        self._inside.clear()
        with self._inside:
            self._head(event)
            self._calls(chain["calls"])
            self._side("control-back", back, texts)
            self._side("control-forward", forward, texts)
            self._exactly(event)
        return [one["id"] for one in (*chain["back"], *chain["forward"])]

    def _head(self, event: Json) -> None:
        say = self._context.say
        with ui.element("div").classes("details-head"):
            heading(title(say, event), 2)
            icon_button("close", say("close")).on("click", self._shut)
        with ui.element("div").classes("details-chips"):
            chip(self._lanes.who(event))
            chip(say.moment(event["timestamp"], "d MMM y, HH:mm:ss"))
        if event["text"]:
            words("p", event["text"], "details-text")

    def _calls(self, calls: list[Json]) -> None:
        if not calls:
            return
        say = self._context.say
        heading(say("control-calls"), 3).classes("details-title")
        for call in calls:
            with ui.element("details").classes("row call") as row:
                with ui.element("summary"):
                    words("span", say.known(f"agent-{call['agent']}", call["agent"]), "row-title")
                    words("span", call["model"], "row-aside")
                    if call["error"]:
                        chip(say("call-failed"), "bad")
                    words("span", price(self._context, call), "row-aside")
                body = ui.element("div").classes("row-body")
            row.on("toggle", partial(open_call, self._context, call["id"], body), throttle=1.0)

    def _side(self, name: str, events: list[Json], texts: Mapping[str, str | None]) -> None:
        if not events:
            return
        heading(self._context.say(name), 3).classes("details-title")
        with ui.element("ul").classes("jumps"):
            for event in events:
                with ui.element("li"), ui.element("button").props("type=button").classes("jump") as jump:
                    with ui.element("span").classes("jump-head"):
                        words("b", title(self._context.say, event))
                        words("span", self._lanes.who(event), "jump-who")
                    words("span", texts.get(event["id"]) or summary(self._context.say, event["payload"]), "jump-text")
                    words("time", self._context.say.moment(event["timestamp"], "HH:mm:ss"))
                jump.on("click", partial(self._jump, event["id"]))

    def _exactly(self, event: Json) -> None:
        data = {name: event[name] for name in ("id", "event_type", "source", "payload", "links")}
        heading(self._context.say("control-exactly"), 3).classes("details-title")
        words("pre", json.dumps(data, ensure_ascii=False, indent=2), "exact").props("tabindex=0")
