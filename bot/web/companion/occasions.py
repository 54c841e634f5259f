"""`/occasions` and the calendar that other programs subscribe to."""

from datetime import date, timedelta
from typing import Annotated, Self

from fastapi import Query, Response
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.graph.schemas import EvidenceOut
from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from internal.access import repository as users
from internal.errors import NotFound
from internal.flows.companion import calendar
from internal.flows.companion.occasions import Coming, coming, local_day, title
from internal.knowledge import service as knowledge
from internal.scheduling.clock import Clock
from internal.storage.database import Database


class OccasionOut(BaseModel):
    """`date` is the day on which it comes, `years` how many it makes then; `citations` are the lines that say so."""

    person_id: int | None
    kind: str
    date: date
    text: str
    years: int | None
    fact_id: str
    citations: list[EvidenceOut]

    @classmethod
    def read(cls, connection: Connection, user_id: int, language: str, one: Coming) -> Self:
        lines = knowledge.evidence_of_fact(connection, user_id, one.occasion.fact_id)
        return cls(
            person_id=one.person_id,
            kind=one.kind,
            date=one.on,
            text=title(one, language),
            years=one.years,
            fact_id=one.occasion.fact_id,
            citations=[EvidenceOut.of(line) for line in lines],
        )


class OccasionsOut(BaseModel):
    occasions: list[OccasionOut]


def occasions_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(tags=["companion"])

    @router.get("/occasions", responses=READING, dependencies=KEYED)
    async def list_occasions(
        user_id: UserId,
        first: Annotated[date | None, Query(alias="from")] = None,
        last: Annotated[date | None, Query(alias="to")] = None,
    ) -> OccasionsOut:
        """Birthdays and other occasions between two days, both included, by default of the year ahead."""
        if not await owners.stored(user_id):
            return OccasionsOut(occasions=[])

        def read(connection: Connection) -> list[OccasionOut]:
            user, now = users.get(connection, user_id), clock.now()
            begin = first or local_day(user, now)
            end = min(last or begin + timedelta(days=364), begin + timedelta(days=3660))
            found = coming(connection, user, begin, end, now=now)
            return [OccasionOut.read(connection, user_id, user.lang, one) for one in found]

        return OccasionsOut(occasions=await database.read(read))

    @router.get(calendar.PATH, include_in_schema=False)
    async def read_calendar(user_id: UserId, key: Annotated[str, Query(max_length=100)]) -> Response:
        """The occasions as iCalendar, for programs that subscribe: `key` is the secret of the owner's address."""

        def read(connection: Connection) -> str:
            user = calendar.reader(connection, user_id, key)
            if user is None:
                raise NotFound("there is no such calendar")
            return calendar.calendar(connection, user, now=clock.now())

        return Response(await database.read(read), media_type="text/calendar; charset=utf-8")

    return router
