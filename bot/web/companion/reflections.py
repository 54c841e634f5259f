"""`/reflections`: patterns and changes of the last weeks."""

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel

from bot.web.http.fields import Out, UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter
from internal.access import repository as users
from internal.flows.reflections.model import Kind
from internal.flows.reflections.past_questions import LifeAnswers
from internal.flows.reflections.service import Reflections
from internal.storage.database import Database


class LineOut(Out):
    """A message that somebody wrote."""

    message_id: str
    at: datetime
    text: str


class ReflectionOut(Out):
    """`count` is the number of days with a meeting or mention; for a `matter`, the number of people who speak of it.

    `subject` is a name, a matter or a fact; `before` the fact in whose place it came. `strength` in [0, 1] fades.
    """

    key: str
    kind: Kind
    subject: str
    count: int
    names: list[str]
    before: str
    strength: float
    sources: list[LineOut]


class ReflectionsOut(BaseModel):
    reflections: list[ReflectionOut]


class PastOut(BaseModel):
    """An answer; `sources` are the lines that were counted, or that give the cause, in the order of time."""

    answer: list[str]
    sources: list[LineOut]


def reflections_router(database: Database, owners: Owners, reflections: Reflections, life: LifeAnswers) -> APIRouter:
    router = APIRouter(tags=["companion"], dependencies=KEYED)

    @router.get("/reflections", responses=READING)
    async def list_reflections(user_id: UserId) -> ReflectionsOut:
        """Patterns and changes of the last weeks with the lines that show them, the strongest first."""
        if not await owners.about(user_id):
            return ReflectionsOut(reflections=[])
        user = await database.read(lambda c: users.get(c, user_id))
        return ReflectionsOut(reflections=[ReflectionOut.of(one) for one in await reflections.current(user)])

    @router.get("/reflections/past", responses=READING)
    async def ask_past(user_id: UserId, question: Annotated[str, Query(min_length=1, max_length=400)]) -> PastOut:
        """Answers "how often ..." and "what led to ..." in the question's language. Other questions get an empty
        answer."""
        if not await owners.about(user_id):
            return PastOut(answer=[], sources=[])
        user = await database.read(lambda c: users.get(c, user_id))
        answer, lines = await life.past(user, question)
        return PastOut(answer=answer, sources=[LineOut.of(line) for line in lines])

    @router.delete("/reflections/{key}", responses=WRITING)
    async def dismiss_reflection(key: Annotated[str, Path(pattern=r"^[a-z]+-[0-9a-f]{12}$")], user_id: UserId) -> None:
        """Dismisses a reflection. Its lines stay."""
        await owners.about(user_id)
        await database.write(lambda c: reflections.dismiss(c, user_id, key))

    return router
