"""Which worker serves which chats: every chat belongs to a district, and each district has one worker at a time.

A lease for each chat would be a write for each conversation; those of the districts are renewed in one statement,
however many chats are at work. A worker that joins is given its part by the others; what one leaves behind, by
stopping or by dying, the others take.
"""

from __future__ import annotations

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
from internal.scheduling.model import DISTRICTS
from internal.storage.engine.write_guard import Fence, fenced

log = logging.getLogger(__name__)

SERVING: Final = "serves:"
"""Begins the name of the lease by which a worker is known to take its part; the worker's name follows."""

_DISTRICT: Final = "chats:"

HANDING_OVER_S: Final = 8.0
"""What is at work when a district is handed to another worker gets this long to end."""


def district_of(number: int) -> int:
    """The district of a chat; statements in SQL say the same (`in_districts`)."""
    return abs(number) % DISTRICTS


def how_many_serve(connection: Connection) -> int:
    """The processes that deliver messages and live, on a store that several may share."""
    return len(lease_repository.standing(connection, SERVING))


class Service(Protocol):
    """What a worker does for the chats of a district."""

    async def begin(self, districts: Collection[int]) -> None:
        """Takes up what another worker left there, as after a restart."""
        ...

    def look(self) -> None:
        """Looks for what is to be done in the districts that are served now."""
        ...

    def at_work(self) -> set[int]:
        """Districts in which something is being done."""
        ...

    async def end(self, districts: Collection[int], seconds: float) -> None:
        """Begins nothing more there, and gives what is at work `seconds`; then it is cancelled."""
        ...


class Shards(Protocol):
    """What those who serve chats ask."""

    @property
    def served(self) -> frozenset[int] | None:
        """The districts that are ours now; None: all of them, for there is no other worker."""
        ...

    def fence(self, chat_id: int) -> Fence | None:
        """What a unit of work for this chat checks first."""
        ...


class SingleShard:
    """The town of the one process that owns its database: every chat is its own, and there is nothing to check."""

    served = None

    def fence(self, chat_id: int) -> Fence | None:
        return None


WHOLE_TOWN: Final[Shards] = SingleShard()


class WorkerShards:
    """The districts of one worker. Both `served` and what is to be taken change in `kept` alone."""

    def __init__(
        self, leases: Leases, *, length: timedelta = LENGTH, counted: Callable[[int], object] = lambda workers: None
    ) -> None:
        """`counted` is told how many workers there are, whenever that has been looked up."""
        self._leases, self._length, self._counted = leases, length, counted
        self._held: set[int] = set()
        self._served: frozenset[int] = frozenset()
        self._changing: dict[int, asyncio.Task[None]] = {}
        self._until = 0.0
        self._sure, self._closing = True, False
        self._service: Service | None = None

    @property
    def served(self) -> frozenset[int]:
        """The districts in which something may be begun; none while nobody knows whose they are."""
        return self._served if self._sure else frozenset()

    def fence(self, chat_id: int) -> Fence:
        return self._leases.fence(_name(district_of(chat_id)))

    @contextlib.asynccontextmanager
    async def kept(self, service: Service) -> AsyncIterator[None]:
        """Has the worker's part of the town served until the end, and then given back."""
        self._service = service
        keeping = asyncio.create_task(self._keep(), name="districts")
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
            with contextlib.suppress(StorageError):  # they run out by themselves
                await self._leases.release(self._worker, *map(_name, self._held))

    async def leave(self) -> None:
        """The worker stops: gives back at once where nothing is at work, and takes nothing more.

        The rest is kept until the end of `kept`, so that what is at work there can end.
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
            except Exception:  # border of the keeper: what is not renewed runs out by itself
                log.exception("districts_not_renewed", extra={"held": len(self._held)})
                # What is at work goes on: without the database it writes nothing, and afterwards it may be ours yet.
                self._sure = loop.time() < self._until
            await asyncio.sleep(max(begun + every - loop.time(), every / 4))

    async def _look_round(self) -> None:
        """Renews what is ours, then takes or gives away so that all workers have equal parts."""
        await self._renew()
        standing = await self._leases.standing("")
        holder = self._leases.holder
        workers = sum(name.startswith(SERVING) for name in standing)
        self._counted(workers)
        if self._closing:
            return
        part = -(-DISTRICTS // max(workers, 1))
        ours = self._held | self._changing.keys()
        free = [one for one in range(DISTRICTS) if one not in ours and standing.get(_name(one), holder) == holder]
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
            log.info("districts_taken", extra={"districts": len(mine)})
        self._held |= mine

    def _lose(self, lost: Collection[int]) -> None:
        """Another worker may have these: whatever is at work there is cancelled, and none is taken before that."""
        lost = set(lost)
        if not lost:
            return
        log.warning("districts_lost", extra={"districts": len(lost)})
        self._held -= lost
        self._served -= lost
        before = {self._changing[one] for one in lost if one in self._changing}
        self._change(lost, self._wind_down(lost, before))

    def _change(self, districts: Collection[int], work: Coroutine[Any, Any, None]) -> None:
        """Opens or closes districts in the background: renewing waits for nothing."""
        task = asyncio.create_task(work, name="districts-change")
        for one in districts:
            self._changing[one] = task
        task.add_done_callback(self._changed)

    def _changed(self, task: asyncio.Task[None]) -> None:
        self._changing = {one: other for one, other in self._changing.items() if other is not task}
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("districts_change_failed", exc_info=error)

    async def _open(self, districts: Collection[int]) -> None:
        """Serves them, once what was left there has been taken up. What fails is tried again at the next look."""
        fences = [self._leases.fence(_name(one)) for one in sorted(districts)]

        def ours(connection: Connection) -> None:
            for fence in fences:
                fence(connection)

        try:
            with fenced(ours):
                await self._serving.begin(districts)
        except (LeaseLost, StorageError):
            log.warning("districts_not_opened", extra={"districts": len(districts)})
            await self._serving.end(districts, 0)
            return
        self._served |= self._held & set(districts)
        self._serving.look()

    async def _hand_over(self, districts: Collection[int]) -> None:
        log.info("districts_given", extra={"districts": len(districts)})
        await self._serving.end(districts, HANDING_OVER_S)
        self._held -= set(districts)
        with contextlib.suppress(StorageError):  # they run out by themselves
            await self._leases.release(*map(_name, districts))

    async def _wind_down(self, districts: Collection[int], before: Collection[asyncio.Task[None]]) -> None:
        for task in before:
            task.cancel()
        await asyncio.gather(*before, return_exceptions=True)
        await self._serving.end(districts, 0)


def _name(district: int) -> str:
    return f"{_DISTRICT}{district:02}"
