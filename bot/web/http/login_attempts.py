"""Limits attempts to log in."""

import time
from collections import deque
from collections.abc import Callable
from typing import Final

WINDOW_S: Final = 60.0
MOST_BY_ONE: Final = 10
MOST_BY_ALL: Final = 100
"""The most failed attempts within the window, from one address and from all together."""


class LoginAttempts:
    """Counts failed attempts by address. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: deque[tuple[float, str]] = deque(maxlen=MOST_BY_ALL)

    def pause(self, address: str) -> float:
        """Seconds until this address may try again, or 0."""
        now = self._clock()
        while self._failed and self._failed[0][0] <= now - WINDOW_S:
            self._failed.popleft()
        own = [at for at, whose in self._failed if whose == address]
        full = [own[0]] if len(own) >= MOST_BY_ONE else []
        full += [self._failed[0][0]] if len(self._failed) >= MOST_BY_ALL else []
        return max((at + WINDOW_S - now for at in full), default=0.0)

    def failed(self, address: str) -> None:
        self._failed.append((self._clock(), address))
