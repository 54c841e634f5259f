"""Lets a user cancel work."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def or_stop(work: Awaitable[T], stop: asyncio.Event) -> T | None:
    """The result of the work, or None if `stop` is set first, which cancels the work."""
    coming = asyncio.ensure_future(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({coming, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return coming.result() if coming.done() else None
    finally:
        stopping.cancel()
        if not coming.done():
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
