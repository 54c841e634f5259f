"""Which messages go with a request to forget."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection

from internal.dialogue import erase_repository as dialogue_erasure
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.dialogue.reply_source_repository import quoting
from internal.storage.chunks import chunks
from internal.storage.erasure.forgettings import Forgetting


def by_ids(connection: Connection, user_id: int, message_ids: Collection[str]) -> list[Message]:
    """The messages with these ids that still exist."""
    return [one for part in chunks(sorted(message_ids)) for one in dialogue.by_ids(connection, user_id, part)]


def always_taken(connection: Connection, asked: Forgetting) -> set[str]:
    """The ids of the messages that a request takes along unasked: its own, and the answers that quote a message."""
    if asked.ref_id is None or asked.kind not in ("message", "episode"):
        return set()
    if asked.kind == "episode":
        return {message.id for message in dialogue_erasure.of_episode(connection, asked.user_id, asked.ref_id)}
    return with_quotations(connection, asked.user_id, [asked.ref_id])


def with_quotations(connection: Connection, user_id: int, message_ids: Iterable[str]) -> set[str]:
    """These messages, the answers that quote one of them, and the answers that quote such an answer."""
    left = list(message_ids)
    found = set(left)
    while left:
        new = set(quoting(connection, user_id, left.pop())) - found
        found |= new
        left += new
    return found
