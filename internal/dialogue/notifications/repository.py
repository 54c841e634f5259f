"""Notifications in the database: generated in the transaction of their cause, decided once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from internal.dialogue.notifications.model import OPEN, Notification, NotificationKind, NotificationState
from internal.events import bus
from internal.events.bus import EventTopic
from internal.storage.rows import reader
from internal.storage.tables import notifications, users
from internal.storage.types import new_id, one_of

SENT: Final = "notification_sent"
WEIGHED: Final = "notification_weighed"
"""The event of a notification that was put off, merged or dropped."""

QUIET: Final = "quiet"
"""The reason of notifications put off for quiet hours."""

_OPEN = one_of(notifications.c.state, OPEN)


def generate(
    connection: Connection,
    user_id: int,
    kind: NotificationKind,
    text: str,
    *,
    now: datetime,
    dedupe: str,
    ref_id: str | None = None,
    payload: Mapping[str, Any] | None = None,
    urgent: bool = False,
    not_before: datetime | None = None,
    links: Mapping[str, Any] | None = None,
    source: str = "agent:TaskManager",
) -> str | None:
    """Queues a notification for a user. Returns its id, or None if this user had one with this `dedupe` before.

    `urgent` ones are sent at once, in quiet hours too while their moment is fresh, unless `not_before` lies ahead.
    `links` go into the event `notification_generated`, which holds ids and no words; `source` is the event's author.
    """
    before = (notifications.c.user_id == user_id) & (notifications.c.dedupe == dedupe)
    if connection.execute(select(notifications.c.id).where(before)).first() is not None:
        return None
    notification_id = new_id()
    event_id = bus.publish(
        connection,
        EventTopic.NOTIFICATION,
        source=source,
        now=now,
        user_id=user_id,
        payload={"notification": notification_id, "kind": NotificationKind(kind).value, "urgent": urgent},
        links={"notification": notification_id, **({"ref": ref_id} if ref_id else {}), **(links or {})},
    )
    connection.execute(
        insert(notifications).values(
            user_id=user_id,
            id=notification_id,
            kind=NotificationKind(kind).value,
            ref_id=ref_id,
            text=text,
            payload=dict(payload or {}),
            state=NotificationState.WAITING.value,
            urgent=urgent,
            not_before=not_before or now,
            created_at=now,
            event_id=event_id,
            dedupe=dedupe,
        )
    )
    return notification_id


def listing(
    connection: Connection, user_id: int, *, state: NotificationState | None = None, limit: int = 100, offset: int = 0
) -> list[Notification]:
    """A user's notifications, newest first."""
    query = select(notifications).where(_of(user_id, state)).order_by(notifications.c.id.desc())
    return [_notification(row) for row in connection.execute(query.limit(limit).offset(offset))]


def count(connection: Connection, user_id: int, *, state: NotificationState | None = None) -> int:
    return int(
        connection.execute(select(func.count()).select_from(notifications).where(_of(user_id, state))).scalar_one()
    )


def count_since(
    connection: Connection, user_id: int, kind: NotificationKind, since: datetime, *, ref_id: str | None = None
) -> int:
    """The number of a kind created for a user at or after a moment, with `ref_id` only those about it."""
    notified = (notifications.c.user_id == user_id) & (notifications.c.kind == kind.value)
    query = select(func.count()).where(notified, notifications.c.created_at >= since)
    about = query if ref_id is None else query.where(notifications.c.ref_id == ref_id)
    return int(connection.execute(about).scalar_one())


def owners_due(connection: Connection, now: datetime) -> list[int]:
    """The owners with notifications to examine now; the longest waiting first.

    Users who left are not included: nothing can be sent to them, and they would stand first for ever.
    """
    active = users.c.state == "active"
    query = (
        select(notifications.c.user_id)
        .join(users, users.c.user_id == notifications.c.user_id)
        .where(_OPEN, notifications.c.not_before <= now, active)
        .group_by(notifications.c.user_id)
        .order_by(func.min(notifications.c.not_before), notifications.c.user_id)
    )
    return list(connection.execute(query).scalars())


def due(connection: Connection, user_id: int, now: datetime, *, limit: int = 50) -> list[Notification]:
    """Notifications that may be sent to this user by now, oldest first."""
    query = select(notifications).where(_OPEN, notifications.c.user_id == user_id, notifications.c.not_before <= now)
    return [_notification(row) for row in connection.execute(query.order_by(notifications.c.id).limit(limit))]


def are_open(connection: Connection, user_id: int, notification_ids: Collection[str]) -> bool:
    """Whether all of these are still without a decision."""
    query = select(func.count()).where(
        _OPEN, notifications.c.user_id == user_id, notifications.c.id.in_(notification_ids)
    )
    return int(connection.execute(query).scalar_one()) == len(set(notification_ids))


def defer(
    connection: Connection, user_id: int, notification_ids: Collection[str], until: datetime, reason: str, now: datetime
) -> None:
    """Puts these off until `until`."""
    _decide(connection, user_id, notification_ids, NotificationState.DEFERRED, now, reason, not_before=until)


def look_again_at_quiet(connection: Connection, user_id: int, now: datetime) -> int:
    """Makes notifications put off for quiet hours due now, because the hours changed. Returns how many."""
    off = _of(user_id, NotificationState.DEFERRED) & (notifications.c.reason == QUIET)
    later = update(notifications).where(off, notifications.c.not_before > now)
    return connection.execute(later.values(not_before=now)).rowcount


def mark_sent(
    connection: Connection,
    user_id: int,
    notification_id: str,
    *,
    merged: Sequence[str] = (),
    message_id: str,
    reason: str,
    now: datetime,
) -> None:
    """Marks a notification as sent by the assistant's message `message_id`, and those in `merged` as part of it."""
    _decide(connection, user_id, [notification_id], NotificationState.SENT, now, reason, message_id=message_id)
    together: dict[str, Any] = {"message_id": message_id, "merged_into": notification_id}
    _decide(connection, user_id, merged, NotificationState.MERGED, now, reason, **together)


def drop(connection: Connection, user_id: int, notification_ids: Collection[str], reason: str, now: datetime) -> None:
    """Marks these as never to be sent."""
    _decide(connection, user_id, notification_ids, NotificationState.DROPPED, now, reason)


def withdraw(connection: Connection, user_id: int, ref_id: str, reason: str, now: datetime) -> list[Notification]:
    """Drops waiting notifications about a subject that needs none, such as a task that is done. Returns them."""
    query = select(notifications).where(_OPEN, notifications.c.user_id == user_id, notifications.c.ref_id == ref_id)
    waiting = [_notification(row) for row in connection.execute(query.order_by(notifications.c.id))]
    drop(connection, user_id, [one.id for one in waiting], reason, now)
    return waiting


def count_attempt(connection: Connection, user_id: int, notification_ids: Collection[str]) -> None:
    """Counts one more failed attempt to decide about these."""
    mine = (notifications.c.user_id == user_id) & notifications.c.id.in_(notification_ids)
    connection.execute(update(notifications).where(mine).values(attempts=notifications.c.attempts + 1))


def erase(
    connection: Connection, user_id: int, message_ids: Collection[str], holds: Callable[[str], bool]
) -> list[Notification]:
    """Deletes the notifications from, or sent in, one of these messages, or with a trace. Returns their texts."""
    to_forget = set(message_ids)
    rows = map(_notification, connection.execute(select(notifications).where(notifications.c.user_id == user_id)))
    gone = [one for one in rows if to_forget & {*one.said_in, one.message_id} or holds(one.text)]
    for one in gone:
        connection.execute(delete(notifications).where(_one(user_id, one.id)))
    return gone


def _decide(
    connection: Connection,
    user_id: int,
    notification_ids: Collection[str],
    state: NotificationState,
    now: datetime,
    reason: str,
    **values: Any,
) -> None:
    mine = (notifications.c.user_id == user_id) & notifications.c.id.in_(list(notification_ids)) & _OPEN
    values |= {"state": state.value, "decided_at": now, "reason": reason}
    connection.execute(update(notifications).where(mine).values(values))


def _one(user_id: int, notification_id: str) -> ColumnElement[bool]:
    return (notifications.c.user_id == user_id) & (notifications.c.id == notification_id)


def _of(user_id: int, state: NotificationState | None) -> ColumnElement[bool]:
    mine: ColumnElement[bool] = notifications.c.user_id == user_id
    return mine if state is None else mine & (notifications.c.state == state.value)


_notification = reader(Notification, kind=NotificationKind, state=NotificationState)
