"""Telegram's flood limits: one budget a chat and one for all, shared by sends, edits, drafts and typing."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

GLOBAL_PER_SECOND = 25.0
GLOBAL_BURST_S = 0.16
"""Burst and refill together stay below the 30 calls that Telegram grants in any one second: 4 + 25."""
CHAT_PER_SECOND = 1.0
CHAT_BURST = 4.0
GROUP_PER_SECOND = 18 / 60
GROUP_BURST = 3.0
ROUNDING = 1e-6
"""Of a token: less is nothing, or a wait too short to move the clock would be waited for without end."""
KNOWN_CHATS = 10_000
"""Buckets kept; a chat that fell out was silent for long and is full again anyway."""


@dataclass(slots=True)
class _Bucket:
    """A token bucket: `level` tokens at time `at`, refilled by `rate` a second up to `burst`."""

    rate: float
    burst: float
    level: float
    at: float

    def wait(self, now: float) -> float:
        """Seconds until one token is there."""
        self.level = min(self.burst, self.level + (now - self.at) * self.rate)
        self.at = now
        missing = 1 - self.level
        return missing / self.rate if missing > ROUNDING else 0.0

    def take(self) -> None:
        self.level -= 1


class Budget:
    """`take` waits for its turn; `try_take` is for cosmetic calls, which are shed when there is nothing to spare."""

    def __init__(
        self, *, global_per_second: float = GLOBAL_PER_SECOND, chat_per_second: float = CHAT_PER_SECOND
    ) -> None:
        burst = max(global_per_second * GLOBAL_BURST_S, 1.0)
        self._most_rate, self._most_burst = global_per_second, burst
        self._all = _Bucket(global_per_second, burst, burst, time.monotonic())
        self._chat_rate = chat_per_second
        self._chats: OrderedDict[int, _Bucket] = OrderedDict()
        self._muted: dict[int, float] = {}

    def share(self, workers: int) -> None:
        """Leaves their parts of the budget for all to the other workers; each chat's own is that of who serves it."""
        burst = max(self._most_burst / workers, 1.0)
        # Each has a call to spare at any time: that many fewer are granted a second, or all together had too many.
        rate = max(self._most_rate + self._most_burst - burst * workers, 1.0) / workers
        if (self._all.rate, self._all.burst) != (rate, burst):
            self._all = _Bucket(rate, burst, min(self._all.level, burst), self._all.at)

    async def take(self, chat_id: int) -> None:
        while (wait := self._wait(chat_id)) > 0:  # noqa: ASYNC110 - what is waited for is time itself
            await asyncio.sleep(wait)
        self._spend(chat_id)

    def try_take(self, chat_id: int) -> bool:
        """Spends only when more than half of the burst is left, so that a real message never waits for decoration."""
        if self._wait(chat_id) > 0:
            return False
        chat = self._chat(chat_id)
        if chat.level < chat.burst / 2 or self._all.level < self._all.burst / 2:
            return False
        self._spend(chat_id)
        return True

    def mute(self, chat_id: int, seconds: float) -> None:
        """Telegram asked for silence in this chat (429)."""
        now = time.monotonic()
        self._muted = {chat: until for chat, until in self._muted.items() if until > now}
        self._muted[chat_id] = now + seconds

    def _wait(self, chat_id: int) -> float:
        now = time.monotonic()
        until = self._muted.get(chat_id, 0.0)
        if until and until <= now:
            del self._muted[chat_id]
        return max(until - now, self._chat(chat_id).wait(now), self._all.wait(now), 0.0)

    def _spend(self, chat_id: int) -> None:
        self._chat(chat_id).take()
        self._all.take()

    def _chat(self, chat_id: int) -> _Bucket:
        bucket = self._chats.get(chat_id)
        if bucket is None:
            rate, burst = (self._chat_rate, CHAT_BURST) if chat_id > 0 else (GROUP_PER_SECOND, GROUP_BURST)
            bucket = self._chats[chat_id] = _Bucket(rate, burst, burst, time.monotonic())
            if len(self._chats) > KNOWN_CHATS:
                self._chats.popitem(last=False)
        else:
            self._chats.move_to_end(chat_id)
        return bucket
