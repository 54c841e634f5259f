"""Whoever moves or replaces a store has it alone: nobody works on it, and nobody begins to."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import update

from internal.errors import Refused, StorageError, StorageLocked
from internal.flows.operations import migrate_store
from internal.flows.operations.migrate_store import alone
from internal.scheduling.leases import Leases
from internal.scheduling.worker_membership import WorkerMembership
from internal.storage import tables
from internal.storage.database import Database

PLACE = "postgresql://laplaced@db.example/laplaced"


async def test_nobody_begins_meanwhile(two: tuple[Database, Database]) -> None:
    """A process that starts during a move ends with a sentence and leaves nothing; afterwards it may."""
    async with alone(two[0], PLACE):
        with pytest.raises(StorageLocked, match="moved or replaced"):
            async with WorkerMembership(two[1]).on():
                pass
        assert [name for name in await Leases(two[1], "any").standing("") if "worker" in name] == []
        with pytest.raises(Refused, match="another command"):
            async with alone(two[1], PLACE):
                pass
    async with WorkerMembership(two[1]).on():
        pass


async def test_whoever_works_is_found(two: tuple[Database, Database]) -> None:
    """The command is refused, and what it held is free again."""
    async with WorkerMembership(two[1]).on():
        with pytest.raises(Refused, match=r"1 process works on db\.example:5432/laplaced"):
            async with alone(two[0], PLACE):
                pass
        async with WorkerMembership(two[0]).on():
            assert len(await Leases(two[1], "any").standing("worker:")) == 2


async def test_both_at_once_never_go_on_together(two: tuple[Database, Database]) -> None:
    """However their steps fall, at least one of a process that starts and a command that moves is refused."""
    both = asyncio.Barrier(2)

    async def starts() -> bool:
        async with WorkerMembership(two[0]).on():
            await both.wait()
        return True

    async def moves() -> bool:
        async with alone(two[1], PLACE):
            await both.wait()
        return True

    for _ in range(5):
        tasks = [asyncio.create_task(starts()), asyncio.create_task(moves())]
        done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert all(isinstance(task.exception(), Refused | StorageLocked) for task in done)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        both = asyncio.Barrier(2)


async def test_who_lost_sight_of_the_server_ends(
    two: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another may have begun by then: the command stops in the midst, and says so."""
    monkeypatch.setattr(migrate_store, "_HELD", migrate_store.timedelta(seconds=0.6))

    async def long_move() -> None:
        async with alone(two[0], PLACE):
            stolen = update(tables.leases).values(holder="thief")
            await two[1].write_separately(lambda c: c.execute(stolen).rowcount)
            await asyncio.sleep(20)

    with pytest.raises(StorageError, match="out of reach"):
        await long_move()
