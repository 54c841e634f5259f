"""Results that several searches of one question share."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class QueryCache:
    """Lives as long as one question. Computes each result once; concurrent callers wait for it."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}
        self._values: dict[Hashable, Any] = {}

    async def get_or_compute(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work`, which runs once per key; its exception is raised to every caller.

        A cancelled caller stops waiting; the work goes on for the others. Calls with the same key must compute the
        same.
        """
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(work())
        return cast(T, await asyncio.shield(task))

    def get(self, key: Hashable) -> Any:
        """The value stored under a key, or None."""
        return self._values.get(key)

    def put(self, key: Hashable, value: Any) -> None:
        self._values[key] = value
