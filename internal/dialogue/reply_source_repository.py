"""The sources of replies in the database."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, insert, select

from internal.dialogue.message_rows import message_of
from internal.dialogue.model import UNDELIVERED, Message, ReplySource
from internal.storage.chunks import chunks
from internal.storage.engine.expressions import holds_words
from internal.storage.rows import read_one
from internal.storage.tables import messages, reply_sources

_QUOTED_WORDS = 3
"""The shortest message, in words, that counts as quoted in an answer: "yes" is no quotation."""


def add(connection: Connection, user_id: int, message_id: str, sources: Sequence[ReplySource]) -> None:
    """Stores the sources of a reply, once for each reply."""
    if sources:
        rows = [asdict(source) | {"user_id": user_id, "message_id": message_id} for source in sources]
        connection.execute(insert(reply_sources), rows)


def of_reply(connection: Connection, user_id: int, message_id: str) -> list[ReplySource]:
    """The sources of a reply: cited ones first, in the order of their numbers in it."""
    query = select(reply_sources.c.n, reply_sources.c.kind, reply_sources.c.ref_id, reply_sources.c.cited).where(
        reply_sources.c.user_id == user_id, reply_sources.c.message_id == message_id
    )
    return [ReplySource(*row) for row in connection.execute(query.order_by(reply_sources.c.n))]


def citing(connection: Connection, user_id: int, message_ids: Iterable[str]) -> set[str]:
    """The answers that cite one of these messages or episodes."""
    found: set[str] = set()
    for part in chunks(message_ids):
        found |= set(connection.execute(_citing(user_id, part)).scalars())
    return found


def quoting(connection: Connection, user_id: int, message_id: str) -> list[str]:
    """The answers that cite a message or contain its exact words."""
    cites = _citing(user_id, [message_id])
    text = connection.execute(
        select(messages.c.content).where(messages.c.user_id == user_id, messages.c.id == message_id)
    ).scalar_one_or_none()
    holds: ColumnElement[bool] = messages.c.id.in_(cites)
    if text is not None and len(text.split()) >= _QUOTED_WORDS:
        holds = holds | holds_words(messages.c.content, text.strip())
    query = select(messages.c.id).where(
        messages.c.user_id == user_id, messages.c.role == "assistant", messages.c.id != message_id, holds
    )
    return list(connection.execute(query.order_by(messages.c.seq)).scalars())


def _citing(user_id: int, message_ids: Sequence[str]) -> Select[Any]:
    return select(reply_sources.c.message_id).where(
        reply_sources.c.user_id == user_id,
        reply_sources.c.kind.in_(("message", "episode")),
        reply_sources.c.ref_id.in_(message_ids),
        reply_sources.c.cited,
    )


def last_reply(connection: Connection, user_id: int) -> Message | None:
    """The latest answer to the owner that was, or is being, delivered."""
    return _first_reply(connection, user_id, after_seq=0, latest=True)


def message_at(connection: Connection, user_id: int, bot_id: int, chat_id: int, tg_id: int) -> Message | None:
    """The message of the log that is, or begins with, this Telegram message."""
    address = (messages.c.bot_id == bot_id) & (messages.c.chat_id == chat_id) & (messages.c.tg_id == tg_id)
    return read_one(connection.execute(select(messages).where(messages.c.user_id == user_id, address)), message_of)


def reply_to(connection: Connection, asked: Message) -> Message | None:
    """The answer to a message of the owner, to its own turn or to several together."""
    if asked.turn_id is None:
        return None
    return _first_reply(connection, asked.user_id, after_seq=asked.seq, turn_id=asked.turn_id)


def _first_reply(
    connection: Connection, user_id: int, *, after_seq: int, turn_id: str | None = None, latest: bool = False
) -> Message | None:
    query = select(messages).where(
        messages.c.user_id == user_id,
        messages.c.seq > after_seq,
        messages.c.role == "assistant",
        messages.c.turn_id.is_not(None) if turn_id is None else messages.c.turn_id == turn_id,
        messages.c.delivery.is_(None) | messages.c.delivery.not_in(UNDELIVERED),
    )
    order = messages.c.seq.desc() if latest else messages.c.seq
    return read_one(connection.execute(query.order_by(order).limit(1)), message_of)
