"""Leases in the database for work that only one worker may do at a time; they expire unless they are renewed.

A lease decides who may begin. Each transaction under it also runs `lease_repository.require`, so that a worker that was
paused while another took over writes nothing.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Collection
from datetime import timedelta
from typing import Final

from internal.errors import LeaseLost, StorageError
from internal.scheduling import lease_repository as repository
from internal.storage.database import Database
from internal.storage.engine.write_guard import Fence

log = logging.getLogger(__name__)

LENGTH: Final = timedelta(seconds=5)
"""The time for which a worker that died keeps its leases."""

RENEWALS: Final = 3
"""The number of renewals within one length: two may fail before the lease is lost."""


class Leases:
    """The leases of one worker; `holder` is its name, a new one at each start of the program."""

    def __init__(self, database: Database, holder: str) -> None:
        self._database, self.holder = database, holder

    async def take(self, name: str, for_: timedelta = LENGTH) -> bool:
        """Takes the lease for this time, also if it is ours already. Returns False while another worker has it."""
        return name in await self.take_all([name], for_)

    async def take_all(self, names: Collection[str], for_: timedelta = LENGTH) -> set[str]:
        """Takes the free leases among these. Returns those that are ours now."""
        if not names:
            return set()
        return await self._database.write_separately(lambda c: repository.take_leases(c, names, self.holder, for_))

    async def renew(self, name: str, for_: timedelta = LENGTH) -> bool:
        """Renews the lease for this time from now. Returns whether it is still ours."""
        return name in await self.renew_all([name], for_)

    async def renew_all(self, names: Collection[str], for_: timedelta = LENGTH) -> set[str]:
        """Renews many in one statement. Returns those that are still ours."""
        if not names:
            return set()
        return await self._database.write_separately(lambda c: repository.renew(c, names, self.holder, for_))

    async def release(self, *names: str) -> None:
        """Releases these leases; one that is no longer ours stays with its holder."""
        if names:
            await self._database.write_separately(lambda c: repository.release(c, names, self.holder))

    async def release_all(self) -> None:
        """Releases all leases of this worker, when it stops."""
        await self._database.write_separately(lambda c: repository.release_all(c, self.holder))

    async def drop_lapsed(self, prefix: str) -> int:
        """Deletes expired leases of this kind that nobody will take again. Returns how many."""
        return await self._database.write_separately(lambda c: repository.drop_lapsed(c, prefix))

    async def held(self, name: str) -> bool:
        """Whether the lease is ours and has not expired."""
        return await self._database.read(lambda c: repository.holder_of(c, name)) == self.holder

    async def standing(self, prefix: str) -> dict[str, str]:
        """Every lease whose name begins with `prefix` and that has not expired, with its holder."""
        return await self._database.write_separately(lambda c: repository.active_leases(c, prefix))

    def fence(self, name: str) -> Fence:
        """The check of a unit of work under the lease: LeaseLost if another worker has taken it."""
        return lambda connection: repository.require(connection, name, self.holder)

    @contextlib.asynccontextmanager
    async def kept(self, name: str, for_: timedelta = LENGTH) -> AsyncIterator[None]:
        """Waits until the lease is ours and keeps it; if it is lost, cancels the body and raises LeaseLost.

        `with_check(leases.fence(name))` inside the body blocks writes after the loss. The body is cancelled within the
        lease's length by this machine's clock, before anybody can take the lease. Leaving the block releases it.
        """
        until = await self._waited_for(name, for_)
        body = asyncio.current_task()
        assert body is not None
        lost = asyncio.Event()
        keeper = asyncio.create_task(self._keep(name, for_, until, body, lost), name=f"lease-{name}")
        try:
            yield
        except asyncio.CancelledError:
            if lost.is_set() and body.uncancel() == 0:
                raise LeaseLost from None
            raise
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)
            if not lost.is_set():
                with contextlib.suppress(StorageError):  # it expires by itself
                    await self.release(name)

    async def _waited_for(self, name: str, for_: timedelta) -> float:
        """Takes the lease as soon as it is free. Returns the second at which it expires by this machine's clock."""
        while True:
            until = asyncio.get_running_loop().time() + for_.total_seconds()
            try:
                if await self.take(name, for_):
                    return until
                await self._until_free(name, for_)
            except StorageError:
                log.warning("lease_request_failed", extra={"lease": name}, exc_info=True)
                await asyncio.sleep(for_.total_seconds() / RENEWALS)

    async def _until_free(self, name: str, for_: timedelta) -> None:
        """Waits until the lease is free, and looks several times within a length."""
        while True:
            await asyncio.sleep(for_.total_seconds() / (4 * RENEWALS))
            if await self._database.read(lambda c: repository.holder_of(c, name)) is None:
                return

    async def _keep(
        self, name: str, for_: timedelta, until: float, body: asyncio.Task[object], lost: asyncio.Event
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(for_.total_seconds() / RENEWALS, max(until - loop.time(), 0)))
            asked = loop.time()
            ours = await self._still_ours(name, for_, until)
            if ours:
                until = asked + for_.total_seconds()
            elif ours is False or loop.time() >= until:
                log.warning("lease_lost", extra={"lease": name})
                lost.set()
                body.cancel()
                return

    async def _still_ours(self, name: str, for_: timedelta, until: float) -> bool | None:
        """Renews the lease. Returns None if the result is unknown."""
        with contextlib.suppress(StorageError, TimeoutError):
            async with asyncio.timeout_at(until):
                return await self.renew(name, for_)
        return None
