"""Work in order per key, and a stop that leaves nothing running."""

from __future__ import annotations

import asyncio

from hypothesis import given, strategies as st
from support.patience import PATIENCE_S

from bot.telegram.ordered_tasks import OrderedTasks


async def drained(chains: OrderedTasks) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while len(chains):  # noqa: ASYNC110 - the chains tell nobody that they are empty
            await asyncio.sleep(0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_each_key_keeps_its_order_whatever_fails(jobs: list[tuple[str, bool]]) -> None:
    """A job that fails is logged, and the next one runs; finished keys take no memory."""
    done: list[tuple[str, int]] = []

    async def play() -> None:
        chains = OrderedTasks("test")

        async def job(key: str, number: int, fails: bool) -> None:
            await asyncio.sleep(0)
            done.append((key, number))
            if fails:
                raise RuntimeError

        for number, (key, fails) in enumerate(jobs):
            chains.add(key, lambda key=key, number=number, fails=fails: job(key, number, fails))  # type: ignore[misc]
        await drained(chains)
        assert not chains.busy("a")

    asyncio.run(play())
    for key in "abc":
        assert [n for k, n in done if k == key] == [n for n, (k, _) in enumerate(jobs) if k == key]


async def test_keys_run_side_by_side() -> None:
    """One key's slow job does not hold up another's."""
    chains, gate, passed = OrderedTasks("test"), asyncio.Event(), asyncio.Event()

    async def open_gate() -> None:
        gate.set()

    async def wait() -> None:
        await gate.wait()
        passed.set()

    chains.add("slow", wait)
    chains.add("quick", open_gate)
    await asyncio.wait_for(passed.wait(), PATIENCE_S)


async def test_a_drain_ends_what_runs_and_takes_nothing_new() -> None:
    """What does not end in time is cancelled; what comes during or after the drain is left to the next start."""
    chains, before = OrderedTasks("test"), asyncio.all_tasks()
    ran: list[str] = []

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            chains.add("other", note)

    async def note() -> None:
        ran.append("note")

    chains.add("key", hang)
    chains.add("key", note)
    await asyncio.sleep(0)
    await chains.drain(0.01)
    chains.add("key", note)
    await asyncio.sleep(0)
    assert (ran, len(chains), asyncio.all_tasks() - before) == ([], 0, set())


async def test_leaving_a_shard() -> None:
    """What waits there is dropped and said so, what runs gets its time and is cancelled; elsewhere all goes on."""
    chains, gate, seen = OrderedTasks("test"), asyncio.Event(), list[str]()

    async def hang() -> None:
        await asyncio.Event().wait()

    async def note() -> None:
        await gate.wait()
        seen.append("done")

    chains.add("left", hang, shard=1)
    await asyncio.sleep(0)
    chains.add("left", note, shard=1, dropped=lambda: seen.append("dropped"))
    chains.add("stays", note, shard=2)
    assert chains.at_work() == {1, 2}
    await chains.leave([1], 0)
    await asyncio.sleep(0)
    assert (chains.at_work(), seen) == ({2}, ["dropped"])
    assert chains.add("left", note, shard=1)
    gate.set()
    await chains.drain(5)
    assert seen == ["dropped", "done", "done"]
