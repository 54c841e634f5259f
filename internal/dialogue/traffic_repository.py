"""The numbers of messages from and to each user, and the latest messages."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, select

from internal.dialogue.model import Message, visible
from internal.dialogue.repository import recent
from internal.storage.tables import messages

_ROLES: Final = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Traffic:
    """The numbers of messages each way, instructions included. `last` is the time of the newest, None without any."""

    sent: int = 0
    received: int = 0
    last: datetime | None = None


def traffic(connection: Connection, user_ids: Collection[int]) -> Mapping[int, Traffic]:
    """The traffic of each of these users; users who never wrote are left out."""
    query = (
        select(messages.c.user_id, messages.c.role, func.count(), func.max(messages.c.timestamp))
        .where(messages.c.user_id.in_(list(user_ids)), messages.c.role.in_(_ROLES))
        .group_by(messages.c.user_id, messages.c.role)
    )
    found: dict[int, Traffic] = {}
    for user_id, role, count, last in connection.execute(query):
        known = found.get(user_id, Traffic())
        newest = max(filter(None, (known.last, last)), default=None)
        sent, received = (count, known.received) if role == "user" else (known.sent, count)
        found[user_id] = Traffic(sent, received, newest)
    return found


def last_words(
    connection: Connection, user_id: int, *, before_seq: int | None = None, limit: int
) -> tuple[list[Message], int | None]:
    """The newest `limit` messages (before a seq, exclusive), oldest first, without undelivered ones and instructions.

    The second value is the `before_seq` of the previous page, None at the beginning.
    """
    page = recent(connection, user_id, before_seq=before_seq, limit=limit)
    shown = [message for message in visible(page) if message.role in _ROLES]
    return shown, page[0].seq if len(page) == limit else None
