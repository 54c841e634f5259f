"""What several searches of one question need is worked out once."""

import asyncio

import pytest

from internal.recall.search.query import QueryCache


async def test_a_thing_is_worked_out_once_for_all_who_ask() -> None:
    """Whoever asks while it is worked out waits for the same result; another key is another thing."""
    shared, calls = QueryCache(), list[str]()

    async def work(name: str) -> str:
        calls.append(name)
        await asyncio.sleep(0)
        return name

    found = await asyncio.gather(
        *(shared.get_or_compute(key, lambda key=key: work(key)) for key in ("a", "b", "a", "a"))
    )
    assert found == ["a", "b", "a", "a"]
    assert calls == ["a", "b"]


async def test_who_is_cancelled_takes_nothing_from_the_others() -> None:
    """The work goes on for those who still wait."""
    shared, free = QueryCache(), asyncio.Event()

    async def work() -> int:
        await free.wait()
        return 7

    first, second = (asyncio.ensure_future(shared.get_or_compute("a", work)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    free.set()
    assert await second == 7
    with pytest.raises(asyncio.CancelledError):
        await first
