"""What of the chronicle nobody may see: messages whose forgetting was asked for and can still be undone."""

from __future__ import annotations

from sqlalchemy import Connection

from internal.chronicle.view import HiddenMessages
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget


def veil(connection: Connection, user_id: int) -> HiddenMessages:
    """Hides single messages, those of a fragment, or everything said up to the request to forget everything."""
    asked = everything_asked(connection, user_id)
    hidden = frozenset(messages_to_forget(connection, user_id))
    return HiddenMessages(hidden, asked.created_at if asked is not None else None)
