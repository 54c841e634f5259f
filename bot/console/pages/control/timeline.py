"""The timeline: one row an event, in the lane of its source."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from bot.console.page_context import PageContext
from bot.console.pages.control.lanes import LaneList
from bot.console.phrases import Phrases
from bot.console.rest import Json

_WORDS: Final = ("lanes", "pause", "follow", "timeline", "loading", "nothing")

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OWN: Final = re.compile(r"[A-Za-z][A-Za-z_]*")
_NUMBERS: Final = frozenset({"update_id", "tg_id", "seq", "first_seq", "last_seq", "part"})
_MOMENTS: Final = frozenset({"until"})
_FEW: Final = 3
"""The most items of a payload that are listed; more are counted."""


class Timeline(ui.element, component="timeline.js"):
    """The rows live in the browser, which keeps only visible ones as elements.

    Calls `ready()` when rows can be sent, `earlier(position)` when rows before it are needed, `choose(id)` for an event
    and `hide(id)` for a lane.
    """

    def __init__(
        self,
        context: PageContext,
        lanes: LaneList,
        *,
        ready: Callable[[], Awaitable[None]],
        earlier: Callable[[int], Awaitable[None]],
        choose: Callable[[str], Awaitable[None]],
        hide: Callable[[str], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._context, self._lanes = context, lanes
        self._props["words"] = {name: context.say(f"control-{name}") for name in _WORDS}
        self._props["locale"] = context.say.language
        self._props["zone"] = str(context.say.zone)
        self._props["lanes"] = lanes.fields()
        self._props["chosen"] = None
        self.on("ready", ready)
        self.on("earlier", _with_argument(earlier))
        self.on("choose", _with_argument(choose))
        self.on("hide", _with_argument(hide))

    def reset(self, events: Sequence[Json], *, whole: bool) -> None:
        """Replaces all events; `whole`: no older ones exist."""
        self._send("reset", events, whole)

    def older(self, events: Sequence[Json], *, whole: bool) -> None:
        self._send("older", events, whole)

    def arrived(self, events: Sequence[Json]) -> None:
        self._send("arrived", events)

    def show_lanes(self) -> None:
        self._props["lanes"] = self._lanes.fields()
        self.update()

    def choose(self, event_id: str | None, linked: Sequence[str] = ()) -> None:
        """Marks the chosen event and those it is linked with, and scrolls to it."""
        self._props["chosen"] = event_id
        self.update()
        self.run_method("link", list(linked))
        if event_id is not None:
            self.run_method("reveal", event_id)

    def _send(self, method: str, events: Sequence[Json], *more: Any) -> None:
        met = [self._lanes.meet(event) for event in events]
        if any(met):
            self.show_lanes()
        self.run_method(method, [row(self._context, self._lanes, event) for event in events], *more)


def row(context: PageContext, lanes: LaneList, event: Json) -> Json:
    """The fields of an event that the browser needs."""
    return {
        "id": event["id"],
        "place": event["place"],
        "timestamp": event["timestamp"],
        "lane": lanes.of(event),
        "title": title(context.say, event),
        "who": lanes.who(event),
        "text": event["text"] or summary(context.say, event["payload"]),
    }


def title(say: Phrases, event: Json) -> str:
    """The name of an event type, such as `message_received`, in the reader's language; an unknown type's own name."""
    kind = event["event_type"]
    return say.known(f"event-{kind.replace('_', '-')}", kind.replace("_", " ").capitalize())


def summary(say: Phrases, payload: Json) -> str:
    """The payload in one line, without ids and row numbers."""
    fields = ((name, value) for name, value in payload.items() if name not in _NUMBERS and not _is_id(value))
    parts = []
    for name, value in fields:
        if value in (None, "", [], {}, False) or (name, value) == ("attempt", 1):
            continue
        field = say.known(f"field-{name}", name.replace("_", " "))
        parts.append(field if value is True else f"{field}: {_field_text(say, name, value)}")
    return " · ".join(parts)[:240]


def _field_text(say: Phrases, name: str, value: object) -> str:
    if name == "reason" and isinstance(value, str):
        reason = say.reason(value)
        return reason if reason != value else _word(say, value)
    if name in _MOMENTS and isinstance(value, str):
        return say.moment(value)
    return _short(say, value)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _short(say: Phrases, value: object) -> str:
    if isinstance(value, list):
        many = len(value) > _FEW or any(isinstance(one, dict) or _is_id(one) for one in value)
        return str(len(value)) if many else ", ".join(_word(say, one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{_word(say, name)} {_word(say, inner)}" for name, inner in value.items())
    return _word(say, value)


def _word(say: Phrases, value: object) -> str:
    """A word of the product in the reader's language; anything else unchanged."""
    return say.known(f"value-{value}", str(value)) if isinstance(value, str) and _OWN.fullmatch(value) else str(value)


def _with_argument(react: Callable[[Any], Awaitable[None]]) -> Callable[[GenericEventArguments], Awaitable[None]]:
    """A handler that passes on the only argument of a browser event."""

    async def reacted(event: GenericEventArguments) -> None:
        await react(event.args)

    return reacted


BATCH_INTERVAL_S: Final = 0.15
"""Seconds between two batches of new events, however many there are."""

Start = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class EventBatcher:
    """Hands events to `show` in order, one batch at a time.

    `start` runs a coroutine in the background; an error of `show` fails its task, and events since then are shown with
    the next one.
    """

    def __init__(self, show: Callable[[list[Json]], Awaitable[None]], start: Start) -> None:
        self._show, self._start = show, start
        self._waiting: list[Json] = []
        self._showing: asyncio.Task[None] | None = None

    def add(self, event: Json) -> None:
        self._waiting.append(event)
        if self._showing is None or self._showing.done():
            self._showing = self._start(self._show_all())

    async def _show_all(self) -> None:
        # Events that arrive while a batch is shown would otherwise wait for the next event, however long.
        while self._waiting:
            await asyncio.sleep(BATCH_INTERVAL_S)
            events, self._waiting = self._waiting, []
            await self._show(events)
