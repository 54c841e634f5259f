"""Which messages of the chronicle are hidden by pending forgettings."""

from sqlalchemy import Connection

from internal.chronicle.view import HiddenMessages
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget


def hidden_messages(connection: Connection, user_id: int) -> HiddenMessages:
    """The messages hidden by a pending request: single ones, those of a fragment, or everything up to the request."""
    asked = everything_asked(connection, user_id)
    hidden = frozenset(messages_to_forget(connection, user_id))
    return HiddenMessages(hidden, asked.created_at if asked is not None else None)
