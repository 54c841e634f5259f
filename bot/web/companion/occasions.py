"""`/occasions` and the calendar that other programs subscribe to; `/today`: the days ahead."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import Annotated, Self

from fastapi import Query, Response
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.activity.tasks import TaskOut
from bot.web.graph.schemas import EvidenceOut
from bot.web.http.fields import UserId, filled
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, APIRouter
from internal.access import repository as users
from internal.errors import NotFound
from internal.flows.companion import calendar
from internal.flows.companion.occasions import UpcomingOccasion, coming, local_day, title
from internal.flows.companion.today import agenda
from internal.flows.visibility.messages import statements
from internal.knowledge import service as knowledge
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.tasks.model import Task


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
    def read(cls, connection: Connection, user_id: int, language: str, one: UpcomingOccasion) -> Self:
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


class StatementOut(BaseModel):
    """The owner's words that state a task."""

    message_id: str
    at: datetime
    quote: str


class AgendaTask(TaskOut):
    """A task; `citations` are the words that state it, if they may be shown."""

    citations: list[StatementOut]


def _tasks_out(connection: Connection, user_id: int, found: Sequence[Task]) -> list[AgendaTask]:
    shown = statements(connection, user_id, [one.message_id for one in found])
    said = {key: StatementOut(message_id=key, at=one.timestamp, quote=one.content) for key, one in shown.items()}
    return [filled(AgendaTask, one, citations=[said[key] for key in said if key == one.message_id]) for one in found]


class OpenQuestion(BaseModel):
    id: str
    text: str


class TodayOut(BaseModel):
    """The days from `first` to `last`. `waiting` are others' promises, `contacts` people to be in touch with."""

    first: date | None = None
    last: date | None = None
    tasks: list[AgendaTask] = []
    occasions: list[OccasionOut] = []
    promises: list[AgendaTask] = []
    waiting: list[AgendaTask] = []
    contacts: list[AgendaTask] = []
    questions: list[OpenQuestion] = []


def today_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(tags=["companion"])

    @router.get("/today", responses=READING, dependencies=KEYED)
    async def read_today(user_id: UserId, days: Annotated[int, Query(ge=1, le=31)] = 1) -> TodayOut:
        """Tasks, occasions, promises both ways, contacts and open questions of the next `days`, today included."""
        if not await owners.stored(user_id):
            return TodayOut()

        def read(connection: Connection) -> TodayOut:
            user = users.get(connection, user_id)
            found = agenda(connection, user, now=clock.now(), days=days)
            out = partial(_tasks_out, connection, user_id)
            return TodayOut(
                first=found.first,
                last=found.last,
                tasks=out(found.tasks),
                occasions=[OccasionOut.read(connection, user_id, user.lang, one) for one in found.occasions],
                promises=out(found.promises),
                waiting=out(found.waiting),
                contacts=out(found.contacts),
                questions=[
                    OpenQuestion(id=one.id, text=str(one.properties.get("text", ""))) for one in found.questions
                ],
            )

        return await database.read(read)

    return router
