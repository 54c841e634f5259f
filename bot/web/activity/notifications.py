"""`/notifications`: what the bot wanted to say, and the outcome; `/disclosures`: what was shown to others."""

from datetime import datetime

from pydantic import BaseModel

from bot.web.http.fields import Limit, Offset, Out, UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, APIRouter
from internal.access import disclosure_repository as disclosures
from internal.dialogue.notifications.model import NotificationKind, NotificationState
from internal.flows.visibility import notifications as visibility_notifications
from internal.storage.database import Database


class NotificationOut(Out):
    """A notification; `event_id` is its event `notification_generated`, `message_id` the message it was sent in.

    `not_before` is the earliest time to send it, `merged_into` the notification it was sent with. `reason` is a key
    such as `quiet` if a rule decided, and a sentence if a model did.
    """

    id: str
    kind: NotificationKind
    ref_id: str | None
    text: str
    state: NotificationState
    urgent: bool
    not_before: datetime
    due_at: datetime | None
    created_at: datetime
    decided_at: datetime | None
    reason: str | None
    merged_into: str | None
    event_id: str
    message_id: str | None


class NotificationsOut(BaseModel):
    """`count` is the number of all notifications."""

    notifications: list[NotificationOut]
    count: int


def notifications_router(database: Database, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/notifications", tags=["notifications"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_notifications(
        user_id: UserId, state: NotificationState | None = None, limit: Limit = 100, offset: Offset = 0
    ) -> NotificationsOut:
        """Notifications, newest first, without those that a pending forgetting hides."""
        await owners.stored(user_id)
        page, count = await database.read(
            lambda c: visibility_notifications.visible_page(c, user_id, state, limit=limit, offset=offset)
        )
        return NotificationsOut(notifications=[NotificationOut.of(one) for one in page], count=count)

    return router


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
        """What left this owner's memory by an explicit share, latest first."""
        await owners.stored(user_id)
        found = await database.read(lambda c: disclosures.listing(c, user_id, limit=limit))
        return DisclosuresOut(disclosures=[DisclosureOut.of(one) for one in found])

    return router
