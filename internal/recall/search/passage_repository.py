"""Statements for passages: the lines around a message, and the messages that facts and memories were drawn from."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, literal, select

from internal.dialogue.message_rows import message_of
from internal.dialogue.model import Message
from internal.storage.chunks import chunks, rows_of
from internal.storage.search_items import item_of
from internal.storage.tables import claims, evidence, messages, observations, search_items
from internal.storage.vectors import MESSAGE

REACH: Final = 4
"""Positions of the log on either side in which neighbours are looked for: lines of other lanes may stand between."""


# Run for every prompt: built once, for building a statement takes longer than running it.
_VISIBLE: Final = (
    select(*messages.c)
    .join(
        search_items,
        and_(
            search_items.c.user_id == messages.c.user_id,
            search_items.c.item == literal(item_of(MESSAGE, "")) + messages.c.id,
        ),
    )
    .where(messages.c.user_id == bindparam("owner"))
)
_NEAR: Final = _VISIBLE.where(messages.c.seq.in_(bindparam("seqs", expanding=True)))
_SHOWN: Final = _VISIBLE.where(messages.c.id.in_(bindparam("ids", expanding=True)))


def _supports(prefix: str, table: Table) -> ColumnElement[bool]:
    # Rows without a message are dropped afterwards: with that condition SQLite reads all the evidence of the owner.
    of_it = and_(evidence.c.user_id == table.c.user_id, evidence.c.target == literal(prefix) + table.c.id)
    return and_(table.c.user_id == bindparam("owner"), of_it)


_OF_FACTS: Final = select(claims.c.edge_id, evidence.c.message_id).where(
    claims.c.edge_id.in_(bindparam("ids", expanding=True)), claims.c.retracted_at.is_(None), _supports("claim:", claims)
)
_OF_NODES: Final = select(observations.c.target, evidence.c.message_id).where(
    observations.c.target.in_(bindparam("ids", expanding=True)), _supports("observation:", observations)
)


def visible_messages(connection: Connection, user_id: int, message_ids: Collection[str]) -> list[Message]:
    """Those of these few messages that may be shown, in order."""
    rows = connection.execute(_SHOWN, {"owner": user_id, "ids": list(message_ids)}).all() if message_ids else []
    return sorted(map(message_of, rows), key=lambda message: message.seq)


def neighbours_of(
    connection: Connection, user_id: int, found: Sequence[Message], *, gap: timedelta, before_seq: int | None
) -> dict[str, list[Message]]:
    """For each of these messages, by id, the visible line before it and the one after it, in order.

    Only of the same chat, not farther away than `gap`, and before `before_seq` if given.
    """
    lines = _lines_near(connection, user_id, found, before_seq, 1)
    if incomplete := [message for message in found if not _has_both_neighbours(message, lines)]:
        lines |= _lines_near(connection, user_id, incomplete, before_seq, REACH)
    return {message.id: _neighbours(message, lines, gap) for message in found}


def _lines_near(
    connection: Connection, user_id: int, found: Sequence[Message], before_seq: int | None, reach: int
) -> dict[int, Message]:
    """The lines within `reach` positions of the log, by `seq`."""
    steps = [step for step in range(-reach, reach + 1) if step]
    positions = sorted({message.seq + step for message in found for step in steps})
    seqs = [seq for seq in positions if before_seq is None or seq < before_seq]
    return {
        message.seq: message
        for part in chunks(seqs)
        for message in map(message_of, connection.execute(_NEAR, {"owner": user_id, "seqs": part}).all())
    }


def _has_both_neighbours(message: Message, near: Mapping[int, Message]) -> bool:
    """Whether the lines right before and after a message are of its chat, as they nearly always are."""
    neighbours = (near.get(message.seq - 1), near.get(message.seq + 1))
    return all(neighbour is not None and _of_one_chat(neighbour, message) for neighbour in neighbours)


def _of_one_chat(one: Message, other: Message) -> bool:
    return (one.chat_id, one.thread_id) == (other.chat_id, other.thread_id)


def _neighbours(message: Message, near: Mapping[int, Message], gap: timedelta) -> list[Message]:
    """The line before and the line after."""
    found: list[Message] = []
    for step in (-1, 1):
        for seq in range(message.seq + step, message.seq + step * (REACH + 1), step):
            candidate = near.get(seq)
            if candidate is not None and _of_one_chat(candidate, message):
                found += [candidate] if abs(candidate.timestamp - message.timestamp) <= gap else []
                break
    return found


def source_message_ids(
    connection: Connection, user_id: int, fact_ids: Collection[str], node_ids: Collection[str]
) -> dict[str, frozenset[str]]:
    """The ids of the messages that each of these facts and memories was drawn from, if there are any."""
    message_ids: dict[str, set[str]] = {}
    for query, ids in ((_OF_FACTS, fact_ids), (_OF_NODES, node_ids)):
        for ref_id, message_id in rows_of(connection, query, sorted(ids), owner=user_id):
            if message_id is not None:
                message_ids.setdefault(ref_id, set()).add(message_id)
    return {ref_id: frozenset(ids) for ref_id, ids in message_ids.items()}
