"""Links between events in the database: one row for each linked id, for walks in both directions."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, and_, bindparam, delete, insert, select

from internal.storage.chunks import chunks, rows_with
from internal.storage.engine.expressions import without_index
from internal.storage.tables import event_links, events

V = TypeVar("V")

CAUSED_BY: Final = "caused_by"
"""The link from an event to its causes; all other links name its subjects."""


_LINKING: Final = and_(
    without_index(event_links.c.user_id) == events.c.user_id, event_links.c.event_seq == events.c.seq
)

# Built once, because they run for every appended event.
_ADD: Final = insert(event_links)
_TELLING: Final = (
    select(events.c.seq, events.c.id)
    .join(event_links, _LINKING)
    .where(event_links.c.user_id == bindparam("owner"), event_links.c.name == bindparam("named"))
    .where(event_links.c.ref.in_(bindparam("held", expanding=True)))
    .where(events.c.event_type.in_(bindparam("types", expanding=True)))
)


def add(connection: Connection, user_id: int, seq: int, links: Mapping[str, Any]) -> None:
    """Stores the links of the event at `seq`. A link holds one id or several; None links to nothing."""
    rows = {(name, str(ref)) for name, held in links.items() for ref in refs(held)}
    if rows:
        values = [{"user_id": user_id, "ref": ref, "event_seq": seq, "name": name} for name, ref in sorted(rows)]
        connection.execute(_ADD, values)


def derive(connection: Connection, user_id: int) -> None:
    """Stores the links of all the owner's events again, from the events themselves."""
    connection.execute(delete(event_links).where(event_links.c.user_id == user_id))
    query = select(events.c.seq, events.c.links).where(events.c.user_id == user_id)
    for row in connection.execute(query).all():
        add(connection, user_id, row.seq, row.links or {})


def refs(held: Any) -> Sequence[Any]:
    """The ids in a link."""
    if held is None:
        return ()
    return held if isinstance(held, (list, tuple)) else (held,)


def linking_to(
    connection: Connection, user_id: int, name: str, held: Collection[str], event_types: Collection[str]
) -> list[str]:
    """Ids of the events of these types that link to one of these ids by that name, oldest first."""
    found: dict[int, str] = {}
    for part in chunks(sorted(held)):
        asked = {"owner": user_id, "named": name, "held": part, "types": list(event_types)}
        found |= {row.seq: row.id for row in connection.execute(_TELLING, asked)}
    return [found[seq] for seq in sorted(found)]


def causes(connection: Connection, user_id: int, event_ids: Collection[str]) -> list[tuple[str, str]]:
    """(event, cause) of these events whose cause is still stored, the newest causes first."""
    cause = events.alias("cause")
    query = (
        select(cause.c.seq, events.c.id, cause.c.id.label("cause_id"))
        .select_from(events)
        .join(event_links, _LINKING)
        .join(cause, (cause.c.id == event_links.c.ref) & (cause.c.user_id == user_id))
        .where(events.c.user_id == user_id, event_links.c.name == CAUSED_BY)
    )
    found = rows_with(connection, query, events.c.id, event_ids)
    return [(row.id, row.cause_id) for row in sorted(found, key=lambda row: (-row.seq, row.id))]


def effects(connection: Connection, user_id: int, event_ids: Collection[str]) -> list[tuple[str, str]]:
    """(event, effect) of these events, by the effect's position."""
    ours = (event_links.c.user_id == user_id) & (event_links.c.name == CAUSED_BY)
    query = select(events.c.seq, events.c.id, event_links.c.ref).join(events, _LINKING).where(ours)
    found = rows_with(connection, query, event_links.c.ref, event_ids)
    return [(row.ref, row.id) for row in sorted(found, key=lambda row: (row.seq, row.ref))]
