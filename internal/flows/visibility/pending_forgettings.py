"""Which messages are waiting to be forgotten, so that no screen and no prompt shows them."""

from __future__ import annotations

from sqlalchemy import Connection

from internal.dialogue import erase_repository as dialogue_erasing
from internal.storage.erasure import forgettings
from internal.storage.erasure.forgettings import EVERYTHING, Forgetting


def everything_asked(connection: Connection, user_id: int) -> Forgetting | None:
    """The pending request to forget everything: no prompt holds messages up to its `created_at`."""
    asked = (one for one in forgettings.pending(connection, user_id) if one.kind == EVERYTHING)
    return next(asked, None)


def messages_to_forget(connection: Connection, user_id: int) -> set[str]:
    """The ids of messages that are about to be erased, alone or with their fragment: no prompt holds them."""
    asked = forgettings.pending(connection, user_id)
    return {message_id for one in asked for message_id in _messages_of(connection, one)}


def _messages_of(connection: Connection, asked: Forgetting) -> set[str]:
    if asked.kind == "message" and asked.ref_id is not None:
        return {asked.ref_id}
    if asked.kind == "episode" and asked.ref_id is not None:
        return {message.id for message in dialogue_erasing.of_episode(connection, asked.user_id, asked.ref_id)}
    return set()
