"""What falls to this process among the others of its store: it is known to live, and one of them keeps the clock.

Jobs by the clock run where `leads` is true. For a moment after a pause two processes may both believe that it falls to
them: every such job finds out in its own transaction whether it is still due, so it is done once all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, NoReturn

from internal.errors import StorageError
from internal.scheduling.leases import LENGTH, RENEWALS, Leases
from internal.scheduling.model import NAME_LENGTH, WORKER
from internal.storage.engine import Database

log = logging.getLogger(__name__)

CLOCK: Final = "clock"
"""The lease of who does what is due by the clock."""

ALIVE: Final = timedelta(seconds=10)
"""How long a process that says nothing counts as living: its runs wait for so long, and a busy machine stutters."""


class Duty:
    """`taken_over` is called when the clock's jobs fall to this process."""

    def __init__(self, database: Database, taken_over: Callable[[], None] = lambda: None) -> None:
        self.name = secrets.token_hex(NAME_LENGTH // 2)
        self.leases = Leases(database, self.name)
        self._shared, self._taken_over = database.shared, taken_over
        self._leads_until = float("-inf")
        self._changed = asyncio.Event()

    @property
    def leads(self) -> bool:
        """Whether the jobs by the clock are done here; always where no other process can be."""
        return not self._shared or time.monotonic() < self._leads_until

    async def run(self) -> NoReturn:
        """Lets the others know that this process lives, and takes over the clock when nobody keeps it."""
        while True:
            if self._shared:
                try:
                    await self.look()
                except StorageError:  # the leases run out; it is tried again
                    log.warning("leases_not_renewed", exc_info=True)
            await asyncio.sleep(LENGTH.total_seconds() / RENEWALS)

    async def look(self) -> None:
        """Renews both leases, or takes the clock's if it is free. Raises StorageError."""
        asked, led = time.monotonic(), self.leads
        await self.leases.take(f"{WORKER}{self.name}", ALIVE)
        if await self.leases.take(CLOCK):
            self._leads_until = asked + LENGTH.total_seconds()
        else:
            self._leads_until = float("-inf")
        if self.leads != led:
            log.info("clock_taken_over" if self.leads else "clock_given_up", extra={"worker": self.name})
            self._changed.set()
            self._changed = asyncio.Event()
            if self.leads:
                self._taken_over()

    async def resign(self) -> None:
        """At the end: gives everything back, so that the others go on at once."""
        self._leads_until = float("-inf")
        if self._shared:
            with contextlib.suppress(StorageError):  # it runs out by itself
                await self.leases.release_all()

    async def while_leading(self, work: Callable[[], Awaitable[object]]) -> NoReturn:
        """Runs endless work whenever the clock falls to this process. Raises what the work raises."""
        while True:
            while not self.leads:
                await self._changed.wait()
            working = asyncio.ensure_future(work())
            try:
                while self.leads and not working.done():
                    await asyncio.wait([working], timeout=LENGTH.total_seconds() / RENEWALS)
                if working.done():
                    working.result()
            finally:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
