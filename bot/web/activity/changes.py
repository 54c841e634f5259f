"""`/changes`: what changed in an owner's memory within a week, and taking a change back."""

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel

from bot.web.http.errors import KEYED, READING, refusals
from bot.web.http.fields import Offset, UserId, Uuid
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from bot.web.http.schemas import Out
from internal.flows.changes import changes
from internal.flows.changes.changes import ChangeKind
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.tasks.model import time_of_day


class ChangeOut(Out):
    """`text` is what it is about, as it is now; of a forgetting the kind of what is being forgotten."""

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
        """What can still be taken back of the last seven days, newest first, whoever changed it."""
        await owners.stored(user_id)
        now = clock.now()
        found = await database.read(lambda c: changes.recent(c, user_id, now=now, limit=limit, offset=offset))
        return ChangesOut(changes=[ChangeOut.of(one) for one in found])

    @router.post("/{change_id}/undo", responses={**READING, **refusals(404, 409)})
    async def undo_change(change_id: Uuid, user_id: UserId) -> ChangeOut:
        """Takes a change back. 409 where later changes rest on it."""
        await owners.stored(user_id)
        now, at = clock.now(), time_of_day(whole_day_at)
        return ChangeOut.of(
            await database.write(lambda c: changes.undo(c, user_id, change_id, now=now, whole_day_at=at))
        )

    return router
