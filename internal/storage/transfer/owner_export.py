"""Everything stored about one owner, table by table, as plain JSON values, and back again."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Float,
    LargeBinary,
    Table,
    Text,
    func,
    insert,
    null,
    select,
    update,
)
from sqlalchemy.exc import DataError, IntegrityError

from internal.errors import Refused
from internal.storage.chunks import chunks, rows_with
from internal.storage.engine.row_policies import across_owners
from internal.storage.engine.upsert import upsert
from internal.storage.tables import (
    artifacts,
    episodes,
    events,
    graph_edges,
    graph_nodes,
    messages,
    metadata,
    model_calls,
    outbox,
    people,
    runs,
    sessions,
    tasks,
    turns,
    users,
)
from internal.storage.types import Timestamp

LEFT_OUT: Final = frozenset(
    {"vectors", "search_items", "search_backlog", "changes", "inbox", "mirrors", "event_links"}
    | {"console_links", "console_sessions"}
)
"""Tables left out of an export: derived numbers, copies, raw updates (their content is in `messages`), console keys."""

NUMBERED: Final = {events: "seq", outbox: "n", runs: "n", model_calls: "n"}
"""Numbers that only order rows: an import gives new ones, since others may have the old."""

_DROPPED: Final = {(table, "hidden_until") for table in (people, graph_nodes, graph_edges)}
"""Columns that earlier versions exported, replaced by `hidings`."""

_OPEN: Final[dict[Table, Sequence[str]]] = {
    outbox: ("pending", "sending", "unknown", "held"),
    turns: ("collecting", "running"),
}
"""States of rows that are on their way to Telegram: two instances would both answer."""

_KNOWN_BY_ID: Final = frozenset(
    {artifacts, episodes, events, graph_edges, graph_nodes, model_calls, people, sessions, tasks}
)
"""Tables looked up by id alone, where no two owners may share an id. All others are looked up by owner."""


def rows_by_table(connection: Connection, user_id: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(table, rows) of this owner in primary key order; tables without rows of the owner are left out.

    Times are ISO 8601 in UTC; bytes are `{"text": ...}` where they are UTF-8, else `{"base64": ...}`.
    """
    for table in owned_tables():
        query = select(table).where(table.c.user_id == user_id).order_by(*table.primary_key.columns)
        rows = [{name: _plain(value) for name, value in row._mapping.items()} for row in connection.execute(query)]
        if rows:
            yield table.name, rows


def owned_tables() -> list[Table]:
    """The exported tables, those that others refer to first."""
    return [table for table in metadata.sorted_tables if "user_id" in table.c and table.name not in LEFT_OUT]


def decoded(user_id: int, tables: Mapping[str, Any]) -> dict[Table, list[dict[str, Any]]]:
    """The rows of an export as they are stored; missing columns keep their defaults.

    Raises Refused("malformed") that names the place: an unknown table or column, a value of another type, or a row of
    another owner.
    """
    known = {table.name: table for table in owned_tables()}
    found: dict[Table, list[dict[str, Any]]] = {}
    for name, rows in tables.items():
        if name not in known:
            raise Refused("malformed", f"{name}: this version has no such table; it may be of a newer one")
        if not isinstance(rows, list):
            raise Refused("malformed", f"{name}: a list of rows is expected")
        found[known[name]] = [_decoded_row(known[name], user_id, row, f"{name}[{n}]") for n, row in enumerate(rows)]
        _refuse_twice(known[name], found[known[name]])
    return {table: found[table] for table in known.values() if table in found}


def put_rows(connection: Connection, rows: Mapping[Table, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
    """Stores decoded rows of an owner without a memory, except `users`. Returns the count of each table.

    Ids are kept; existing rows of the owner (an event, a receipt, spend) stay. What is on its way to Telegram is left
    out. Raises Refused("taken") where another owner has an id.
    """
    stored = {}
    for table, table_rows in rows.items():
        if table is users:
            continue
        wanted = [row for row in table_rows if table not in _OPEN or row["state"] not in _OPEN[table]]
        ordering = NUMBERED.get(table)
        values = [{name: value for name, value in row.items() if name != ordering} for row in wanted]
        _insert(connection, table, values)
        stored[table.name] = len(values)
    return stored


def put_user(connection: Connection, row: Mapping[str, Any], *, role: str) -> None:
    """Stores the owner's own row: creates it with this role, or updates names, settings and counters."""
    user_id = row["user_id"]
    known = connection.execute(select(users).where(users.c.user_id == user_id)).one_or_none()
    if known is None:
        connection.execute(insert(users).values(dict(row) | {"role": role}))
        return
    kept = {"role", "state", "created_at", "user_id"}
    values = {name: value for name, value in row.items() if name not in kept}
    counters = {name: max(values.get(name, 1), getattr(known, name)) for name in ("next_seq", "next_rev")}
    connection.execute(update(users).where(users.c.user_id == user_id).values(values | counters))


def holds_any(connection: Connection, user_id: int, tables: Sequence[Table]) -> bool:
    """Whether this owner has a row in any of these tables."""
    ours = (select(table.c.user_id).where(table.c.user_id == user_id).limit(1) for table in tables)
    return any(connection.execute(query).first() is not None for query in ours)


def holds_all(connection: Connection, user_id: int, rows: Mapping[Table, Sequence[Mapping[str, Any]]]) -> bool:
    """Whether every message of these rows is stored, by its id."""
    ids = [row["id"] for row in rows.get(messages, ())]
    query = select(messages.c.id).where(messages.c.user_id == user_id)
    return len(rows_with(connection, query, messages.c.id, ids)) == len(ids)


def _insert(connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    """Inserts rows grouped by equal columns, so that absent columns take their defaults."""
    _refuse_taken(connection, table, values)
    statement = upsert(table).on_conflict_do_nothing()
    by_columns: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in values:
        by_columns.setdefault(tuple(sorted(row)), []).append(row)
    try:
        for several in by_columns.values():
            connection.execute(statement, several)
    except (IntegrityError, DataError) as error:
        raise Refused("malformed", f"{table.name}: {error.orig}") from None
    _number_behind(connection, table, values)


def _number_behind(connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    """Numbers new rows behind those that brought a number: PostgreSQL's sequences look at no row."""
    serial = table.autoincrement_column
    if connection.dialect.name != "postgresql" or serial is None or not values or serial.name not in values[0]:
        return
    sequence = func.pg_get_serial_sequence(table.name, serial.name)
    highest = max(row[serial.name] for row in values)
    if connection.execute(select(func.nextval(sequence))).scalar_one() < highest:
        connection.execute(select(func.setval(sequence, highest)))


def _ids(table: Table) -> Sequence[str]:
    return ("id", "entity_id") if table is people else ("id",) if "id" in table.c else ()


def _refuse_twice(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    for name in _ids(table):
        if len({row[name] for row in rows}) < len(rows):
            raise Refused("malformed", f"{table.name}: an {name} stands in it twice")


def _refuse_taken(connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    for name in _ids(table) if table in _KNOWN_BY_ID else ():
        ids = [row[name] for row in values]
        owner = next((row["user_id"] for row in values), None)
        for chunk in chunks(ids):
            theirs = table.c[name].in_(chunk) & (table.c.user_id != owner)
            with across_owners(connection):
                taken = connection.execute(select(table.c[name]).where(theirs).limit(1)).first()
            if taken:
                raise Refused("taken", f"{table.name}: an {name} in it belongs to somebody else here")


def _decoded_row(table: Table, user_id: int, row: Any, found_in: str) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise Refused("malformed", f"{found_in}: a row is expected")
    if row.get("user_id") != user_id:
        raise Refused("malformed", f"{found_in}.user_id: the owner's own is expected")
    found = {}
    for name, value in row.items():
        if (table, name) in _DROPPED:
            continue
        if name not in table.c:
            raise Refused("malformed", f"{found_in}.{name}: this version has no such column; it may be of a newer one")
        try:
            found[name] = _decoded(table.c[name], value)
        except (ValueError, TypeError, KeyError):
            raise Refused("malformed", f"{found_in}.{name}: a value of another type") from None
    missing = [column.name for column in table.c if column.name not in found and _needed(table, column)]
    if missing:
        raise Refused("malformed", f"{found_in}.{missing[0]}: it is missing")
    return found


def _needed(table: Table, column: Column[Any]) -> bool:
    return not column.nullable and column.server_default is None and NUMBERED.get(table) != column.name


def _decoded(column: Column[Any], value: Any) -> Any:
    if value is None:
        if not column.nullable:
            raise ValueError("a value is needed")
        return null() if isinstance(column.type, JSON) else None
    if isinstance(column.type, JSON):
        return value
    if isinstance(column.type, Timestamp):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("a time needs a zone")
        return moment
    if isinstance(column.type, LargeBinary):
        return value["text"].encode() if "text" in value else base64.b64decode(value["base64"], validate=True)
    expected = str if isinstance(column.type, Text) else bool if isinstance(column.type, Boolean) else int
    if isinstance(column.type, Float):
        return float(value)
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        raise TypeError(f"{expected.__name__} is expected")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return {"text": value.decode("utf-8")}
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode("ascii")}
    return value
