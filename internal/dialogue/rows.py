"""Converts rows of the log to messages and back."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row

from internal.dialogue.model import ForwardOrigin, Message
from internal.storage.types import from_micros, to_micros


def message_of(row: Row[Any]) -> Message:
    """A row of the log as a message. The row has the columns of the log in their order.

    They are taken by position: by name a message takes three times as long, and a prompt reads fifty.
    """
    stored: Sequence[Any] = row
    (
        user_id,
        seq,
        message_id,
        role,
        content,
        user_metadata,
        timestamp,
        sender_id,
        bot_id,
        chat_id,
        thread_id,
        tg_id,
        reply_to,
        forward,
        attachments,
        edited_at,
        rev,
        turn_id,
        episode_id,
        delivery,
    ) = stored
    return Message(
        user_id,
        seq,
        message_id,
        role,
        content,
        timestamp,
        user_metadata,
        sender_id,
        bot_id,
        chat_id,
        thread_id,
        tg_id,
        reply_to,
        None if forward is None else _forward(forward),
        attachments or [],
        edited_at,
        turn_id,
        episode_id,
        delivery,
        rev,
    )


def plain_forward(forward: ForwardOrigin | None) -> dict[str, Any] | None:
    """The origin of a forward as it is stored."""
    if forward is None:
        return None
    plain = asdict(forward)
    return plain | {"date": to_micros(forward.date) if forward.date else None}


def _forward(plain: dict[str, Any]) -> ForwardOrigin:
    date = plain.get("date")
    return ForwardOrigin(**(plain | {"date": from_micros(date) if date is not None else None}))
