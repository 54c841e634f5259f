"""Shards of chats: every chat belongs to a shard, and each shard has one worker at a time.

A lease for each chat would be a write for each conversation; all shard leases are renewed in one statement. A new
worker gets its part from the others; the shards of one that stops or dies go to the others.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from datetime import timedelta
from typing import Any, Final, Protocol

from sqlalchemy import Connection

from internal.errors import LeaseLost, StorageError
from internal.scheduling import lease_repository
from internal.scheduling.leases import LENGTH, RENEWALS, Leases
from internal.scheduling.run import SHARD_COUNT
from internal.storage.engine.write_guard import Fence, with_check

log = logging.getLogger(__name__)

SERVING: Final = "serves:"
"""The prefix of the lease that shows that a worker serves chats; the worker's name follows."""

_SHARD: Final = "chats:"

HANDING_OVER_S: Final = 8.0
"""Seconds for which work in a shard may continue when the shard is handed to another worker."""


def shard_of(number: int) -> int:
    """The shard of a chat; `in_shards` computes the same in SQL."""
    return abs(number) % SHARD_COUNT


def how_many_serve(connection: Connection) -> int:
    """The number of live processes that deliver messages, on a store that several may share."""
    return len(lease_repository.active_leases(connection, SERVING))


class Service(Protocol):
    """The work of a worker for the chats of a shard."""

    async def begin(self, shards: Collection[int]) -> None:
        """Continues the work that another worker left there, as after a restart."""

    def look(self) -> None:
        """Looks for work in the shards that are served now."""

    def at_work(self) -> set[int]:
        """Shards with running work."""

    async def end(self, shards: Collection[int], seconds: float) -> None:
        """Starts no more work there, and cancels running work after `seconds`."""


class Shards(Protocol):
    """The interface for code that serves chats."""

    @property
    def served(self) -> frozenset[int] | None:
        """The shards that are ours now; None: all, because there is no other worker."""

    def fence(self, chat_id: int) -> Fence | None:
        """The check that a unit of work for this chat runs first."""


class SingleShard:
    """The shards of the only process of a database: it serves every chat, and there is nothing to check."""

    served = None

    def fence(self, chat_id: int) -> Fence | None:
        return None


ALL_SHARDS: Final[Shards] = SingleShard()


class WorkerShards:
    """The shards of one worker. Only `kept` changes `served` and the shards to be taken."""

    def __init__(
        self, leases: Leases, *, length: timedelta = LENGTH, counted: Callable[[int], object] = lambda workers: None
    ) -> None:
        """`counted` is called with the number of workers whenever that was read."""
        self._leases, self._length, self._counted = leases, length, counted
        self._held: set[int] = set()
        self._served: frozenset[int] = frozenset()
        self._changing: dict[int, asyncio.Task[None]] = {}
        self._until = 0.0
        self._sure, self._closing = True, False
        self._service: Service | None = None

    @property
    def served(self) -> frozenset[int]:
        """The shards in which work may begin; none while it is unknown who holds them."""
        return self._served if self._sure else frozenset()

    def fence(self, chat_id: int) -> Fence:
        return self._leases.fence(_name(shard_of(chat_id)))

    @contextlib.asynccontextmanager
    async def kept(self, service: Service) -> AsyncIterator[None]:
        """Serves the worker's part of the shards during the block, and then releases it."""
        self._service = service
        keeping = asyncio.create_task(self._keep(), name="shards")
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            changing = set(self._changing.values())
            for task in changing:
                task.cancel()
            await asyncio.gather(*changing, return_exceptions=True)
            self._served = frozenset()
            with contextlib.suppress(StorageError):  # they expire by themselves
                await self._leases.release(self._worker, *map(_name, self._held))

    async def leave(self) -> None:
        """Releases the shards without running work, and takes no more, because the worker stops.

        The others are kept until the end of `kept`, so that their work can end.
        """
        self._closing = True
        idle = self._served - self._serving.at_work()
        self._served -= idle
        self._held -= idle
        with contextlib.suppress(StorageError):
            await self._leases.release(*map(_name, idle))

    @property
    def _serving(self) -> Service:
        assert self._service is not None
        return self._service

    @property
    def _worker(self) -> str:
        return SERVING + self._leases.holder

    async def _keep(self) -> None:
        loop, every = asyncio.get_running_loop(), self._length.total_seconds() / RENEWALS
        while True:
            begun = loop.time()
            try:
                async with asyncio.timeout(self._length.total_seconds()):
                    await self._look_round()
            except Exception:  # border of the keeper: a lease that is not renewed expires
                log.exception("shards_not_renewed", extra={"held": len(self._held)})
                # Running work continues: without the database it writes nothing, and the shards may still be ours.
                self._sure = loop.time() < self._until
            await asyncio.sleep(max(begun + every - loop.time(), every / 4))

    async def _look_round(self) -> None:
        """Renews our leases, then takes or gives away shards so that all workers have equal parts."""
        await self._renew()
        standing = await self._leases.standing("")
        holder = self._leases.holder
        workers = sum(name.startswith(SERVING) for name in standing)
        self._counted(workers)
        if self._closing:
            return
        part = -(-SHARD_COUNT // max(workers, 1))
        ours = self._held | self._changing.keys()
        free = [one for one in range(SHARD_COUNT) if one not in ours and standing.get(_name(one), holder) == holder]
        if free and len(self._held) < part:
            await self._take(random.sample(free, min(len(free), part - len(self._held))))
        unopened = self._held - self._served - self._changing.keys()
        if unopened:
            self._change(unopened, self._open(unopened))
        surplus = len(self._held - self._changing.keys()) - part
        if surplus > 0 and self._served:
            given = random.sample(sorted(self._served), min(surplus, len(self._served)))
            self._served -= set(given)
            self._change(given, self._hand_over(given))

    async def _renew(self) -> None:
        asked = asyncio.get_running_loop().time()
        names = {self._worker, *map(_name, self._held)}
        kept = await self._leases.renew_all(names, self._length)
        if self._worker not in kept:
            await self._leases.take(self._worker, self._length)
            await self._leases.drop_lapsed(SERVING)
        self._until = asked + self._length.total_seconds()
        self._lose({one for one in self._held if _name(one) not in kept})
        if not self._sure:
            self._sure = True
            self._serving.look()

    async def _take(self, wanted: Collection[int]) -> None:
        taken = await self._leases.take_all([_name(one) for one in wanted], self._length)
        mine = {one for one in wanted if _name(one) in taken}
        if mine:
            log.info("shards_taken", extra={"shards": len(mine)})
        self._held |= mine

    def _lose(self, lost: Collection[int]) -> None:
        """Cancels the work in these shards, which another worker may have; no shard is taken before that."""
        lost = set(lost)
        if not lost:
            return
        log.warning("shards_lost", extra={"shards": len(lost)})
        self._held -= lost
        self._served -= lost
        before = {self._changing[one] for one in lost if one in self._changing}
        self._change(lost, self._wind_down(lost, before))

    def _change(self, shards: Collection[int], work: Coroutine[Any, Any, None]) -> None:
        """Opens or closes shards in the background, so that renewing does not wait."""
        task = asyncio.create_task(work, name="shards-change")
        for one in shards:
            self._changing[one] = task
        task.add_done_callback(self._changed)

    def _changed(self, task: asyncio.Task[None]) -> None:
        self._changing = {one: other for one, other in self._changing.items() if other is not task}
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("shards_change_failed", exc_info=error)

    async def _open(self, shards: Collection[int]) -> None:
        """Continues the work left in these shards and then serves them. A failure is retried at the next round."""
        fences = [self._leases.fence(_name(one)) for one in sorted(shards)]

        def ours(connection: Connection) -> None:
            for fence in fences:
                fence(connection)

        try:
            with with_check(ours):
                await self._serving.begin(shards)
        except (LeaseLost, StorageError):
            log.warning("shards_not_opened", extra={"shards": len(shards)})
            await self._serving.end(shards, 0)
            return
        self._served |= self._held & set(shards)
        self._serving.look()

    async def _hand_over(self, shards: Collection[int]) -> None:
        log.info("shards_given", extra={"shards": len(shards)})
        await self._serving.end(shards, HANDING_OVER_S)
        self._held -= set(shards)
        with contextlib.suppress(StorageError):  # they expire by themselves
            await self._leases.release(*map(_name, shards))

    async def _wind_down(self, shards: Collection[int], before: Collection[asyncio.Task[None]]) -> None:
        for task in before:
            task.cancel()
        await asyncio.gather(*before, return_exceptions=True)
        await self._serving.end(shards, 0)


def _name(shard: int) -> str:
    return f"{_SHARD}{shard:02}"
