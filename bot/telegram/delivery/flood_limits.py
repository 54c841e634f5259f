"""Telegram's flood limits: a budget for each chat and one for all, shared by sends, edits, drafts and typing."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

GLOBAL_PER_SECOND = 25.0
GLOBAL_BURST_S = 0.16
"""Seconds of burst: with the refill it stays below the 30 calls that Telegram grants in any one second: 4 + 25."""
CHAT_PER_SECOND = 1.0
CHAT_BURST = 4.0
GROUP_PER_SECOND = 17 / 60
GROUP_BURST = 3.0
ROUNDING = 1e-6
"""The smallest fraction of a token that counts: a wait too short to move the clock would repeat without end."""
KNOWN_CHATS = 10_000
"""The most buckets kept in memory; a chat that is dropped has been silent for long, so its bucket is full again."""


@dataclass(slots=True)
class _Bucket:
    """A token bucket: `level` tokens at time `at`, refilled by `rate` a second up to `burst`."""

    rate: float
    burst: float
    level: float
    at: float

    def wait(self, now: float) -> float:
        """Seconds until one token is available."""
        self.level = min(self.burst, self.level + (now - self.at) * self.rate)
        self.at = now
        missing = 1 - self.level
        return missing / self.rate if missing > ROUNDING else 0.0

    def take(self) -> None:
        self.level -= 1


class Budget:
    """The flood limits; `take` waits until a call is allowed, `try_take` drops cosmetic calls on a low budget."""

    def __init__(
        self,
        *,
        global_per_second: float = GLOBAL_PER_SECOND,
        chat_per_second: float = CHAT_PER_SECOND,
        group_per_second: float = GROUP_PER_SECOND,
    ) -> None:
        burst = max(global_per_second * GLOBAL_BURST_S, 1.0)
        self._most_rate, self._most_burst = global_per_second, burst
        self._all = _Bucket(global_per_second, burst, burst, time.monotonic())
        self._chat_rate, self._group_rate = chat_per_second, group_per_second
        self._chats: OrderedDict[int, _Bucket] = OrderedDict()
        self._muted: dict[int, float] = {}

    def share(self, workers: int) -> None:
        """Reduces the overall budget to this worker's share; a chat's own budget belongs to the worker serving it."""
        burst = max(self._most_burst / workers, 1.0)
        # Each worker may have one call ready at any time: the rate is lowered by that many.
        rate = max(self._most_rate + self._most_burst - burst * workers, 1.0) / workers
        if (self._all.rate, self._all.burst) != (rate, burst):
            self._all = _Bucket(rate, burst, min(self._all.level, burst), self._all.at)

    async def take(self, chat_id: int) -> None:
        while (wait := self._wait(chat_id)) > 0:  # noqa: ASYNC110 - what is waited for is time itself
            await asyncio.sleep(wait)
        self._spend(chat_id)

    def try_take(self, chat_id: int) -> bool:
        """Takes a token only if more than half of the burst is left: real messages never wait for cosmetic calls."""
        if self._wait(chat_id) > 0:
            return False
        chat = self._chat(chat_id)
        if chat.level < chat.burst / 2 or self._all.level < self._all.burst / 2:
            return False
        self._spend(chat_id)
        return True

    def mute(self, chat_id: int, seconds: float) -> None:
        """Blocks calls to this chat for `seconds`: Telegram asked for silence (429)."""
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
            rate, burst = (self._chat_rate, CHAT_BURST) if chat_id > 0 else (self._group_rate, GROUP_BURST)
            bucket = self._chats[chat_id] = _Bucket(rate, burst, burst, time.monotonic())
            if len(self._chats) > KNOWN_CHATS:
                self._chats.popitem(last=False)
        else:
            self._chats.move_to_end(chat_id)
        return bucket
