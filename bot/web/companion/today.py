"""`/today`: what the days ahead hold."""

from datetime import date
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.activity.tasks import TaskOut
from bot.web.companion.occasions import OccasionOut
from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from internal.access import repository as users
from internal.flows.companion.today import agenda
from internal.scheduling.clock import Clock
from internal.storage.database import Database


class OpenQuestion(BaseModel):
    id: str
    text: str


class TodayOut(BaseModel):
    """From `first` to `last`. `waiting` is what others promised, `contacts` whom it is time to be in touch with."""

    first: date | None = None
    last: date | None = None
    tasks: list[TaskOut] = []
    occasions: list[OccasionOut] = []
    promises: list[TaskOut] = []
    waiting: list[TaskOut] = []
    contacts: list[TaskOut] = []
    questions: list[OpenQuestion] = []


def today_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(tags=["companion"])

    @router.get("/today", responses=READING, dependencies=KEYED)
    async def read_today(user_id: UserId, days: Annotated[int, Query(ge=1, le=31)] = 1) -> TodayOut:
        """Tasks, occasions, promises both ways, contacts and open questions of today, or of so many days."""
        if not await owners.stored(user_id):
            return TodayOut()

        def read(connection: Connection) -> TodayOut:
            user = users.get(connection, user_id)
            found = agenda(connection, user, now=clock.now(), days=days)
            return TodayOut(
                first=found.first,
                last=found.last,
                tasks=[TaskOut.of(one) for one in found.tasks],
                occasions=[OccasionOut.read(connection, user_id, user.lang, one) for one in found.occasions],
                promises=[TaskOut.of(one) for one in found.promises],
                waiting=[TaskOut.of(one) for one in found.waiting],
                contacts=[TaskOut.of(one) for one in found.contacts],
                questions=[
                    OpenQuestion(id=one.id, text=str(one.properties.get("text", ""))) for one in found.questions
                ],
            )

        return await database.read(read)

    return router
