"""The three parts of the control room, and what keeps them together: the live stream, the lanes, the chosen event."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from nicegui import background_tasks, ui

from bot.console.elements import style, told, words
from bot.console.page_context import PageContext
from bot.console.pages.control.details import Details
from bot.console.pages.control.lanes import Lanes
from bot.console.pages.control.live_events import EventBatcher
from bot.console.pages.control.people import People
from bot.console.pages.control.simulation import simulation_panel
from bot.console.pages.control.timeline import Timeline
from bot.console.rest import Json, LoggedOut, RestError

_PAGE: Final = 200
_AGAIN_S: Final = 3.0
"""After a stream that ended."""


async def build(seat: PageContext) -> None:
    style("control")
    room = _Room(seat)
    await simulation_panel(seat, room.foot)


class _Room:
    """One open control room."""

    def __init__(self, seat: PageContext) -> None:
        self._seat = seat
        self._lanes = Lanes(seat.say, seat.users, everybody=seat.user_id is None)
        self._last: int = 0
        self._first: int = 0
        self._shown: set[int] = set()
        self._following: asyncio.Task[None] | None = None
        with ui.element("div").classes("room") as self._root:
            self._people = People(seat)
            with ui.element("section").classes("room-middle") as middle:
                middle.props["aria-label"] = seat.say("control-timeline")
                self._notice = words("p", seat.say("control-offline"), "notice").props("role=status")
                self._timeline = Timeline(
                    seat, self._lanes, ready=self._fill, earlier=self._earlier, choose=self._choose, hide=self._hide
                )
            self._details = Details(seat, self._lanes, self._choose, self._shut)
        self._notice.set_visibility(False)
        ui.context.client.on_delete(self._leave)

    @property
    def foot(self) -> ui.element:
        """Room for a panel at the lower left."""
        return self._people.foot

    async def _fill(self) -> None:
        """The newest page, then live from there."""
        with told(self._seat):
            events = await self._newest()
            self._timeline.reset(events, whole=len(events) < _PAGE)
            self._follow()

    async def _newest(self) -> list[Json]:
        events: list[Json] = (await self._seat.rest.get("/timeline", limit=_PAGE, **self._wanted()))["events"]
        self._last = events[-1]["place"] if events else 0
        self._first = events[0]["place"] if len(events) == _PAGE else 0
        self._shown = {event["place"] for event in events}
        return events

    def _wanted(self) -> Json:
        return {"user_id": self._seat.user_id, "hide": self._lanes.hidden}

    # Live

    def _follow(self) -> None:
        self._leave()
        self._following = background_tasks.create(self._live(), name="control room")

    def _leave(self) -> None:
        if self._following is not None:
            self._following.cancel()

    async def _live(self) -> None:
        """Reads the stream until the page goes; one that ends is taken up where it ended."""
        while True:
            try:
                await self._read()
            except LoggedOut:
                with self._root:
                    ui.navigate.to("/login")
                return
            except RestError:
                with self._root:
                    self._notice.set_visibility(True)
                await asyncio.sleep(_AGAIN_S)

    async def _read(self) -> None:
        arriving = EventBatcher(self._arrived, partial(background_tasks.create, name="control room shows"))
        async for told_ in self._seat.rest.stream("/timeline/stream", after=self._last, **self._wanted()):
            if told_ is None:
                with self._root:
                    self._notice.set_visibility(False)
                continue
            place = told_.value["place"]
            # Some are told again, for what is late may stand between them; what is before the page is read with it.
            if place >= self._first and place not in self._shown:
                self._shown.add(place)
                self._last = max(self._last, place)
                arriving.came(told_.value)

    async def _arrived(self, events: list[Json]) -> None:
        with self._root:
            self._timeline.arrived(events)
            await self._people.heard(events)

    # What the reader does

    async def _earlier(self, place: int) -> None:
        with told(self._seat):
            found = await self._seat.rest.get("/timeline", before=place, limit=_PAGE, **self._wanted())
            self._timeline.older(found["events"], whole=len(found["events"]) < _PAGE)

    async def _hide(self, lane_id: str) -> None:
        self._lanes.toggle(lane_id)
        self._timeline.show_lanes()
        await self._fill()

    async def _choose(self, event_id: str) -> None:
        self._root.classes("details-open")
        with told(self._seat):
            linked = await self._details.show(event_id)
            self._timeline.choose(event_id, linked)

    async def _shut(self) -> None:
        self._root.classes(remove="details-open")
        self._details.clear()
        self._timeline.choose(None)
