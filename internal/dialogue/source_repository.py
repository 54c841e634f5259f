"""What a reply was written from, kept with the reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection, insert, select

from internal.dialogue.model import ReplySource
from internal.storage.tables import reply_sources


def add(connection: Connection, user_id: int, message_id: str, sources: Sequence[ReplySource]) -> None:
    """Keeps the sources of a reply; once for each reply."""
    if sources:
        rows = [asdict(source) | {"user_id": user_id, "message_id": message_id} for source in sources]
        connection.execute(insert(reply_sources), rows)


def of_reply(connection: Connection, user_id: int, message_id: str) -> list[ReplySource]:
    """What a reply was written from, cited ones first, in the order of their numbers in it."""
    query = select(reply_sources.c.n, reply_sources.c.kind, reply_sources.c.ref_id, reply_sources.c.cited).where(
        reply_sources.c.user_id == user_id, reply_sources.c.message_id == message_id
    )
    return [ReplySource(*row) for row in connection.execute(query.order_by(reply_sources.c.n))]
