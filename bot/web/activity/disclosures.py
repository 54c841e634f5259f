"""`/disclosures`: what of a memory its owner showed to others."""

from datetime import datetime

from pydantic import BaseModel

from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import Limit, UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from bot.web.http.schemas import Out
from internal.disclosures import repository as disclosures
from internal.storage.database import Database


class DisclosureOut(Out):
    """`text_hash`: SHA-256 of the id, a line break and the words. `audience`: `group:<id>` or `user:<id>`."""

    id: str
    kind: str
    ref_id: str
    text_hash: str
    audience: str
    reason: str
    at: datetime


class DisclosuresOut(BaseModel):
    disclosures: list[DisclosureOut]


def disclosures_router(database: Database, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/disclosures", tags=["disclosures"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_disclosures(user_id: UserId, limit: Limit = 100) -> DisclosuresOut:
        """What left this owner's memory by an explicit share, the newest first."""
        await owners.stored(user_id)
        found = await database.read(lambda c: disclosures.listing(c, user_id, limit=limit))
        return DisclosuresOut(disclosures=[DisclosureOut.of(one) for one in found])

    return router
