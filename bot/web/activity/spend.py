"""`/spend`: what the models cost, by day and by agent."""

from datetime import date, timedelta
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import UserFilter
from bot.web.http.owners import Owners, zone_of
from bot.web.http.routers import APIRouter
from internal.access import repository as users
from internal.scheduling.clock import Clock
from internal.storage.database import Database

Days = Annotated[int, Query(ge=1, le=366, description="Today and the days before, so many in all.")]


class SpentOut(BaseModel):
    """What one agent used on one day in the owner's time zone. `cost_usd` in US dollars."""

    day: date
    agent: str
    calls: int
    tokens: int
    cost_usd: float


class SpendOut(BaseModel):
    """From `first` to `last`, without days and agents that made no call. `daily_limit_usd` 0 is no limit."""

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
            # Whose day has begun already is ahead of UTC.
            last = max([today, *(one.day for one in spent)])
            return SpendOut(first=first, last=last, daily_limit_usd=daily_limit_usd, spent=spent)

        return await database.read(read)

    return router
