"""`/timeline`: events page by page and live, of one owner or, for the admin, of all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.activity.events import EventOut
from bot.web.http.fields import LARGEST_ID, Limit, UserFilter
from bot.web.http.live_stream import event_stream, following
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, APIRouter
from bot.web.http.sessions import admission
from internal.errors import expect_found
from internal.events import repository as events, timeline_repository as timeline
from internal.events.timeline_repository import TimelineEvent, Wanted
from internal.flows.visibility.messages import events_shown
from internal.storage.database import Database
from internal.storage.engine.commit_order import ReadPosition

_AT_ONCE = 200

_AGAIN = 1000
"""Places before `after` that a stream of all owners' events repeats if several processes write."""

Position = Annotated[int | None, Query(ge=0, le=LARGEST_ID, description="An event's place, which is itself left out.")]
Names = Annotated[list[str], Query(max_length=50)]


class TimelineEventOut(EventOut):
    """An event; `place` orders all events of the store, `text` is the beginning of the message the event is about."""

    place: int
    user_id: int | None
    text: str | None

    @classmethod
    def at(cls, found: TimelineEvent) -> TimelineEventOut:
        fields = EventOut.of(found.event).model_dump()
        return cls(**fields, place=found.position, user_id=found.event.user_id, text=found.text)


class TimelineOut(BaseModel):
    """A page; `count` is the number of all events, None unless `counted`."""

    events: list[TimelineEventOut]
    count: int | None


def timeline_router(database: Database, owners: Owners, stopping: asyncio.Event) -> APIRouter:
    """The calls below `/timeline`; `stopping` ends every stream."""
    router = APIRouter(prefix="/timeline", tags=["timeline"], dependencies=KEYED)
    _add_live(router, database, owners, stopping)  # first: the event of any id would match `stream` too
    _add_pages(router, database, owners)
    return router


def _add_pages(router: APIRouter, database: Database, owners: Owners) -> None:
    @router.get("", responses=READING)
    async def get_timeline(
        user_filter: UserFilter = None,
        before: Position = None,
        after: Position = None,
        hide: Names = [],  # noqa: B006 - FastAPI reads it as the default and copies it
        type_: Annotated[list[str], Query(alias="type", max_length=50)] = [],  # noqa: B006 - as above
        only: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006 - as above
        counted: bool = False,
        limit: Limit = 100,
    ) -> TimelineOut:
        """The newest page, or the one before or after a place; always oldest first.

        `hide` leaves sources out, `only` are event ids.
        """
        filters = await _filters(owners, user_filter, hide, type_, only)

        def read(connection: Connection) -> TimelineOut:
            if after is not None:
                found = timeline.events_after(connection, filters, after, limit=limit)
            else:
                found = timeline.events_before(connection, filters, before, limit=limit)
            count = timeline.count(connection, filters) if counted else None
            return TimelineOut(events=_events_out(connection, found), count=count)

        return await database.read(read)

    @router.get("/{event_id}", responses=READING)
    async def get_event(
        event_id: Annotated[str, Path(max_length=200)], user_filter: UserFilter = None
    ) -> TimelineEventOut:
        filters = await _filters(owners, user_filter, [], [], [])

        def read(connection: Connection) -> TimelineEventOut:
            found = expect_found(timeline.event_of(connection, filters, event_id), f"there is no event {event_id}")
            return _events_out(connection, [found])[0]

        return await database.read(read)


def _add_live(router: APIRouter, database: Database, owners: Owners, stopping: asyncio.Event) -> None:
    @router.get("/stream", include_in_schema=False)
    async def stream_timeline(
        request: Request,
        user_filter: UserFilter = None,
        after: Position = None,
        hide: Names = [],  # noqa: B006 - as above
        type_: Annotated[list[str], Query(alias="type", max_length=50)] = [],  # noqa: B006 - as above
    ) -> StreamingResponse:
        """New events, or all after a place, as server-sent events whose ids are places.

        A stream of everybody's events may send an event after one with a later place, and may repeat some.
        """
        filters = await _filters(owners, user_filter, hide, type_, [])
        admitted = admission(request.scope)
        news: AsyncIterator[TimelineEventOut | None]
        if user_filter is None:
            standing = await database.read(partial(_read_position, after))
            news = following(database, stopping, admitted, standing, partial(_new_events, filters))
        else:
            position = (
                after if after is not None else await database.read(partial(events.last_position, user_id=user_filter))
            )
            news = following(database, stopping, admitted, position, partial(_earlier_events, filters))
        return event_stream(news, lambda one: (one.place, one.event_type, one.model_dump_json()))


async def _filters(
    owners: Owners, user_filter: int | None, hide: list[str], types: list[str], only: list[str]
) -> Wanted:
    if user_filter is not None:
        await owners.stored(user_filter)
    return Wanted(user_filter, hide, types, only)


def _earlier_events(filters: Wanted, position: int, connection: Connection) -> tuple[list[TimelineEventOut], int]:
    found = timeline.events_after(connection, filters, position, limit=_AT_ONCE)
    return _events_out(connection, found), found[-1].position if found else position


def _read_position(after: int | None, connection: Connection) -> ReadPosition:
    return timeline.read_position(connection, after, again=_AGAIN if after is not None else 0)


def _new_events(
    filters: Wanted, since: ReadPosition, connection: Connection
) -> tuple[list[TimelineEventOut], ReadPosition]:
    found, here = timeline.new_since(connection, filters, since, limit=_AT_ONCE)
    return _events_out(connection, found), here


def _events_out(connection: Connection, found: list[TimelineEvent]) -> list[TimelineEventOut]:
    return [TimelineEventOut.at(one) for one in events_shown(connection, found)]
