"""Erases notifications and snapshot items about something that is being erased."""

from collections.abc import Collection, Iterable
from datetime import datetime

from sqlalchemy import Connection

from internal.dialogue import removal_repository as dialogue_erasure, repository as dialogue
from internal.dialogue.model import INSTRUCTION_MARK, Message
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.snapshots import repository as snapshots
from internal.storage.forgetting import traces


def instructions_of(messages: Iterable[Message]) -> list[str]:
    """The ids of the hidden instructions that caused these messages."""
    marks = ((message.user_metadata or {}).get(INSTRUCTION_MARK) for message in messages)
    return [str(one) for one in marks if one is not None]


def erase(
    connection: Connection, user_id: int, message_ids: Collection[str], holds: traces.Holds, now: datetime
) -> list[str]:
    """Removes items that rest on these messages, or contain a trace, from every snapshot and notification.

    Hidden instructions of such notifications are removed too, but not the messages of the assistant. Returns the
    removed words, so that their copies in prompts and replies can be wiped.
    """
    gone = snapshots.erase(connection, user_id, message_ids, holds, now)
    erased_too = notifications.erase(connection, user_id, message_ids, holds)
    sent = [one.message_id for one in erased_too if one.message_id is not None]
    dialogue_erasure.drop(connection, user_id, instructions_of(dialogue.by_ids(connection, user_id, sent)))
    traces.blank_events_about(connection, user_id, [one.id for one in erased_too])
    return [*gone, *(one.text for one in erased_too)]
