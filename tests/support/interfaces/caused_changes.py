"""A guard around whatever is called, pressed or sent: each change of memory must be an event with a cause."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from sqlalchemy import Connection, func, select

from internal.storage.database import Database
from internal.storage.tables import changes, events

MEMORY = ("node", "edge", "person")
READING = {"GET", "HEAD", "OPTIONS"}
Place = tuple[int, int]
"""The numbers of the newest change and of the newest event."""


@asynccontextmanager
async def every_change_is_caused(database: Database) -> AsyncIterator[None]:
    """Fails unless what changes inside is an event of its owner that leads back to a cause."""
    since = await database.read(_place)
    yield
    await database.read(lambda c: check(c, since))


def _place(connection: Connection) -> Place:
    newest = [connection.execute(select(func.coalesce(func.max(t.c.seq), 0))).scalar_one() for t in (changes, events)]
    return newest[0], newest[1]


def check(connection: Connection, since: Place) -> None:
    changed = select(changes.c.user_id).where(changes.c.seq > since[0], changes.c.kind.in_(MEMORY)).distinct()
    for user_id in connection.execute(changed).scalars().all():
        query = select(events).where(events.c.seq > since[1], events.c.user_id == user_id).order_by(events.c.seq)
        told = connection.execute(query).all()
        effects = [event for event in told if event.event_type != "command_received"]
        assert effects, f"memory of {user_id} changed without an event"
        for event in effects:
            causes = (event.links or {}).get("caused_by") or ()
            causes = [causes] if isinstance(causes, str) else list(causes)
            known = select(events.c.id).where(events.c.user_id == user_id, events.c.id.in_(causes))
            assert connection.execute(known).first(), f"{event.event_type} has no cause: {event.links}"
            assert event.source.partition(":")[0] in ("user", "agent", "system"), event.source
            assert not event.source.startswith("user:") or event.source == f"user:{user_id}"


def watching(database: Database) -> dict[str, list[Callable[..., Awaitable[Any]]]]:
    """Hooks of a client that guard every call which may change something."""

    async def before(request: httpx.Request) -> None:
        if request.method not in READING:
            request.extensions["place"] = await database.read(_place)

    async def after(response: httpx.Response) -> None:
        if (since := response.request.extensions.get("place")) is not None:
            await database.read(lambda c: check(c, since))

    return {"request": [before], "response": [after]}
