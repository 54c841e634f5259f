"""Runs jobs in order per key, several keys at once, so that one chat's handlers never overtake each other."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Hashable
from dataclasses import dataclass

from internal.errors import LeaseLost

log = logging.getLogger(__name__)

Job = Callable[[], Awaitable[None]]


def _nothing() -> None:
    pass


@dataclass(slots=True)
class _Chain:
    """A key's jobs, the running one first, each with a callback in case it is dropped before it starts."""

    jobs: deque[tuple[Job, Callable[[], None]]]
    shard: int | None
    task: asyncio.Task[None] | None = None


class OrderedTasks:
    """Runs each key's jobs one after another. A key without jobs takes no memory.

    After `drain`, new jobs are ignored: they stay due in the database until the next start.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._closing = False
        self._chains: dict[Hashable, _Chain] = {}

    def add(self, key: Hashable, job: Job, *, shard: int | None = None, dropped: Callable[[], None] = _nothing) -> bool:
        """Adds a job of this shard after those of its key. Returns False if it was ignored."""
        if self._closing:
            return False
        chain = self._chains.get(key)
        if chain is not None:
            chain.jobs.append((job, dropped))
            return True
        chain = self._chains[key] = _Chain(deque([(job, dropped)]), shard)
        chain.task = asyncio.create_task(self._work_off(key, chain), name=f"{self._name}-{key}")
        chain.task.add_done_callback(lambda task: self._never_begun(key, chain))
        return True

    def __len__(self) -> int:
        """The number of keys with jobs."""
        return len(self._chains)

    def waiting(self, key: Hashable) -> int:
        """The number of jobs of a key, including the running one."""
        chain = self._chains.get(key)
        return 0 if chain is None else len(chain.jobs)

    def busy(self, key: Hashable) -> bool:
        return key in self._chains

    def at_work(self) -> set[int]:
        """The shards with jobs."""
        return {chain.shard for chain in self._chains.values() if chain.shard is not None}

    async def drain(self, seconds: float) -> None:
        """Waits up to `seconds` for running jobs, then cancels them: stored work is taken up at the next start."""
        self._closing = True
        await _ended(list(self._chains.values()), seconds)

    async def leave(self, shards: Collection[int], seconds: float) -> None:
        """Drops waiting jobs of these shards and waits up to `seconds` for running ones, then cancels them."""
        left = [chain for chain in self._chains.values() if chain.shard in shards]
        for chain in left:
            while len(chain.jobs) > 1:
                _, dropped = chain.jobs.pop()
                dropped()
        await _ended(left, seconds)

    async def _work_off(self, key: Hashable, chain: _Chain) -> None:
        try:
            while chain.jobs:
                await self._run(chain.jobs[0][0])
                chain.jobs.popleft()
        finally:
            del self._chains[key]

    def _never_begun(self, key: Hashable, chain: _Chain) -> None:
        """Cleans up after a task that was cancelled before its first step, so that none of its own code ran."""
        if self._chains.get(key) is chain:
            del self._chains[key]
            for _, dropped in chain.jobs:
                dropped()

    async def _run(self, job: Job) -> None:
        try:
            await job()
        except LeaseLost:  # another worker does it
            log.info("job_taken_over", extra={"chain": self._name})
        except Exception:  # outermost handler of a lane: failed work stays due in the database
            log.exception("job_failed", extra={"chain": self._name})


async def _ended(chains: Collection[_Chain], seconds: float) -> None:
    tasks = {chain.task for chain in chains if chain.task is not None}
    if not tasks:
        return
    _, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
