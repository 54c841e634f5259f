"""Membership of this process among the workers of a store: they know that it is alive, and one of them leads.

Clock jobs run in the leading process. For a moment after a pause two processes may both believe that they lead: every
such job checks in its own transaction whether it is due, so it is still done once.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Final, NoReturn

from internal.errors import StorageError, StorageLocked
from internal.scheduling import lease_repository
from internal.scheduling.leases import LENGTH, RENEWALS, Leases
from internal.scheduling.retry import retry_delay
from internal.scheduling.run import MOVING, NAME_LENGTH, WORKER
from internal.scheduling.shards import SERVING
from internal.storage.database import Database

log = logging.getLogger(__name__)

MIRROR: Final = "mirror:"
"""The prefix of the lease for updating an owner's mirror; the owner's id follows."""

CLOCK: Final = "clock"
"""The lease of the process that runs the clock jobs."""

ALIVE: Final = timedelta(seconds=10)
"""The time for which a silent process counts as alive, in which its runs wait: a busy machine may pause."""

_PATIENCE_S: Final = 60.0
"""Seconds to wait at start for a server that is away, as other connections do."""


class WorkerMembership:
    """The membership of a process. `taken_over` is called when it becomes the leader.

    A dead leader is replaced after `length`, its runs after `alive`.
    """

    def __init__(
        self,
        database: Database,
        taken_over: Callable[[], None] = lambda: None,
        *,
        length: timedelta = LENGTH,
        alive: timedelta = ALIVE,
    ) -> None:
        self._length, self._alive, self._every = length, alive, length.total_seconds() / RENEWALS
        self.name = secrets.token_hex(NAME_LENGTH // 2)
        self.leases = Leases(database, self.name)
        self._database, self._shared, self._taken_over = database, database.shared, taken_over
        self._leads_until = float("-inf")
        self._stands = self._led = self._modest = False
        self._changed, self._sooner = asyncio.Event(), asyncio.Event()

    @property
    def leads(self) -> bool:
        """Whether clock jobs run here; always true if there can be no other process."""
        return not self._shared or time.monotonic() < self._leads_until

    @contextlib.asynccontextmanager
    async def on(self) -> AsyncIterator[None]:
        """Shows the other processes that this one is alive until the block ends; then its work is free at once.

        Raises StorageLocked while a command copies or replaces the store, StorageError when the server is away.
        """
        if not self._shared:
            yield
            return
        await self._join()
        looking = asyncio.create_task(self._keep_looking(), name="duty")
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            with contextlib.suppress(StorageError):  # they expire by themselves
                await self.leases.release_all()

    @contextlib.contextmanager
    def standing_for_clock(self, *, modestly: bool = False) -> Iterator[None]:
        """Lets this process lead during the block as soon as no other does.

        `modestly`: not while another process delivers messages, because only that one can do all due work.
        """
        if not self._shared:
            yield
            return
        self._stands, self._modest = True, modestly
        self._sooner.set()
        try:
            yield
        finally:
            self._stands = False
            self._lead_until(float("-inf"))
            self._sooner.set()

    async def _join(self) -> None:
        """Joins the store's processes. It is retried for a while, because the server may be restarting."""
        begun, failures = time.monotonic(), 0
        while True:
            try:
                await self._look()
                await self._refuse_moving()
            except StorageLocked:
                raise
            except StorageError:
                failures += 1
                wait = retry_delay(failures, timedelta(seconds=0.1), timedelta(seconds=2)).total_seconds()
                if time.monotonic() + wait - begun > _PATIENCE_S:
                    raise
                log.warning("worker_not_registered", extra={"attempt": failures}, exc_info=True)
                await asyncio.sleep(wait)
            else:
                return

    async def _keep_looking(self) -> NoReturn:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(begun + self._every - loop.time(), self._every / 4)):
                    await self._sooner.wait()
            self._sooner.clear()
            begun = loop.time()
            try:
                await self._look()
            except StorageError:  # the leases expire; it is tried again
                log.warning("leases_not_renewed", exc_info=True)

    async def _look(self) -> None:
        """Renews both leases, or takes the leader's if it is free. Raises StorageError."""
        asked = time.monotonic()
        await self.leases.take(f"{WORKER}{self.name}", self._alive)
        if not self._stands or (self._modest and await self._another_delivers()):
            self._lead_until(float("-inf"))
            await self.leases.release(CLOCK)
        elif await self.leases.take(CLOCK, self._length):
            self._lead_until(asked + self._length.total_seconds())
        else:
            self._lead_until(float("-inf"))

    async def _refuse_moving(self) -> None:
        # This process is known to be alive by now: a command that copies the store looks later and finds it.
        if await self.leases.standing(MOVING):
            await self.leases.release_all()
            raise StorageLocked("the store is being moved or replaced; start again when that has ended")

    async def _another_delivers(self) -> bool:
        return bool(set((await self.leases.standing(SERVING)).values()) - {self.name})

    def _lead_until(self, until: float) -> None:
        led, self._leads_until = self._led, until
        self._led = self.leads
        if self._led != led:
            log.info("clock_taken_over" if self._led else "clock_given_up", extra={"worker": self.name})
            self._changed.set()
            self._changed = asyncio.Event()
            if self._led:
                self._taken_over()

    async def drop_lapsed(self) -> None:
        """Deletes the leases of processes that were killed."""
        if self._shared:
            for kind in (WORKER, SERVING, MIRROR):
                await self._database.write(lambda c, kind=kind: lease_repository.drop_lapsed(c, kind))  # type: ignore[misc]

    async def while_leading(self, work: Callable[[], Awaitable[object]]) -> NoReturn:
        """Runs endless work whenever this process leads. Raises what the work raises."""
        every = self._every if self._shared else None
        while True:
            while not self.leads:
                await self._changed.wait()
            working = asyncio.ensure_future(work())
            try:
                while self.leads and not working.done():
                    await asyncio.wait([working], timeout=every)
                if working.done():
                    working.result()
            finally:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
