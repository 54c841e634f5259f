"""Stored updates that are being worked off: each chat's in order, chats side by side, so many at once.

One process of a file takes up what it stores itself. Of several workers each looks into the inbox for what has come
into its own shards, whoever stored it; what it had begun in a shard that it leaves is another's.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterator, Sequence
from typing import Final

from bot.telegram.ordered_tasks import OrderedTasks
from internal.mailbox import repository as mailbox
from internal.mailbox.model import InboxRow
from internal.scheduling.shards import Shards, shard_of
from internal.storage.database import Database
from internal.storage.engine.write_guard import fenced

log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[None]]

LOOKED_AT: Final = 500
"""Most updates that one look brings; more are looked for at once."""

PAUSE_S: Final = 1.0
"""After a look that the database refused."""


class InboxWorker:
    """`task_of` says what is to be done about an update, and with which key it stays in order."""

    def __init__(
        self, database: Database, town: Shards, task_of: Callable[[InboxRow], tuple[Hashable, Work]], waiting: int
    ) -> None:
        self._database, self._town, self._task_of = database, town, task_of
        self._chats, self._beside = OrderedTasks("ingest"), OrderedTasks("beside")
        self._room = asyncio.Semaphore(waiting)
        self._begun: Counter[int] = Counter()
        self._woken = asyncio.Event()

    @property
    def shared(self) -> bool:
        """Whether there may be other workers, so that what is stored is looked for rather than begun."""
        return self._town.served is not None

    async def take_up(self, rows: Sequence[InboxRow]) -> None:
        """Puts each behind what is there of its chat, once there is room; or has them looked for."""
        if self.shared:
            self.wake()
            return
        for row in rows:
            await self._begin(row)

    def wake(self) -> None:
        """Has `follow` look into the inbox."""
        self._woken.set()

    async def follow(self) -> None:
        """Takes up what comes into our shards, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                if await self._look() == LOOKED_AT:
                    self.wake()
            except Exception:  # border of the inbox: the rows are still there
                log.exception("inbox_lookup_failed")
                await asyncio.sleep(PAUSE_S)
                self.wake()

    def do_beside(self, row: InboxRow, key: Hashable, work: Work) -> None:
        """Does the rest of what an update asks for beside its chat, whose later updates do not wait for it."""
        self._begun[row.n] += 1

        async def rest() -> None:
            with self._until_ended(row), fenced(self._town.fence(_chat(row))):
                await work()

        if not self._beside.add(key, rest, shard=_shard(row), dropped=lambda: self._end(row)):
            self._end(row)

    def at_work(self) -> set[int]:
        """The shards of which something is being worked off."""
        return self._chats.at_work() | self._beside.at_work()

    async def leave(self, shards: Collection[int], seconds: float) -> None:
        """Begins nothing further of these, and gives what is at work `seconds`."""
        await asyncio.gather(self._chats.leave(shards, seconds), self._beside.leave(shards, seconds))

    async def drain(self, seconds: float) -> None:
        """Gives what is at work `seconds`; the rest stays stored, and nothing more is begun."""
        await asyncio.gather(self._chats.drain(seconds), self._beside.drain(seconds))

    async def _look(self) -> int:
        """How many updates were found that nothing worked on."""
        # What ends while the inbox is read stands in the answer all the same, and would be begun a second time.
        begun, most = set(self._begun), LOOKED_AT + len(self._begun)
        rows = await self._database.read(lambda c: mailbox.undone(c, self._town.served, most))
        fresh = [row for row in rows if row.n not in begun]
        for row in fresh:
            await self._begin(row)
        return len(fresh)

    async def _begin(self, row: InboxRow) -> None:
        key, work = self._task_of(row)
        await self._room.acquire()
        if not self._ours(row):
            self._room.release()
            return
        self._begun[row.n] += 1

        def dropped() -> None:
            self._end(row)
            self._room.release()

        async def job() -> None:
            try:
                with self._until_ended(row), fenced(self._town.fence(_chat(row))):
                    await work()
            finally:
                self._room.release()

        if not self._chats.add(key, job, shard=_shard(row), dropped=dropped):
            dropped()

    def _ours(self, row: InboxRow) -> bool:
        """Whether it is still ours to begin, after waiting for room."""
        served = self._town.served
        return served is None or (_shard(row) in served and row.n not in self._begun)

    @contextlib.contextmanager
    def _until_ended(self, row: InboxRow) -> Iterator[None]:
        try:
            yield
        finally:
            self._end(row)

    def _end(self, row: InboxRow) -> None:
        self._begun[row.n] -= 1
        if self._begun[row.n] <= 0:
            del self._begun[row.n]


def _chat(row: InboxRow) -> int:
    """The chat an update stays in order with; one that has none is its own."""
    return row.n if row.chat_id is None else row.chat_id


def _shard(row: InboxRow) -> int:
    return shard_of(_chat(row))
