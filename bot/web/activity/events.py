"""`/events`: the events of one owner, as a list, live, with causes and effects; `/changes`, and undoing one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.activity.model_calls import ModelCallOut
from bot.web.http.fields import Limit, Offset, Out, UserFilter, UserId, Uuid
from bot.web.http.live_stream import event_stream, following
from bot.web.http.owners import Owners, owner_of
from bot.web.http.routers import KEYED, READING, APIRouter, refusals
from bot.web.http.sessions import admission
from internal.errors import expect_found
from internal.events import repository as events
from internal.events.chain import LONGEST, Chain, chain
from internal.events.model import Event
from internal.flows.correcting import changes
from internal.flows.correcting.changes import ChangeKind
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.tasks.model import time_of_day
from internal.telemetry.call_repository import made_for

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

    def following(self, position: int, connection: Connection) -> tuple[list[Event], int]:
        found = events.following(
            connection, self.user_id, position, event_type=self.event_type, source=self.source, limit=_AT_ONCE
        )
        return [event for _, event in found], found[-1][0] if found else position


def events_router(database: Database, owners: Owners, stopping: asyncio.Event) -> APIRouter:
    """The calls below `/events`; `stopping` ends every stream, as the server waits for open answers when it stops."""
    router = APIRouter(prefix="/events", tags=["events"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_events(
        user_id: UserId, type_: EventType = None, source: EventSource = None, after: After = None, limit: Limit = 100
    ) -> EventsOut:
        """Events, oldest first."""
        await owners.stored(user_id)

        def read(connection: Connection) -> EventsOut:
            if after is not None:
                _position(connection, user_id, after)
            kind = {"event_type": type_, "source": source}
            listed = events.listing(connection, user_id, **kind, after=after, limit=limit)
            count = events.count(connection, user_id, **kind)
            return EventsOut(events=[EventOut.of(event) for event in listed], count=count)

        return await database.read(read)

    # OpenAPI cannot describe a stream without an end; a generated client would wait for its last byte.
    @router.get("/stream", include_in_schema=False)
    async def stream_events(
        request: Request,
        user_id: UserId,
        type_: EventType = None,
        source: EventSource = None,
        after: After = None,
        last_event_id: Annotated[str | None, Header(max_length=200)] = None,
    ) -> StreamingResponse:
        """New events, or all after `after` (`Last-Event-ID` if a browser connects again)."""
        await owners.stored(user_id)
        since = last_event_id or after
        position = await database.read(
            lambda c: events.last_position(c, user_id) if since is None else _position(c, user_id, since)
        )
        filters = _Filters(user_id, type_, source)
        news = following(database, stopping, admission(request.scope), position, filters.following)
        return event_stream(news, lambda event: (event.id, event.event_type, EventOut.of(event).model_dump_json()))

    return router


def _position(connection: Connection, user_id: int, event_id: str) -> int:
    return expect_found(events.position_of(connection, user_id, event_id), f"after: there is no event {event_id}")


Longest = Annotated[int, Query(ge=1, le=LONGEST, description="Most events to either side.")]


class LinkOut(BaseModel):
    """Ids of two events."""

    cause: str
    effect: str


class ChainOut(BaseModel):
    """`back` are the causes of the event and `forward` its effects, each oldest first; `cut`: more exist.

    `calls` are the model calls made for the turns, runs and notifications of the event and of its causes.
    """

    event: EventOut
    back: list[EventOut]
    forward: list[EventOut]
    links: list[LinkOut]
    calls: list[ModelCallOut]
    cut: bool

    @classmethod
    def of(cls, chain_of_event: Chain, calls: list[ModelCallOut]) -> ChainOut:
        return cls(
            event=EventOut.of(chain_of_event.event),
            back=[EventOut.of(event) for event in chain_of_event.back],
            forward=[EventOut.of(event) for event in chain_of_event.forward],
            links=[LinkOut(cause=cause, effect=effect) for cause, effect in chain_of_event.links],
            calls=calls,
            cut=chain_of_event.cut,
        )


def chain_router(database: Database, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/events", tags=["events"], dependencies=KEYED)

    @router.get("/{event_id}/chain", responses=READING)
    async def get_event_chain(event_id: Uuid, user_filter: UserFilter = None, limit: Longest = 200) -> ChainOut:
        """The causes and effects of an event: of a reply, back to its update and forward to what was archived."""
        if user_filter is not None:
            await owners.stored(user_filter)

        def read(connection: Connection) -> ChainOut:
            user_id = owner_of(connection, events.owner_of, "event", event_id, user_filter)
            found = expect_found(chain(connection, user_id, event_id, limit=limit), f"there is no event {event_id}")
            rows = made_for(connection, user_id, found.made_for, limit=limit)
            return ChainOut.of(found, [ModelCallOut.of(row) for row in rows])

        return await database.read(read)

    return router


class ChangeOut(Out):
    """A change; `text` is its current subject, or for a forgetting the kind of thing being forgotten."""

    id: str
    at: datetime
    kind: ChangeKind
    text: str
    by_owner: bool


class ChangesOut(BaseModel):
    changes: list[ChangeOut]


def changes_router(database: Database, clock: Clock, owners: Owners, whole_day_at: str) -> APIRouter:
    router = APIRouter(prefix="/changes", tags=["changes"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_changes(
        user_id: UserId, limit: Annotated[int, Query(ge=1, le=100)] = 50, offset: Offset = 0
    ) -> ChangesOut:
        """The changes of the last seven days that can still be undone, newest first."""
        await owners.stored(user_id)
        now = clock.now()
        found = await database.read(lambda c: changes.recent(c, user_id, now=now, limit=limit, offset=offset))
        return ChangesOut(changes=[ChangeOut.of(one) for one in found])

    @router.post("/{change_id}/undo", responses={**READING, **refusals(404, 409)})
    async def undo_change(change_id: Uuid, user_id: UserId) -> ChangeOut:
        """Undoes a change. 409 if later changes depend on it."""
        await owners.stored(user_id)
        now, at = clock.now(), time_of_day(whole_day_at)
        return ChangeOut.of(
            await database.write(lambda c: changes.undo(c, user_id, change_id, now=now, whole_day_at=at))
        )

    return router
