"""Which messages are waiting to be forgotten, so that no screen and no prompt shows them."""

from collections.abc import Sequence

from sqlalchemy import Connection

from internal.storage.erasure import forgettings, hidings
from internal.storage.erasure.forgettings import EVERYTHING, Forgetting


def everything_asked(connection: Connection, user_id: int) -> Forgetting | None:
    """The pending request to forget everything: no prompt holds messages up to its `created_at`."""
    return _everything(forgettings.pending(connection, user_id))


def messages_to_forget(connection: Connection, user_id: int) -> set[str]:
    """The ids of messages, and of the files with them, that pending requests take along: no prompt holds them."""
    return to_forget(connection, user_id)[1]


def to_forget(connection: Connection, user_id: int) -> tuple[Forgetting | None, set[str]]:
    """`everything_asked` and `messages_to_forget`."""
    asked = forgettings.pending(connection, user_id)
    return _everything(asked), hidings.of_requests(connection, user_id, [one.id for one in asked], "message")


def _everything(asked: Sequence[Forgetting]) -> Forgetting | None:
    return next((one for one in asked if one.kind == EVERYTHING), None)
