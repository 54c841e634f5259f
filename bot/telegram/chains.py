"""Work in order per key, side by side over keys: what keeps one chat's handlers from overtaking each other."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable

from internal.storage.scope import acting_for_everyone

log = logging.getLogger(__name__)

Job = Callable[[], Awaitable[None]]


class Chains:
    """Runs each key's jobs one after another. A key without jobs takes no memory.

    Once `drain` was called, new jobs are left out: they are due in the database, and taken up at the next start.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._closing = False
        self._waiting: dict[Hashable, deque[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, key: Hashable, job: Job) -> bool:
        """Puts a job behind those of its key. False if it was left out."""
        if self._closing:
            return False
        jobs = self._waiting.get(key)
        if jobs is not None:
            jobs.append(job)
            return True
        self._waiting[key] = deque([job])
        task = asyncio.create_task(self._work_off(key), name=f"{self._name}-{key}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    def __len__(self) -> int:
        """How many keys have work."""
        return len(self._waiting)

    def waiting(self, key: Hashable) -> int:
        """How many jobs a key has, the one at work included."""
        return len(self._waiting.get(key, ()))

    def busy(self, key: Hashable) -> bool:
        return key in self._waiting

    async def drain(self, seconds: float) -> None:
        """Gives what is running `seconds` to end, then cancels it: what was stored is taken up again at start."""
        self._closing = True
        if not self._tasks:
            return
        _, late = await asyncio.wait(set(self._tasks), timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _work_off(self, key: Hashable) -> None:
        jobs = self._waiting[key]
        try:
            while jobs:
                with acting_for_everyone():  # not for whom its first job was begun: the next one may be another's
                    await self._run(jobs[0])
                jobs.popleft()
        finally:
            del self._waiting[key]

    async def _run(self, job: Job) -> None:
        try:
            await job()
        except Exception:  # border of a lane: what failed stays due in the database
            log.exception("job_failed", extra={"chain": self._name})
