"""What several searches of one question need, worked out once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class QueryCache:
    """Lives as long as one question. Whoever asks first has a thing worked out; whoever asks meanwhile waits for it."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}
        self._kept: dict[Hashable, Any] = {}

    async def of(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work`, which runs once for a key; what it raises is raised to everybody who asked.

        Who is cancelled stops waiting; the work goes on for the others. All that `key` does not tell apart must give
        the same result.
        """
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(work())
        return cast(T, await asyncio.shield(task))

    def kept(self, key: Hashable) -> Any:
        """What was kept under a key; None if nothing was."""
        return self._kept.get(key)

    def keep(self, key: Hashable, value: Any) -> None:
        self._kept[key] = value
