"""Collects live events for a moment, then shows them together."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from bot.console.rest import Json

BATCH_INTERVAL_S: Final = 0.15
"""New events are shown a few times a second, however many there are."""

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
