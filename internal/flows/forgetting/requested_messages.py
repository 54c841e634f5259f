"""Finds the messages that are erased with a request to forget."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection

from internal.artifacts import repository as artifacts
from internal.dialogue import removal_repository as dialogue_erasure, repository as dialogue
from internal.dialogue.model import Message
from internal.dialogue.reply_source_repository import citing, quoting
from internal.knowledge import episode_repository as episodes
from internal.storage.chunks import chunks
from internal.storage.forgetting.forgettings import Forgetting


def document_of(connection: Connection, user_id: int, message_id: str) -> str | None:
    """The episode that is the text of a file of this message, and is forgotten with it."""
    ids = [one.id for one in artifacts.of_messages(connection, user_id, [message_id])]
    return next(iter(episodes.by_ids(connection, user_id, ids)), None)


def by_ids(connection: Connection, user_id: int, message_ids: Collection[str]) -> list[Message]:
    """The messages with these ids that still exist."""
    return [one for part in chunks(sorted(message_ids)) for one in dialogue.by_ids(connection, user_id, part)]


def always_taken(connection: Connection, asked: Forgetting) -> set[str]:
    """The ids of the messages that a request always includes: its own, and the answers that quote a message.

    The text of a file includes the message it came with.
    """
    if asked.ref_id is None or asked.kind not in ("message", "episode"):
        return set()
    if asked.kind == "episode":
        taken = {message.id for message in dialogue_erasure.of_episode(connection, asked.user_id, asked.ref_id)}
        file = artifacts.find(connection, asked.user_id, asked.ref_id)
        if file is not None:  # the message it came with, and the answers that cite its text
            cited = [file.message_id, *citing(connection, asked.user_id, [asked.ref_id])]
            taken |= with_quotations(connection, asked.user_id, cited)
        return taken
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
