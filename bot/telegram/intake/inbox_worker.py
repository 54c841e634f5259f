"""Handles stored updates: each chat's in order, several chats at once.

With one process, it handles what it stores itself. With several, each looks in the inbox for updates of its own
shards, whichever process stored them, and leaves unfinished ones to the next holder of a shard it gives up.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterator, Sequence
from typing import Final

from bot.telegram.ordered_tasks import OrderedTasks
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxRow
from internal.scheduling.shards import Shards, shard_of
from internal.storage.database import Database
from internal.storage.engine.write_guard import with_check

log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[None]]

LOOKED_AT: Final = 500
"""The most updates that one query reads; further ones are read at once after it."""

PAUSE_S: Final = 1.0
"""Seconds to wait after a failed query."""


class InboxWorker:
    """Runs the work of stored updates; `task_of` gives the job of an update and the key of its order."""

    def __init__(
        self, database: Database, shards: Shards, task_of: Callable[[InboxRow], tuple[Hashable, Work]], waiting: int
    ) -> None:
        self._database, self._shards, self._task_of = database, shards, task_of
        self._chats, self._beside = OrderedTasks("ingest"), OrderedTasks("beside")
        self._room = asyncio.Semaphore(waiting)
        self._begun: Counter[int] = Counter()
        self._woken = asyncio.Event()

    @property
    def shared(self) -> bool:
        """Whether there may be other workers, so that stored updates are looked up rather than started directly."""
        return self._shards.served is not None

    async def take_up(self, rows: Sequence[InboxRow]) -> None:
        """Queues each update after those of its chat when there is room, or wakes the lookup."""
        if self.shared:
            self.wake()
            return
        for row in rows:
            await self._begin(row)

    def wake(self) -> None:
        """Makes `follow` read the inbox."""
        self._woken.set()

    async def follow(self) -> None:
        """Takes up updates of our shards until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                if await self._look() == LOOKED_AT:
                    self.wake()
            except Exception:  # outermost handler of the inbox: the rows are still stored
                log.exception("inbox_lookup_failed")
                await asyncio.sleep(PAUSE_S)
                self.wake()

    def run_in_background(self, row: InboxRow, key: Hashable, work: Work) -> None:
        """Runs `work` of an update in the background, so that the chat's later updates do not wait for it."""
        self._begun[row.n] += 1

        async def rest() -> None:
            with self._until_ended(row), with_check(self._shards.fence(_chat(row))):
                await work()

        if not self._beside.add(key, rest, shard=_shard(row), dropped=lambda: self._end(row)):
            self._end(row)

    def at_work(self) -> set[int]:
        """The shards with updates being handled."""
        return self._chats.at_work() | self._beside.at_work()

    async def leave(self, shards: Collection[int], seconds: float) -> None:
        """Starts nothing more of these shards, and waits up to `seconds` for what is running."""
        await asyncio.gather(self._chats.leave(shards, seconds), self._beside.leave(shards, seconds))

    async def drain(self, seconds: float) -> None:
        """Waits up to `seconds` for what is running; the rest stays stored, and nothing more is started."""
        await asyncio.gather(self._chats.drain(seconds), self._beside.drain(seconds))

    async def _look(self) -> int:
        """Takes up stored updates. Returns the number of new ones."""
        # An update that is finished while the inbox is read is still in the result, and would be started a second time.
        begun, most = set(self._begun), LOOKED_AT + len(self._begun)
        rows = await self._database.read(lambda c: mailbox.unprocessed_updates(c, self._shards.served, most))
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
                with self._until_ended(row), with_check(self._shards.fence(_chat(row))):
                    await work()
            finally:
                self._room.release()

        if not self._chats.add(key, job, shard=_shard(row), dropped=dropped):
            dropped()

    def _ours(self, row: InboxRow) -> bool:
        """Whether this process must still handle the update, after waiting for room."""
        served = self._shards.served
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
    """The chat whose updates are handled in order with this one, or the update's own id without a chat."""
    return row.n if row.chat_id is None else row.chat_id


def _shard(row: InboxRow) -> int:
    return shard_of(_chat(row))
