"""`/notifications`: what the bot wanted to tell a user, what became of it, and why."""

from datetime import datetime

from pydantic import BaseModel

from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import Limit, Offset, UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from bot.web.http.schemas import Out
from internal.flows.visibility import notifications as visibility_notifications
from internal.notifications.model import NotificationKind, NotificationState
from internal.storage.database import Database


class NotificationOut(Out):
    """`event_id` is its event `notification_generated`, `message_id` the message it was sent in.

    `not_before` is the earliest time to send it, `merged_into` the notification it was sent with. `reason` is a key
    such as `quiet` where a rule decided, and a sentence where a model did.
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
            lambda c: visibility_notifications.shown(c, user_id, state, limit=limit, offset=offset)
        )
        return NotificationsOut(notifications=[NotificationOut.of(one) for one in page], count=count)

    return router
