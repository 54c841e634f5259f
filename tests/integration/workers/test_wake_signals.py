"""One process of a store wakes the others."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import Connection
from support.patience import PATIENCE_S

from internal.scheduling.ticker import Ticker
from internal.storage.change_log import record_change
from internal.storage.database import Database, ring_after


async def test_a_bell_is_heard_by_the_others(two: tuple[Database, Database]) -> None:
    """With its word, in every other process that listens for it, and not by who rang it."""
    first, second = two
    heard: list[str] = []
    first.when_rung("door", lambda word: heard.append(f"self {word}"))
    second.when_rung("door", heard.append)
    async with asyncio.timeout(PATIENCE_S):
        while not {"a", "b"} <= set(heard):  # a listener that is still connecting hears nothing
            first.ring("door", "a")
            first.ring("door", "b")
            first.ring("window", "c")
            await asyncio.sleep(0.1)
    assert set(heard) == {"a", "b"}


async def test_a_bell_of_a_unit_of_work_rings_with_its_commit(two: tuple[Database, Database]) -> None:
    """What is undone rings nowhere, not even with the next commit."""
    first, second = two
    heard: list[str] = []
    second.when_rung("door", heard.append)

    def undone(connection: Connection) -> None:
        ring_after(connection, "door", "undone")
        raise ValueError

    async with asyncio.timeout(PATIENCE_S):
        while "kept" not in heard:
            with pytest.raises(ValueError):
                await first.write(undone)
            await first.write(lambda connection: ring_after(connection, "door", "kept"))
            await asyncio.sleep(0.1)
    assert set(heard) == {"kept"}


async def test_a_moment_ends_with_the_owners_next_change(two: tuple[Database, Database]) -> None:
    """Within it what is kept is looked up once, and again when his rows changed; what it began goes on alone."""
    store = two[0]
    with store.one_cache_version():
        first = store.cache_version(1)
        later = asyncio.create_task(_asked_when(over := asyncio.Event(), store))
        heard = store.commits_seen
        await store.write(lambda connection: record_change(connection, 2, "person", "b"))
        assert store.cache_version(1) == first or store.commits_seen > heard + 1
        await store.write(lambda connection: record_change(connection, 1, "person", "a"))
        second = store.cache_version(1)
        heard = store.commits_seen
        third = store.cache_version(1)
    over.set()
    assert first < second
    assert third == second or store.commits_seen != heard
    assert await later > third


async def _asked_when(over: asyncio.Event, store: Database) -> int:
    await over.wait()
    return store.cache_version(1)


async def test_a_wake_comes_before_the_tick(two: tuple[Database, Database]) -> None:
    """What one process wakes for is looked for in the other at once, not at its next tick."""
    first, second = two
    waking = Ticker(timedelta(hours=1), lambda: first.ring("tick"))
    woken = Ticker(timedelta(hours=1))
    second.when_rung("tick", lambda _: woken.wake_here())
    async with asyncio.timeout(PATIENCE_S):
        while not woken._due.is_set():
            waking.wake()
            await asyncio.sleep(0.1)


async def test_who_asks_whether_something_changed_wakes_nobody(two: tuple[Database, Database]) -> None:
    """What is kept is looked up again each time; whoever waits for the next commit goes on waiting meanwhile."""
    store = two[0]
    heard = store.commits_seen
    first, second = store.cache_version(1), store.cache_version(1)
    assert first != second
    assert store.commits_seen == heard
    await store.write(lambda c: None)
    await asyncio.wait_for(store.committed(heard), PATIENCE_S)
    assert store.commits_seen > heard
