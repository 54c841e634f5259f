"""Shards are kept through an outage of the database, and end only where another has taken them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any

import pytest
from support.patience import PATIENCE_S

from internal.errors import StorageError
from internal.scheduling.leases import Leases
from internal.scheduling.run import SHARD_COUNT
from internal.scheduling.shards import WorkerShards
from internal.storage.database import Database
from internal.storage.tables import leases

LENGTH = timedelta(seconds=1.5)


class Noted:
    """A service that does nothing and notes what it was told."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []

    async def begin(self, shards: Collection[int]) -> None:
        self.begun += shards

    def look(self) -> None:
        pass

    def at_work(self) -> set[int]:
        return set()

    async def end(self, shards: Collection[int], seconds: float) -> None:
        self.ended += shards


async def until(condition: Callable[[], bool], within: float = PATIENCE_S) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in a database
            await asyncio.sleep(0.02)


async def test_an_outage_ends_nothing(two: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch) -> None:
    """While the database is away nothing is begun; afterwards everything goes on, but for what another has."""
    shards, service = WorkerShards(Leases(two[0], "one"), length=LENGTH), Noted()
    async with shards.kept(service):
        await until(lambda: len(shards.served) == SHARD_COUNT)
        assert sorted(service.begun) == list(range(SHARD_COUNT))

        async def away(*args: Any) -> None:
            raise StorageError("away")

        with monkeypatch.context() as outage:
            outage.setattr(two[0], "write_separately", away)
            await until(lambda: not shards.served)
            assert not service.ended
            thief = leases.update().where(leases.c.name == "chats:07").values(holder="thief", until=2**62)
            await two[1].write_separately(lambda c: c.execute(thief).rowcount)
        await until(lambda: len(shards.served) == SHARD_COUNT - 1)
        assert 7 not in shards.served
        await until(lambda: service.ended == [7])
    assert await Leases(two[1], "other").standing("") == {"chats:07": "thief"}
