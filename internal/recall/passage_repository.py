"""What passages read: the lines around a message, and which messages facts and memories were drawn from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, and_, literal, select

from internal.dialogue.model import Message
from internal.dialogue.repository import by_ids
from internal.storage.search_items import item_of
from internal.storage.tables import claims, evidence, facts, messages, observations, search_items
from internal.storage.vectors import MESSAGE

REACH: Final = 6
"""Places of the log on either side in which a line's neighbours are looked for: other lanes may stand between."""

_CHUNK: Final = 500


def around(connection: Connection, user_id: int, seqs: Iterable[int]) -> list[Message]:
    """The messages at these places and close to them that anybody may be shown, in order."""
    wanted = sorted({near for seq in seqs for near in range(seq - REACH, seq + REACH + 1)})
    found = and_(
        search_items.c.user_id == messages.c.user_id,
        search_items.c.item == literal(item_of(MESSAGE, "")) + messages.c.id,
    )
    ids: list[str] = []
    for part in _chunks(wanted):
        query = select(messages.c.id).join(search_items, found)
        ids += connection.execute(query.where(messages.c.user_id == user_id, messages.c.seq.in_(part))).scalars()
    there = [message for part in _chunks(ids) for message in by_ids(connection, user_id, part)]
    return sorted(there, key=lambda message: message.seq)


def drawn_from(
    connection: Connection, user_id: int, fact_ids: Collection[str], node_ids: Collection[str]
) -> dict[str, frozenset[str]]:
    """For each of these facts and memories the ids of the messages that tell it; none for what came otherwise."""
    found: dict[str, set[str]] = {}
    of_facts = select(claims.c.edge_id, evidence.c.message_id).where(
        claims.c.user_id == user_id, claims.c.retracted_at.is_(None), _supports("claim:", claims)
    )
    of_nodes = select(observations.c.target, evidence.c.message_id).where(
        observations.c.user_id == user_id, _supports("observation:", observations)
    )
    for query, column, ids in ((of_facts, claims.c.edge_id, fact_ids), (of_nodes, observations.c.target, node_ids)):
        for ref_id, message_id in _rows(connection, query, column, ids):
            found.setdefault(ref_id, set()).add(message_id)
    return {ref_id: frozenset(ids) for ref_id, ids in found.items()}


def replaced_by(connection: Connection, user_id: int, fact_ids: Collection[str]) -> dict[str, str]:
    """Which version took the place of each of these facts that has one."""
    query = select(facts.c.supersedes, facts.c.edge_id).where(facts.c.user_id == user_id)
    return dict(_rows(connection, query, facts.c.supersedes, fact_ids))


def _supports(prefix: str, table: Any) -> Any:
    of_it = and_(evidence.c.user_id == table.c.user_id, evidence.c.target == literal(prefix) + table.c.id)
    return and_(of_it, evidence.c.message_id.is_not(None))


def _rows(connection: Connection, query: Select[Any], column: Any, ids: Collection[str]) -> Iterable[tuple[str, str]]:
    for part in _chunks(sorted(ids)):
        yield from ((row[0], row[1]) for row in connection.execute(query.where(column.in_(part))))


def _chunks(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))
