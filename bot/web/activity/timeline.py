"""`/timeline`: what happened, page by page to either side and live; of one owner, or for the admin of everybody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.activity.events import EventOut
from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import LARGEST_ID, AskedUser, Limit
from bot.web.http.live_stream import following
from bot.web.http.owners import Owners
from bot.web.http.sessions import admission
from internal.errors import NotFound
from internal.events import repository as events
from internal.events import timeline_repository as timeline
from internal.events.timeline_repository import Placed, Wanted
from internal.flows.visibility.messages import events_shown
from internal.storage.database import Database
from internal.storage.engine.commit_order import ReadPosition

_AT_ONCE = 200

_AGAIN = 1000
"""Places before `after` that a stream of everybody's events tells again where several processes write."""

Place = Annotated[int | None, Query(ge=0, le=LARGEST_ID, description="An event's place, which is itself left out.")]
Names = Annotated[list[str], Query(max_length=50)]


class PlacedOut(EventOut):
    """`place` orders all events of the store; `text` is the beginning of the message the event is about."""

    place: int
    user_id: int | None
    text: str | None

    @classmethod
    def at(cls, placed: Placed) -> PlacedOut:
        told = EventOut.of(placed.event).model_dump()
        return cls(**told, place=placed.place, user_id=placed.event.user_id, text=placed.text)


class TimelineOut(BaseModel):
    """`count` is how many there are, whatever page is shown; None where it was not asked for."""

    events: list[PlacedOut]
    count: int | None


def timeline_router(database: Database, owners: Owners, stopping: asyncio.Event) -> APIRouter:
    """`stopping` ends every stream."""
    router = APIRouter(prefix="/timeline", tags=["timeline"], dependencies=KEYED)
    _add_live(router, database, owners, stopping)  # before the event of any id, or `stream` would be one
    _add_pages(router, database, owners)
    return router


def _add_pages(router: APIRouter, database: Database, owners: Owners) -> None:
    @router.get("", responses=READING)
    async def page(
        asked: AskedUser = None,
        before: Place = None,
        after: Place = None,
        hide: Names = [],  # noqa: B006 - FastAPI reads it as the default and copies it
        type_: Annotated[list[str], Query(alias="type", max_length=50)] = [],  # noqa: B006 - as above
        only: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006 - as above
        counted: bool = False,
        limit: Limit = 100,
    ) -> TimelineOut:
        """The newest page, or the one before or behind a place; always oldest first.

        `hide` leaves sources out, `only` are ids.
        """
        wanted = await _wanted(owners, asked, hide, type_, only)

        def read(connection: Connection) -> TimelineOut:
            if after is not None:
                found = timeline.behind(connection, wanted, after, limit=limit)
            else:
                found = timeline.before(connection, wanted, before, limit=limit)
            count = timeline.count(connection, wanted) if counted else None
            return TimelineOut(events=_told_of(connection, found), count=count)

        return await database.read(read)

    @router.get("/{event_id}", responses=READING)
    async def one(event_id: Annotated[str, Path(max_length=200)], asked: AskedUser = None) -> PlacedOut:
        wanted = await _wanted(owners, asked, [], [], [])

        def read(connection: Connection) -> PlacedOut:
            found = timeline.one(connection, wanted, event_id)
            if found is None:
                raise NotFound(f"there is no event {event_id}")
            return _told_of(connection, [found])[0]

        return await database.read(read)


def _add_live(router: APIRouter, database: Database, owners: Owners, stopping: asyncio.Event) -> None:
    @router.get("/stream", include_in_schema=False)
    async def stream(
        request: Request,
        asked: AskedUser = None,
        after: Place = None,
        hide: Names = [],  # noqa: B006 - as above
        type_: Annotated[list[str], Query(alias="type", max_length=50)] = [],  # noqa: B006 - as above
    ) -> StreamingResponse:
        """From now on, or from behind a place, as server-sent events whose ids are places.

        Of everybody's, one may come after others of a later place, and some may be told again.
        """
        wanted = await _wanted(owners, asked, hide, type_, [])
        admitted = admission(request.scope)
        found: AsyncIterator[PlacedOut | None]
        if asked is None:
            standing = await database.read(partial(_standing, after))
            found = following(database, stopping, admitted, standing, partial(_news, wanted))
        else:
            place = after if after is not None else await database.read(partial(events.last_place, user_id=asked))
            found = following(database, stopping, admitted, place, partial(_behind, wanted))
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_told(found), media_type="text/event-stream", headers=headers)


async def _wanted(owners: Owners, asked: int | None, hide: list[str], types: list[str], only: list[str]) -> Wanted:
    if asked is not None:
        await owners.stored(asked)
    return Wanted(asked, hide, types, only)


async def _told(following: AsyncIterator[PlacedOut | None]) -> AsyncIterator[str]:
    yield ": events follow\n\n"
    async for one in following:
        if one is None:
            yield ": nothing new\n\n"
        else:
            yield f"id: {one.place}\nevent: {one.event_type}\ndata: {one.model_dump_json()}\n\n"


def _behind(wanted: Wanted, place: int, connection: Connection) -> tuple[list[PlacedOut], int]:
    found = timeline.behind(connection, wanted, place, limit=_AT_ONCE)
    return _told_of(connection, found), found[-1].place if found else place


def _standing(after: int | None, connection: Connection) -> ReadPosition:
    return timeline.standing(connection, after, again=_AGAIN if after is not None else 0)


def _news(wanted: Wanted, since: ReadPosition, connection: Connection) -> tuple[list[PlacedOut], ReadPosition]:
    found, here = timeline.news(connection, wanted, since, limit=_AT_ONCE)
    return _told_of(connection, found), here


def _told_of(connection: Connection, found: list[Placed]) -> list[PlacedOut]:
    return [PlacedOut.at(one) for one in events_shown(connection, found)]
