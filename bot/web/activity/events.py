"""`/events`: the events of one owner, as a list, and live as server-sent events."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import Limit, UserId
from bot.web.http.live_stream import event_stream, following
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from bot.web.http.schemas import Out
from bot.web.http.sessions import admission
from internal.errors import expect_found
from internal.events import repository as events
from internal.events.model import Event
from internal.storage.database import Database

_AT_ONCE: Final = 200
EventType = Annotated[str | None, Query(alias="type", max_length=200)]
EventSource = Annotated[str | None, Query(max_length=200)]
After = Annotated[str | None, Query(max_length=200, description="The id of an event, which is itself left out.")]


class EventOut(Out):
    id: str
    timestamp: datetime
    event_type: str
    source: str
    payload: dict[str, Any]
    links: dict[str, Any] | None


class EventsOut(BaseModel):
    """`count` is the number of all events of this type and source."""

    events: list[EventOut]
    count: int


@dataclass(frozen=True, slots=True)
class _Filters:
    user_id: int
    event_type: str | None
    source: str | None

    def following(self, place: int, connection: Connection) -> tuple[list[Event], int]:
        found = events.following(
            connection, self.user_id, place, event_type=self.event_type, source=self.source, limit=_AT_ONCE
        )
        return [event for _, event in found], found[-1][0] if found else place


def events_router(database: Database, owners: Owners, stopping: asyncio.Event) -> APIRouter:
    """`stopping` ends every stream: the server waits for open answers when it stops."""
    router = APIRouter(prefix="/events", tags=["events"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_events(
        user_id: UserId,
        type_: EventType = None,
        source: EventSource = None,
        after: After = None,
        limit: Limit = 100,
    ) -> EventsOut:
        """Events, oldest first."""
        await owners.stored(user_id)

        def read(connection: Connection) -> EventsOut:
            if after is not None:
                _place(connection, user_id, after)
            kind = {"event_type": type_, "source": source}
            listed = events.listing(connection, user_id, **kind, after=after, limit=limit)
            count = events.count(connection, user_id, **kind)
            return EventsOut(events=[EventOut.of(event) for event in listed], count=count)

        return await database.read(read)

    # OpenAPI has no words for a stream without an end; who reads the description would wait for its last byte.
    @router.get("/stream", include_in_schema=False)
    async def stream_events(
        request: Request,
        user_id: UserId,
        type_: EventType = None,
        source: EventSource = None,
        after: After = None,
        last_event_id: Annotated[str | None, Header(max_length=200)] = None,
    ) -> StreamingResponse:
        """New events, or all after `after` (`Last-Event-ID` where a browser connects again)."""
        await owners.stored(user_id)
        since = last_event_id or after
        place = await database.read(
            lambda c: events.last_place(c, user_id) if since is None else _place(c, user_id, since)
        )
        filters = _Filters(user_id, type_, source)
        news = following(database, stopping, admission(request.scope), place, filters.following)
        return event_stream(news, lambda event: (event.id, event.event_type, EventOut.of(event).model_dump_json()))

    return router


def _place(connection: Connection, user_id: int, event_id: str) -> int:
    return expect_found(events.place_of(connection, user_id, event_id), f"after: there is no event {event_id}")
