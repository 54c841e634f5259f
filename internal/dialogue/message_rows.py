"""Converts rows of the log to messages and back."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, ColumnElement, Row, Text, type_coerce

from internal import text_caches
from internal.dialogue.model import ForwardOrigin, Message
from internal.storage.tables import messages
from internal.storage.types import Timestamp, from_micros, to_micros

MOST_KEPT: Final = 10_000
"""Messages kept in memory by `kept_messages`, some 15 MB: the dialogues of fifty owners."""


def _as_stored(column: ColumnElement[Any]) -> ColumnElement[Any]:
    if isinstance(column.type, Timestamp):
        return type_coerce(column, BigInteger)
    return type_coerce(column, Text) if isinstance(column.type, JSON) else column


AS_STORED: Final = [_as_stored(column) for column in messages.c]
"""The columns of the log as stored, not converted by SQLAlchemy, for `kept_messages`."""

_MOMENTS: Final = [index for index, column in enumerate(messages.c) if isinstance(column.type, Timestamp)]
_JSON: Final = [index for index, column in enumerate(messages.c) if isinstance(column.type, JSON)]
_KEPT: Final[dict[tuple[int, int], tuple[tuple[Any, ...], Message]]] = {}
text_caches.register_cache(_KEPT.clear)


def kept_messages(rows: Iterable[Sequence[Any]]) -> Iterator[Message]:
    """Yields the messages of rows of `AS_STORED`, from a cache if the row is unchanged.

    Every question reads up to 200 messages, of which one or two are new.
    """
    for row in rows:
        stored = tuple(row)
        key = stored[:2]
        known = _KEPT.get(key)
        if known is None or known[0] != stored:
            values = list(stored)
            for index in _MOMENTS:
                values[index] = None if values[index] is None else from_micros(values[index])
            for index in _JSON:  # PostgreSQL's driver has parsed it already
                values[index] = json.loads(values[index]) if isinstance(values[index], str) else values[index]
            known = (stored, message_of(values))
            if len(_KEPT) >= MOST_KEPT:
                _KEPT.clear()
            _KEPT[key] = known
        yield known[1]


def message_of(row: Row[Any] | Sequence[Any]) -> Message:
    """A row of the log as a message. The row has the columns of the log in their order.

    Values are read by position, which is three times as fast; a prompt reads fifty messages.
    """
    stored: Sequence[Any] = row
    (
        user_id, seq, message_id, role, content, user_metadata, timestamp, sender_id, bot_id, chat_id, thread_id,
        tg_id, reply_to, forward, attachments, edited_at, rev, turn_id, episode_id, delivery,
    ) = stored  # fmt: skip
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
