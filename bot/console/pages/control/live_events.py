"""Live events on their way to the screen: gathered for a breath, then shown together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from bot.console.rest import Json

BREATH_S: Final = 0.15
"""New events are shown a few times a second, however many there are."""

Start = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class EventBatcher:
    """Hands events to `show` in the order they came, one handful at a time.

    `start` runs a coroutine in the background; an error of `show` is its task's, and what came since is shown with the
    next event.
    """

    def __init__(self, show: Callable[[list[Json]], Awaitable[None]], start: Start) -> None:
        self._show, self._start = show, start
        self._waiting: list[Json] = []
        self._showing: asyncio.Task[None] | None = None

    def came(self, event: Json) -> None:
        self._waiting.append(event)
        if self._showing is None or self._showing.done():
            self._showing = self._start(self._show_all())

    async def _show_all(self) -> None:
        # What comes while a handful is being shown would otherwise wait for the next event, however long.
        while self._waiting:
            await asyncio.sleep(BREATH_S)
            events, self._waiting = self._waiting, []
            await self._show(events)
