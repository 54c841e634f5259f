"""What live streams of the server share: they look anew after every commit, and end when the server stops."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Final

from internal.storage.engine import Database

KEEP_ALIVE_S: Final = 15.0
"""A comment so often, so that nobody between takes a silent connection for a dead one."""

_PAUSE_S: Final = 0.05
"""Under load commits come by the hundred a second: looking for events so often is enough."""


async def following_commits(database: Database, stopping: asyncio.Event) -> AsyncIterator[bool]:
    """Yields when it is time to look: at first, and after commits; True = only a sign of life is due."""
    while not stopping.is_set():
        commits = database.commits
        yield False
        while not stopping.is_set() and not await _first(database.committed(commits), stopping):
            yield True
        await asyncio.sleep(_PAUSE_S)


async def _first(work: Coroutine[Any, Any, None], stopping: asyncio.Event) -> bool:
    """Waits until the work is done or the server stops, at most KEEP_ALIVE_S; whether one of them came."""
    waiting = {asyncio.create_task(work), asyncio.create_task(stopping.wait())}
    try:
        done, _ = await asyncio.wait(waiting, timeout=KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for task in waiting:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*waiting, return_exceptions=True)
