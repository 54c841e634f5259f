"""One process keeps the clock; the next takes over when it ends or dies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from support.patience import PATIENCE_S

from internal.flows.operations.jobs import Job, Maintenance
from internal.scheduling.clock import SystemClock
from internal.scheduling.run import WORKER
from internal.scheduling.shards import SERVING
from internal.scheduling.ticker import Ticker
from internal.scheduling.worker_membership import CLOCK, WorkerMembership
from internal.storage.database import Database

SHORT = timedelta(seconds=0.6)


async def until(condition: Callable[[], bool], within: float = PATIENCE_S) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in a database
            await asyncio.sleep(0.02)


def duty_of(database: Database) -> WorkerMembership:
    return WorkerMembership(database, length=SHORT, alive=2 * SHORT)


async def test_who_ends_hands_the_clock_over(two: tuple[Database, Database]) -> None:
    """Of two processes one leads; when it ends in order, the other does at its next look."""
    first, second = map(duty_of, two)
    async with second.on():
        async with first.on():
            with first.standing_for_clock():
                await until(lambda: first.leads)
                with second.standing_for_clock():
                    await asyncio.sleep(2 * SHORT.total_seconds())
                    assert first.leads
                    assert not second.leads
        with second.standing_for_clock():
            await until(lambda: second.leads)
            assert not first.leads


async def test_a_connection_that_is_cut_at_the_start_is_made_anew(two: tuple[Database, Database]) -> None:
    """A process that begins while the server is started again does not end: it is known to live a moment later."""
    first, second = two
    [pid] = await first.write_separately(lambda c: c.exec_driver_sql("SELECT pg_backend_pid()").one())
    await second.read(lambda c: c.exec_driver_sql(f"SELECT pg_terminate_backend({pid})").one())
    duty = duty_of(first)
    async with duty.on():
        assert f"{WORKER}{duty.name}" in await duty_of(second).leases.standing(WORKER)


async def test_a_dead_process_is_followed(two: tuple[Database, Database]) -> None:
    """Who stops renewing without a word has lost the clock within its length, also in his own eyes."""
    first, second = map(duty_of, two)
    await first.leases.take(f"worker:{first.name}", SHORT)
    with first.standing_for_clock():
        await first._look()
        assert first.leads
        async with second.on():
            with second.standing_for_clock():
                await until(lambda: second.leads)
                assert not first.leads


async def test_who_lacks_jobs_steps_back(two: tuple[Database, Database]) -> None:
    """A process that delivers nothing keeps the clock only while none that does is there."""
    first, second = map(duty_of, two)
    async with first.on():
        with first.standing_for_clock(modestly=True):
            await until(lambda: first.leads)
            await second.leases.take(f"{SERVING}{second.name}", 20 * SHORT)
            await until(lambda: not first.leads)
            async with asyncio.timeout(PATIENCE_S):
                while not await second.leases.take(CLOCK):  # noqa: ASYNC110 - given back a moment after that
                    await asyncio.sleep(0.05)


async def test_jobs_by_the_clock_run_where_it_is_kept(two: tuple[Database, Database]) -> None:
    """A job runs in one process, one for everywhere in both."""
    done: list[str] = []

    def jobs(name: str) -> list[Job]:
        async def alone() -> None:
            done.append(f"alone {name}")

        async def everywhere() -> None:
            done.append(f"everywhere {name}")

        return [Job("alone", alone), Job("everywhere", everywhere, everywhere=True)]

    duties = {"first": duty_of(two[0]), "second": duty_of(two[1])}
    async with duties["first"].on(), duties["second"].on():
        working = [
            asyncio.create_task(Maintenance(Ticker(timedelta(seconds=0.05)), SystemClock(), jobs(name), duty).run())
            for name, duty in duties.items()
        ]
        await until(lambda: any(one.startswith("alone") for one in done))
        await until(lambda: {"everywhere first", "everywhere second"} <= set(done))
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
    assert len({one for one in done if one.startswith("alone")}) == 1


async def test_a_file_has_one_process_that_always_leads(tmp_path: Path) -> None:
    """On SQLite nothing is written for it, and nothing waits."""
    async with Database.open(tmp_path / "laplaced.db") as database:
        duty = WorkerMembership(database)
        async with duty.on():
            with duty.standing_for_clock():
                assert duty.leads
        assert database.commits_seen == 0


async def test_endless_work_follows_the_clock(two: tuple[Database, Database]) -> None:
    """It is ended where the clock is given up, and begun where it is taken over."""
    running: set[str] = set()

    async def work(name: str) -> None:
        running.add(name)
        try:
            await asyncio.Event().wait()
        finally:
            running.discard(name)

    first, second = map(duty_of, two)
    async with first.on(), second.on():
        tasks = [
            asyncio.create_task(first.while_leading(lambda: work("first"))),
            asyncio.create_task(second.while_leading(lambda: work("second"))),
        ]
        with second.standing_for_clock():
            with first.standing_for_clock():
                await until(lambda: len(running) == 1)
                [began] = running
                assert began == ("first" if first.leads else "second")
            await until(lambda: running == {"second"})
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
