"""Runs of one store worked off by two processes: each once, in order, and what a dead one had goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from internal.scheduling import run_repository as runs
from internal.scheduling.run import Run, RunState
from internal.scheduling.worker_membership import WorkerMembership
from internal.storage.database import Database

OWNER, AGENT, NOW = 1, "archivist", datetime(2026, 11, 20, 9, tzinfo=UTC)
ALIVE = timedelta(seconds=60)


class Worker:
    """A process as the run loop is to the store; it lives until it is said to be dead."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.duty = WorkerMembership(database)
        self.name = self.duty.name

    async def live(self) -> None:
        await self.duty.leases.take(f"worker:{self.name}", ALIVE)

    async def die(self) -> None:
        await self.duty.leases.release_all()

    async def ready(self) -> list[Run]:
        return await self.database.read(lambda c: runs.ready_runs(c, AGENT, NOW, limit=10, worker=self.name))

    async def claim(self, run: Run) -> Run | None:
        token = f"{self.name}-{run.id}"
        return await self.database.write(lambda c: runs.claim(c, run, token, worker=self.name))


@pytest.fixture
async def workers(two: tuple[Database, Database]) -> tuple[Worker, Worker]:
    """Two that live, and an owner with three runs."""
    first, second = Worker(two[0]), Worker(two[1])
    await first.live()
    await second.live()
    for rev in (1, 2, 3):
        await first.database.write(
            lambda c, rev=rev: runs.create(c, OWNER, AGENT, f"episode-{rev}", [(1, 10)], rev=rev, now=NOW)  # type: ignore[misc]
        )
    return first, second


async def test_another_one_at_work_keeps_the_owner_to_himself(workers: tuple[Worker, Worker]) -> None:
    """N+1 waits for N though N is another process's."""
    first, second = workers
    [head] = await first.ready()
    claimed = await first.claim(head)
    assert claimed is not None
    assert await second.ready() == []
    assert [run.id for run in await first.ready()] == [head.id]
    assert await first.database.write(lambda c: runs.finish(c, claimed, NOW))
    [following] = await second.ready()
    assert following.rev == 2


async def test_a_run_is_claimed_once(workers: tuple[Worker, Worker]) -> None:
    """Both saw it due; the later claim gets nothing."""
    first, second = workers
    [seen], [same] = await first.ready(), await second.ready()
    assert await first.claim(seen) is not None
    assert await second.claim(same) is None


async def test_no_other_run_of_the_owner_is_claimed_meanwhile(workers: tuple[Worker, Worker]) -> None:
    """Not even one that was put before the run at work after that had begun."""
    first, second = workers
    [head] = await first.ready()
    await first.claim(head)
    await second.database.write(lambda c: runs.create(c, OWNER, AGENT, "episode-0", [(1, 5)], rev=0, now=NOW))
    [earlier] = [run for run in await second.database.read(lambda c: runs.of_agent(c, OWNER, AGENT)) if run.rev == 0]
    assert await second.ready() == []
    assert await second.claim(earlier) is None


async def test_what_a_dead_process_had_is_taken_up(workers: tuple[Worker, Worker]) -> None:
    """Once its lease is gone its claim is void: another takes the run, and nothing of the dead one's is kept."""
    first, second = workers
    [head] = await first.ready()
    lost = await first.claim(head)
    assert lost is not None
    await first.die()
    [found] = await second.ready()
    assert (found.id, found.state) == (head.id, RunState.CLAIMED)
    taken = await second.claim(found)
    assert taken is not None
    assert taken.attempts == 1
    assert not await first.database.write(lambda c: runs.finish(c, lost, NOW))
    assert not await first.database.write(lambda c: runs.postpone(c, lost, NOW, "late", charge=True))
    assert not await first.database.write(lambda c: runs.park(c, lost, NOW, "late"))
    assert await second.database.write(lambda c: runs.finish(c, taken, NOW))
