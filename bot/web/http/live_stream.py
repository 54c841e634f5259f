"""Server-sent streams, which read new rows after every commit.

They end when the server stops, or when their session ends or their key is revoked.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from fastapi.responses import StreamingResponse
from sqlalchemy import Connection

from bot.web.http.sessions import Admitted
from internal.storage.database import Database

KEEP_ALIVE_S: Final = 15.0
"""Seconds between comments, so that proxies do not drop a silent connection."""

_PAUSE_S: Final = 0.05
"""Seconds between two reads of the log: under load there are hundreds of commits a second."""


_ASK_AGAIN_S: Final = 1.0
"""Seconds between two checks of the session or key."""

T = TypeVar("T")
P = TypeVar("P")


async def following(
    database: Database,
    stopping: asyncio.Event,
    admitted: Admitted,
    position: P,
    read: Callable[[P, Connection], tuple[Sequence[T], P]],
) -> AsyncIterator[T | None]:
    """Yields what `read` returns from a place on, as it is committed, and None as a sign of life.

    `read` also returns the next place: the same one as soon as nothing is left. A session or key that is not valid any
    more is noticed within a second.
    """
    loop = asyncio.get_running_loop()
    asked = sent_at = loop.time()
    async for silent in _looks(database, stopping):
        more = True
        while more:
            if silent or loop.time() - asked >= _ASK_AGAIN_S:
                if not await admitted():
                    return
                asked = loop.time()
            if silent:
                break
            before = position
            found, position = await database.read(partial(read, before))
            for one in found:
                yield one
                sent_at = loop.time()
            more = position != before
        if loop.time() - sent_at >= KEEP_ALIVE_S:
            yield None
            sent_at = loop.time()


def event_stream(news: AsyncIterator[T | None], shown: Callable[[T], tuple[int | str, str, str]]) -> StreamingResponse:
    """Sends what is new as server-sent events; `shown` returns the id, the type and the data, one line of JSON."""

    async def sent() -> AsyncIterator[str]:
        yield ": events follow\n\n"
        async for one in news:
            if one is None:
                yield ": nothing new\n\n"
            else:
                yield "id: {}\nevent: {}\ndata: {}\n\n".format(*shown(one))

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(sent(), media_type="text/event-stream", headers=headers)


async def _looks(database: Database, stopping: asyncio.Event) -> AsyncIterator[bool]:
    """Yields False when it is time to read: at first, and after commits; True after a while without any."""
    while not stopping.is_set():
        heard = database.commits_seen
        yield False
        while not stopping.is_set() and not await _first(database.committed(heard), stopping):
            yield True
        await asyncio.sleep(_PAUSE_S)


async def _first(work: Coroutine[Any, Any, None], stopping: asyncio.Event) -> bool:
    """Waits a while until the work is done or the server stops. Returns whether either happened."""
    waiting = {asyncio.create_task(work), asyncio.create_task(stopping.wait())}
    try:
        while_s = min(KEEP_ALIVE_S, _ASK_AGAIN_S)
        done, _ = await asyncio.wait(waiting, timeout=while_s, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for task in waiting:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*waiting, return_exceptions=True)
