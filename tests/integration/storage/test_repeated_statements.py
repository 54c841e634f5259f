"""A statement says the same the first time, when SQLAlchemy executes it, and ever after, when the driver does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, Select, bindparam, create_engine, delete, event, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from internal.storage.engine.repeated_statements import MOST_LISTED, FoundRows, RepeatingConnection
from internal.storage.engine.upsert import upsert
from internal.storage.tables import changes, events, metadata, search_items

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
EVENT = {"user_id": 7, "timestamp": NOON, "event_type": "said", "source": "test", "links": None}


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with RepeatingConnection(engine) as opened:
        metadata.create_all(opened, [changes, events, search_items])
        yield opened


def rows(connection: Connection, query: Select[Any], **given: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in connection.execute(query, given)]


def test_columns_are_the_same_from_either(connection: Connection) -> None:
    """JSON, times and empty columns come back alike from SQLAlchemy and from the driver."""
    add = insert(events).returning(events.c.seq)
    added = [connection.execute(add, EVENT | {"id": str(n), "payload": {"n": [n]}}).scalar_one() for n in range(3)]
    query = select(events).where(events.c.user_id == bindparam("owner")).order_by(events.c.seq)

    first, again = (connection.execute(query, {"owner": 7}).all() for _ in range(2))

    assert added == [1, 2, 3]
    assert again == first
    assert (again[2].payload, again[2].timestamp, again[2].links) == ({"n": [2]}, NOON, None)
    assert isinstance(connection.execute(query, {"owner": 7}), FoundRows)


def test_a_list_may_have_another_length_each_time(connection: Connection) -> None:
    """Lists of an IN are filled up to a power of two without finding more; no value finds nothing."""
    many = [{"user_id": 7, "kind": "item", "id": str(n), "op": "put"} for n in range(2 * MOST_LISTED)]
    add = insert(changes)
    for row in (many[:1], many[1:3], many[3:], []):
        if row:
            connection.execute(add, row)
    query = select(changes.c.id).where(changes.c.id.in_(bindparam("held", expanding=True))).order_by(changes.c.seq)

    for length in (1, 2, 0, 2, 3, 5, 5, 2 * MOST_LISTED, 1, 0, MOST_LISTED, MOST_LISTED):
        held = [str(n) for n in range(length)]
        assert connection.execute(query, {"held": held}).scalars().all() == held


def test_a_statement_made_of_a_repeated_one_is_another(connection: Connection) -> None:
    """A condition that is added to a statement already compiled counts."""
    add, everything = insert(changes), select(changes.c.id).order_by(changes.c.seq)
    for kind in ("a", "b", "c"):
        connection.execute(add, {"user_id": 7, "kind": kind, "id": kind, "op": "put"})
        rows(connection, everything)

    made = everything.where(changes.c.kind == "b")

    for _ in range(3):
        assert rows(connection, made) == [("b",)]
        assert rows(connection, everything) == [("a",), ("b",), ("c",)]


def test_what_is_written_is_counted_and_refused_as_before(connection: Connection) -> None:
    """Counts of changed rows and errors of constraints are SQLAlchemy's, each time."""
    row = {"user_id": 7, "item": "x", "kind": "message", "ref_id": "x", "text": "one", "text_hash": "h", "rev": 1}
    plain = insert(search_items)
    put = upsert(search_items).on_conflict_do_update(index_elements=["user_id", "item"], set_={"text": "two"})
    change = update(search_items).where(search_items.c.rev == bindparam("old")).values(rev=bindparam("new"))
    drop = delete(search_items).where(search_items.c.rev == bindparam("old"))

    for n in range(3):
        connection.execute(plain, row | {"rev": n})
        with pytest.raises(IntegrityError):
            connection.execute(plain, row | {"rev": n})
        connection.execute(put, row | {"rev": n})
        assert connection.execute(change, {"old": n, "new": 9}).rowcount == 1
        assert connection.execute(change, {"old": n, "new": 9}).rowcount == 0
        assert rows(connection, select(search_items.c.text, search_items.c.rev)) == [("two", 9)]
        assert connection.execute(drop, {"old": 9}).rowcount == 1


def test_a_listener_hears_of_repeated_statements_too(connection: Connection) -> None:
    """A listener that is registered late misses no statement."""
    query, heard = select(func.count()).select_from(changes), list[str]()
    rows(connection, query)
    rows(connection, query)
    event.listen(connection, "before_cursor_execute", lambda *given: heard.append(given[2]))

    rows(connection, query)

    assert len(heard) == 1
