"""Delivers news of a chat to pages and tests in this process as soon as it is stored."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

log = logging.getLogger(__name__)

NewsKind = Literal[
    "message", "edited", "deleted", "typing", "draft", "confirmed", "answered", "user", "chat", "commands", "bot",
    "read", "pinned", "inline",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened in chat `chat_id` (0 = everywhere); `body` is what the kind needs."""

    kind: NewsKind
    chat_id: int
    body: Any = None


Listener = Callable[[News], None]


class Feed:
    """Delivers news to all listeners at once, in order. A listener that fails is dropped; the others go on."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self.counts: Counter[int] = Counter()
        """The number of events in each chat."""

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls `listener` for all news from now on. Returns a function that ends the subscription."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def publish(self, kind: NewsKind, chat_id: int = 0, body: Any = None) -> None:
        news = News(kind, chat_id, body)
        self.counts[chat_id] += 1
        for listener in list(self._listeners):
            try:
                listener(news)
            except Exception:  # a page that is being closed must not stop the bot's call
                log.exception("feed listener dropped")
                self._listeners.remove(listener)

    async def beyond(self, chat_id: int, count: int, within: float) -> None:
        """Returns once the number of events of the chat differs from `count`, or after `within` seconds."""
        if self.counts[chat_id] != count:
            return
        happened = asyncio.Event()
        end = self.subscribe(lambda news: happened.set() if news.chat_id == chat_id else None)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await happened.wait()
        finally:
            end()
