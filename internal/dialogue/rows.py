"""Rows of the log as messages, and what of a message is kept as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Row

from internal.dialogue.model import ForwardOrigin, Message
from internal.storage.types import from_micros, to_micros


def message_of(row: Row[Any]) -> Message:
    """A row of the log as a message."""
    return Message(
        user_id=row.user_id,
        seq=row.seq,
        id=row.id,
        role=row.role,
        content=row.content,
        timestamp=row.timestamp,
        user_metadata=row.user_metadata,
        sender_id=row.sender_id,
        bot_id=row.bot_id,
        chat_id=row.chat_id,
        thread_id=row.thread_id,
        tg_id=row.tg_id,
        reply_to=row.reply_to,
        forward=_forward(row.forward),
        attachments=row.attachments or [],
        edited_at=row.edited_at,
        turn_id=row.turn_id,
        episode_id=row.episode_id,
        delivery=row.delivery,
        rev=row.rev,
    )


def plain_forward(forward: ForwardOrigin | None) -> dict[str, Any] | None:
    """The origin of a forward as it is stored."""
    if forward is None:
        return None
    plain = asdict(forward)
    return plain | {"date": to_micros(forward.date) if forward.date else None}


def _forward(plain: dict[str, Any] | None) -> ForwardOrigin | None:
    if plain is None:
        return None
    date = plain.get("date")
    return ForwardOrigin(**(plain | {"date": from_micros(date) if date is not None else None}))
