"""Notifications without those about something that is about to be forgotten."""

from typing import Final

from sqlalchemy import Connection

from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification, NotificationKind, NotificationState
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget
from internal.storage.forgetting import forgettings
from internal.tasks import repository as tasks

ABOUT_TASKS: Final = (NotificationKind.REMINDER, NotificationKind.CONFIRM, NotificationKind.NUDGE)

_ALL: Final = 1_000_000


def visible_page(
    connection: Connection, user_id: int, state: NotificationState | None, *, limit: int, offset: int
) -> tuple[list[Notification], int]:
    """A page of a user's notifications, newest first, and how many there are."""
    if not forgettings.pending(connection, user_id):
        page = notifications.listing(connection, user_id, state=state, limit=limit, offset=offset)
        return page, notifications.count(connection, user_id, state=state)
    to_forget = messages_to_forget(connection, user_id)
    everything = everything_asked(connection, user_id)
    there = [
        one
        for one in notifications.listing(connection, user_id, state=state, limit=_ALL)
        if in_sight(connection, one, to_forget) and (everything is None or one.created_at > everything.created_at)
    ]
    return there[offset : offset + limit], len(there)


def in_sight(connection: Connection, one: Notification, to_forget: set[str]) -> bool:
    """Whether none of its subjects is about to be forgotten; `to_forget` are the messages that are."""
    if to_forget & {*one.said_in, one.message_id}:
        return False
    if one.kind not in ABOUT_TASKS or not forgettings.pending(connection, one.user_id):
        return True
    return tasks.get(connection, one.user_id, one.ref_id or "") is not None
