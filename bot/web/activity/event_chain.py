"""`/events/{id}/chain`: the causes and the effects of one event."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.activity.events import EventOut
from bot.web.activity.model_calls import ModelCallOut
from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import UserFilter, Uuid
from bot.web.http.owners import Owners, owner_of
from bot.web.http.routers import APIRouter
from internal.errors import expect_found
from internal.events import repository as events
from internal.events.chain import LONGEST, Chain, chain
from internal.storage.database import Database
from internal.telemetry.call_cause_repository import made_for

Longest = Annotated[int, Query(ge=1, le=LONGEST, description="Most events to either side.")]


class LinkOut(BaseModel):
    """Ids of two events."""

    cause: str
    effect: str


class ChainOut(BaseModel):
    """`back` are the causes of the event and `forward` its effects, each oldest first; `cut`: there are more.

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
