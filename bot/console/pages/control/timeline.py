"""The middle of the control room: one row an event, in the lane of whoever caused it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from bot.console.page_context import PageContext
from bot.console.pages.control.lanes import Lanes
from bot.console.phrases import Phrases
from bot.console.rest import Json

_WORDS: Final = ("lanes", "pause", "follow", "timeline", "loading", "nothing")

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OWN: Final = re.compile(r"[A-Za-z][A-Za-z_]*")
_NUMBERS: Final = frozenset({"update_id", "tg_id", "seq", "first_seq", "last_seq", "part"})
_MOMENTS: Final = frozenset({"until"})
_FEW: Final = 3
"""More of anything are counted, not listed."""


class Timeline(ui.element, component="timeline.js"):
    """Rows live in the browser, which keeps only those in sight as elements.

    `ready()`: rows can be told; `earlier(place)`: rows before that place are wanted; `choose(id)` of an event;
    `hide(id)` of a lane.
    """

    def __init__(
        self,
        seat: PageContext,
        lanes: Lanes,
        *,
        ready: Callable[[], Awaitable[None]],
        earlier: Callable[[int], Awaitable[None]],
        choose: Callable[[str], Awaitable[None]],
        hide: Callable[[str], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._seat, self._lanes = seat, lanes
        self._props["words"] = {name: seat.say(f"control-{name}") for name in _WORDS}
        self._props["locale"] = seat.say.language
        self._props["zone"] = str(seat.say.zone)
        self._props["lanes"] = lanes.told()
        self._props["chosen"] = None
        self.on("ready", ready)
        self.on("earlier", _taking(earlier))
        self.on("choose", _taking(choose))
        self.on("hide", _taking(hide))

    def reset(self, events: Sequence[Json], *, whole: bool) -> None:
        """These and no others; `whole`: nothing is older."""
        self._tell("reset", events, whole)

    def older(self, events: Sequence[Json], *, whole: bool) -> None:
        self._tell("older", events, whole)

    def arrived(self, events: Sequence[Json]) -> None:
        self._tell("arrived", events)

    def show_lanes(self) -> None:
        self._props["lanes"] = self._lanes.told()
        self.update()

    def choose(self, event_id: str | None, linked: Sequence[str] = ()) -> None:
        """Marks the chosen event and those it is linked with, and brings it into sight."""
        self._props["chosen"] = event_id
        self.update()
        self.run_method("link", list(linked))
        if event_id is not None:
            self.run_method("reveal", event_id)

    def _tell(self, method: str, events: Sequence[Json], *more: Any) -> None:
        met = [self._lanes.meet(event) for event in events]
        if any(met):
            self.show_lanes()
        self.run_method(method, [row(self._seat, self._lanes, event) for event in events], *more)


def row(seat: PageContext, lanes: Lanes, event: Json) -> Json:
    """What the browser needs of an event."""
    return {
        "id": event["id"],
        "place": event["place"],
        "timestamp": event["timestamp"],
        "lane": lanes.of(event),
        "title": title(seat.say, event),
        "who": lanes.who(event),
        "text": event["text"] or summary(seat.say, event["payload"]),
    }


def title(say: Phrases, event: Json) -> str:
    """`message_received` as people say it; an event the console does not know yet by its own name."""
    kind = event["event_type"]
    return say.known(f"event-{kind.replace('_', '-')}", kind.replace("_", " ").capitalize())


def summary(say: Phrases, payload: Json) -> str:
    """The payload in one line, without ids and numbers of rows, which say nothing to people."""
    told = ((name, value) for name, value in payload.items() if name not in _NUMBERS and not _is_id(value))
    parts = []
    for name, value in told:
        if value in (None, "", [], {}, False) or (name, value) == ("attempt", 1):
            continue
        field = say.known(f"field-{name}", name.replace("_", " "))
        parts.append(field if value is True else f"{field}: {_told(say, name, value)}")
    return " · ".join(parts)[:240]


def _told(say: Phrases, name: str, value: object) -> str:
    if name == "reason" and isinstance(value, str):
        told = say.reason(value)
        return told if told != value else _word(say, value)
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
        return ", ".join(f"{_word(say, name)} {_word(say, told)}" for name, told in value.items())
    return _word(say, value)


def _word(say: Phrases, value: object) -> str:
    """A word of the product's own in the reader's language; anything else as it is."""
    return say.known(f"value-{value}", str(value)) if isinstance(value, str) and _OWN.fullmatch(value) else str(value)


def _taking(react: Callable[[Any], Awaitable[None]]) -> Callable[[GenericEventArguments], Awaitable[None]]:
    """The one thing an event of the browser brings along."""

    async def reacted(event: GenericEventArguments) -> None:
        await react(event.args)

    return reacted
