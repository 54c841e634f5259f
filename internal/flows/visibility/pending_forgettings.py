"""Which messages are waiting to be forgotten, so that no screen and no prompt shows them."""

from sqlalchemy import Connection

from internal.storage.erasure import forgettings, hidings
from internal.storage.erasure.forgettings import EVERYTHING, Forgetting


def everything_asked(connection: Connection, user_id: int) -> Forgetting | None:
    """The pending request to forget everything: no prompt holds messages up to its `created_at`."""
    asked = (one for one in forgettings.pending(connection, user_id) if one.kind == EVERYTHING)
    return next(asked, None)


def messages_to_forget(connection: Connection, user_id: int) -> set[str]:
    """The ids of messages that pending requests take along: no prompt holds them."""
    asked = [one.id for one in forgettings.pending(connection, user_id)]
    return hidings.of_requests(connection, user_id, asked, "message")
