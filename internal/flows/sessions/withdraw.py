"""Withdraws notifications whose subject is gone or settled."""

from datetime import datetime

from sqlalchemy import Connection

from internal.events import repository as events
from internal.notifications import repository as notifications


def withdraw_about(connection: Connection, user_id: int, ref_id: str, reason: str, now: datetime) -> int:
    """Drops what is not sent yet about a thing, in the caller's transaction. Returns the number of notifications.

    For callers that settle it: a task that is done needs no reminder. `reason` is a key for the event, not a sentence.
    """
    gone = notifications.withdraw(connection, user_id, ref_id, reason, now)
    for one in gone:
        events.append(
            connection,
            notifications.WEIGHED,
            source="agent:ContextManager",
            now=now,
            user_id=user_id,
            payload={"decision": "drop", "reason": reason},
            links={"caused_by": one.event_id, "notification": one.id, "ref": ref_id},
        )
    return len(gone)
