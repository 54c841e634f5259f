"""Telegram's flood limits: a number of calls for each chat and for all, then 429 with a pause."""

import math
import time
from collections import deque
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from bot.simulator.server.errors import too_many_requests

# What the limits count; Telegram counts typing actions, drafts and edits too.
_COUNTED = ("send", "edit", "forward", "copy", "stop")
_MINUTE = 60.0


class FloodLimits(BaseModel):
    """Calls allowed: `per_chat` in `chat_seconds` in one private chat, `per_group` a minute, `overall` a second.

    Telegram asks for one message a second in a chat but lets short bursts pass, like twenty in fifteen seconds here.
    """

    model_config = ConfigDict(extra="forbid")

    enabled: bool = True
    per_chat: int = Field(20, ge=1)
    chat_seconds: float = Field(15.0, gt=0)
    per_group: int = Field(20, ge=1)
    overall: int = Field(30, ge=1)


class FloodGate:
    """Counts calls in sliding windows and refuses those beyond the limits."""

    def __init__(self, limits: FloodLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._calls: dict[object, deque[float]] = {}

    def admit(self, method: str, chat_id: int) -> None:
        """Counts one call. Raises the 429 refusal, without counting, if a window is full."""
        if not self.limits.enabled or not method.lower().startswith(_COUNTED):
            return
        now = self._clock()
        limits = self.limits
        of_chat = (limits.per_group, _MINUTE) if chat_id < 0 else (limits.per_chat, limits.chat_seconds)
        windows = [(chat_id, *of_chat), ("overall", limits.overall, 1.0)]
        waits = [self._wait(key, allowed, span, now) for key, allowed, span in windows]
        if max(waits) > 0:
            raise too_many_requests(math.ceil(max(waits)))
        for key, _, _ in windows:
            self._calls.setdefault(key, deque()).append(now)

    def _wait(self, key: object, allowed: int, span: float, now: float) -> float:
        calls = self._calls.get(key, deque())
        while calls and calls[0] <= now - span:
            calls.popleft()
        return 0.0 if len(calls) < allowed else calls[0] + span - now
