"""`/model-calls`: every call of a model with its exact prompt, reply and price; `/spend`: what they cost."""

from datetime import date, datetime, timedelta
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.http.fields import Limit, Out, UserFilter
from bot.web.http.owners import Owners, zone_of
from bot.web.http.routers import KEYED, READING, APIRouter
from internal.access import repository as users
from internal.errors import NotFound
from internal.flows.visibility.messages import call_in_sight
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.telemetry import call_repository
from internal.telemetry.call_repository import Calls

AgentName = Annotated[str | None, Query(max_length=100)]
Cause = Annotated[str | None, Query(max_length=200, description="The id of a turn, run or whatever it was made for.")]
Before = Annotated[str | None, Query(max_length=200, description="The id of a call, which is itself left out.")]


class ModelCallOut(Out):
    """A call; `duration_s` in seconds, `cost_usd` in US dollars; `links` are the turn or run it was made for."""

    id: str
    user_id: int | None
    agent: str
    model: str
    at: datetime
    duration_s: float
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost_usd: float
    error: str | None
    links: dict[str, Any] | None


class WholeModelCallOut(ModelCallOut):
    """`prompt` and `reply` are null once the owner asked to forget a message that is part of them."""

    prompt: list[dict[str, Any]] | None
    reply: str | None


class ModelCallsOut(BaseModel):
    """`count` is the number of all calls."""

    calls: list[ModelCallOut]
    count: int


def model_calls_router(database: Database, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/model-calls", tags=["model calls"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_model_calls(
        user_filter: UserFilter = None,
        agent: AgentName = None,
        cause: Cause = None,
        before: Before = None,
        limit: Limit = 100,
    ) -> ModelCallsOut:
        """Model calls, newest first; without a user those of all owners, for the admin."""
        if user_filter is not None:
            await owners.stored(user_filter)
        filters = Calls(user_filter, agent, cause)

        def read(connection: Connection) -> ModelCallsOut:
            rows = call_repository.listing(connection, filters, before=before, limit=limit)
            listed = [ModelCallOut.of(row) for row in rows]
            return ModelCallsOut(calls=listed, count=call_repository.count(connection, filters))

        return await database.read(read)

    @router.get("/{call_id}", responses=READING)
    async def get_model_call(
        call_id: Annotated[str, Path(max_length=200)], user_filter: UserFilter = None
    ) -> WholeModelCallOut:
        def read(connection: Connection) -> WholeModelCallOut:
            row = call_repository.get_call(connection, Calls(user_filter), call_id)
            if row is None:
                raise NotFound(f"there is no model call {call_id}")
            call = WholeModelCallOut.of(row)
            if call_in_sight(connection, row):
                return call
            return call.model_copy(update={"prompt": None, "reply": None})

        return await database.read(read)

    return router


Days = Annotated[int, Query(ge=1, le=366, description="Number of days, today included.")]


class SpentOut(BaseModel):
    """The use of one agent on one day in the owner's time zone. `cost_usd` in US dollars."""

    day: date
    agent: str
    calls: int
    tokens: int
    cost_usd: float


class SpendOut(BaseModel):
    """The use from `first` to `last`, without days and agents without calls. `daily_limit_usd` 0 is no limit."""

    first: date
    last: date
    daily_limit_usd: float
    spent: list[SpentOut]


def spend_router(database: Database, clock: Clock, owners: Owners, daily_limit_usd: float) -> APIRouter:
    router = APIRouter(prefix="/spend", tags=["model calls"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def get_spend(user_filter: UserFilter = None, days: Days = 30) -> SpendOut:
        """The cost by day and agent, oldest first; without a user of all owners, for the admin."""
        if user_filter is not None:
            await owners.stored(user_filter)
        now = clock.now()

        def read(connection: Connection) -> SpendOut:
            today = now.date() if user_filter is None else now.astimezone(zone_of(connection, user_filter)).date()
            first = today - timedelta(days=days - 1)
            rows = users.spent_by_day(connection, user_filter, first.isoformat())
            names = SpentOut.model_fields
            spent = [SpentOut.model_validate(dict(zip(names, row, strict=True))) for row in rows]
            # The day of an owner in a zone ahead of UTC has begun already.
            last = max([today, *(one.day for one in spent)])
            return SpendOut(first=first, last=last, daily_limit_usd=daily_limit_usd, spent=spent)

        return await database.read(read)

    return router
