"""The call behind `laplaced archive`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bot.web.http.fields import LARGEST_ID
from bot.web.http.routers import APIRouter
from bot.web.http.schemas import Request

ARCHIVE_PATH = "/admin/archive"


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """`fragments` were published now; of the runs, so many are applied, wait for another attempt, or are dead."""

    fragments: int
    applied: int = 0
    waiting: int = 0
    dead: int = 0


Archive = Callable[[int | None, str | None, bool], Awaitable[ArchiveReport]]
"""Archives what waits, now: of one user or (None) of everybody. With an agent's name also earlier fragments that it
never worked on; if the last is true, also those it did.

Raises NotFound for an unknown user and Refused for an unknown agent.
"""


class ArchiveOrder(Request):
    user_id: Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)] | None = None
    backfill: str | None = None
    again: bool = False


def archive_router(archive: Archive) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(ARCHIVE_PATH)
    async def archive_now(order: ArchiveOrder) -> ArchiveReport:
        return await archive(order.user_id, order.backfill, order.again)

    return router
