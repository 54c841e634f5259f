"""The parts of the control room together: the live stream, the lanes, the chosen event."""

import asyncio
from functools import partial
from typing import Final

from nicegui import background_tasks, ui

from bot.console.elements import style, trouble_notice, words
from bot.console.page_context import PageContext
from bot.console.pages.control.details import Details
from bot.console.pages.control.lanes import LaneList
from bot.console.pages.control.people import UserPanel
from bot.console.pages.control.simulation import simulation_panel
from bot.console.pages.control.timeline import EventBatcher, Timeline
from bot.console.rest import Json, LoggedOut, RestError

_PAGE: Final = 200
_AGAIN_S: Final = 3.0
"""Seconds to wait after a stream has ended."""


async def build(context: PageContext) -> None:
    style("control")
    room = _ControlRoom(context)
    await simulation_panel(context, room.foot)


class _ControlRoom:
    """One open control room."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._lanes = LaneList(context.say, context.users, everybody=context.user_id is None)
        self._last: int = 0
        self._first: int = 0
        self._shown: set[int] = set()
        self._following: asyncio.Task[None] | None = None
        with ui.element("div").classes("room") as self._root:
            self._people = UserPanel(context)
            with ui.element("section").classes("room-middle") as middle:
                middle.props["aria-label"] = context.say("control-timeline")
                self._notice = words("p", context.say("control-offline"), "notice").props("role=status")
                self._timeline = Timeline(
                    context, self._lanes, ready=self._fill, earlier=self._earlier, choose=self._choose, hide=self._hide
                )
            self._details = Details(context, self._lanes, self._choose, self._shut)
        self._notice.set_visibility(False)
        ui.context.client.on_delete(self._leave)

    @property
    def foot(self) -> ui.element:
        """The place for a panel at the lower left."""
        return self._people.foot

    async def _fill(self) -> None:
        """Shows the newest page of events, then live ones."""
        with trouble_notice(self._context):
            events = await self._newest()
            self._timeline.reset(events, whole=len(events) < _PAGE)
            self._follow()

    async def _newest(self) -> list[Json]:
        events: list[Json] = (await self._context.rest.get("/timeline", limit=_PAGE, **self._event_query()))["events"]
        self._last = events[-1]["place"] if events else 0
        self._first = events[0]["place"] if len(events) == _PAGE else 0
        self._shown = {event["place"] for event in events}
        return events

    def _event_query(self) -> Json:
        return {"user_id": self._context.user_id, "hide": self._lanes.hidden}

    # Live

    def _follow(self) -> None:
        self._leave()
        self._following = background_tasks.create(self._live(), name="control room")

    def _leave(self) -> None:
        if self._following is not None:
            self._following.cancel()

    async def _live(self) -> None:
        """Reads the stream until the page is closed; continues a stream that ended where it stopped."""
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
        async for received in self._context.rest.stream("/timeline/stream", after=self._last, **self._event_query()):
            if received is None:
                with self._root:
                    self._notice.set_visibility(False)
                continue
            position = received.value["place"]
            # Some are repeated, as late ones may lie between them; those before the page are loaded with it.
            if position >= self._first and position not in self._shown:
                self._shown.add(position)
                self._last = max(self._last, position)
                arriving.add(received.value)

    async def _arrived(self, events: list[Json]) -> None:
        with self._root:
            self._timeline.arrived(events)
            await self._people.update_from(events)

    # Actions of the reader

    async def _earlier(self, position: int) -> None:
        with trouble_notice(self._context):
            found = await self._context.rest.get("/timeline", before=position, limit=_PAGE, **self._event_query())
            self._timeline.older(found["events"], whole=len(found["events"]) < _PAGE)

    async def _hide(self, lane_id: str) -> None:
        self._lanes.toggle(lane_id)
        self._timeline.show_lanes()
        await self._fill()

    async def _choose(self, event_id: str) -> None:
        self._root.classes("details-open")
        with trouble_notice(self._context):
            linked = await self._details.show(event_id)
            self._timeline.choose(event_id, linked)

    async def _shut(self) -> None:
        self._root.classes(remove="details-open")
        self._details.clear()
        self._timeline.choose(None)
