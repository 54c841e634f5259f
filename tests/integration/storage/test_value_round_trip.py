"""Any value that a store can hold is the same after it was carried into the other engine and back."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings, strategies as st
from sqlalchemy import Connection, StaticPool, create_engine, insert, null
from support.long import examples
from support.stores.migrate_store_stage import moment
from support.stores.stores import memory_store

from internal.storage.engine.driver import to_json
from internal.storage.tables import (
    agent_state,
    events,
    graph_edges,
    messages,
    metadata,
    model_calls,
    settings as settings_table,
    users,
)
from internal.storage.transfer.content_hash import content_of
from internal.storage.transfer.row_copy import (
    MOST_ROWS,
    RowBatch,
    batches,
    go_on_behind,
    highest_given,
    next_limit,
    put_batch,
    read_batch,
)

TABLES = [users, messages, agent_state, graph_edges, settings_table, model_calls]

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
LONG = st.integers(-(2**63), 2**63 - 1)
MOMENTS = st.integers(-(10**15), 10**15).map(moment)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
# A number that stands alone as a JSON value is a number of SQLite's, which has no larger ones.
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | LONG | FLOATS | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
NULLABLE_JSON = JSON_VALUES | st.builds(null)


@st.composite
def stored(draw: Any) -> list[tuple[Any, dict[str, Any]]]:
    """A row of each table with every kind of column."""
    user_id, text = draw(LONG), draw(WORDS)
    person = {"user_id": user_id, "role": text, "state": text, "name": text, "lang": "uk", "tz": "UTC"}
    said = {"user_id": user_id, "seq": draw(LONG), "id": text, "role": "user", "content": text, "rev": draw(LONG)}
    edge = dict.fromkeys(("id", "type", "source", "target", "source_origin", "target_origin"), text)
    call = {
        "user_id": draw(st.none() | LONG),
        "id": text,
        "agent": text,
        "model": text,
        "duration_s": draw(FLOATS),
        "cost_usd": draw(FLOATS),
    }
    return [
        (users, person | {"tz_asked": draw(st.booleans()), "settings": draw(JSON_VALUES), "created_at": draw(MOMENTS)}),
        (messages, said | {"timestamp": draw(MOMENTS), "forward": draw(NULLABLE_JSON), "sender_id": draw(LONG)}),
        (agent_state, {"agent_id": text, "key": text, "value": draw(st.binary(max_size=20)), "updated_at": moment(0)}),
        (
            graph_edges,
            edge
            | {"user_id": user_id, "strength": draw(st.none() | FLOATS), "created_at": draw(MOMENTS)}
            | {"props": draw(JSON_VALUES), "schema_v": draw(st.integers(-(2**31), 2**31 - 1)), "rev": draw(LONG)},
        ),
        (settings_table, {"key": text, "value": draw(JSON_VALUES)}),
        (
            model_calls,
            call
            | {"at": draw(MOMENTS), "prompt_tokens": 1, "completion_tokens": 2, "prompt": draw(NULLABLE_JSON)}
            | {"links": draw(st.none() | st.dictionaries(WORDS, WORDS, max_size=3))},
        ),
    ]


@contextlib.contextmanager
def file_in_memory() -> Iterator[Connection]:
    """A SQLite store of the newest schema, whichever engine is tested."""
    with contextlib.closing(sqlite3.connect(":memory:")) as raw:
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, json_serializer=to_json)
        metadata.create_all(engine, tables=[*TABLES, events])
        with engine.connect() as connection:
            yield connection
        engine.dispose()


def carried(source: Connection, target: Connection) -> None:
    for table in TABLES:
        for batch in batches(source, table):
            assert put_batch(target, table, batch) == 0


def rows(connection: Connection) -> list[list[tuple[Any, ...]]]:
    """As they are stored; PostgreSQL sorts the names in the JSON of a model call's links."""
    return [read_batch(connection, table, None).rows for table in TABLES if table is not model_calls]


@settings(max_examples=examples(20))
@given(stored())
def test_any_value_comes_back(found: list[tuple[Any, dict[str, Any]]]) -> None:
    """Text of any script, JSON, bytes, numbers up to 64 bits, floats and NULL: carried there and back, all the same."""
    with file_in_memory() as first, memory_store() as other, file_in_memory() as last:
        for table, row in found:
            first.execute(insert(table).values(row))
        carried(first, other)
        carried(other, last)
        wanted = content_of(first, TABLES)
        assert content_of(other, TABLES) == wanted == content_of(last, TABLES)
        assert rows(last) == rows(first)


def test_every_row_comes_once_in_the_order_of_the_key() -> None:
    """Batches of a long table follow one another without a gap, whatever their length."""
    with file_in_memory() as store:
        said = [
            {
                "user_id": n % 3,
                "seq": n,
                "id": f"m{n}",
                "role": "user",
                "content": "x",
                "rev": n,
                "timestamp": moment(n),
            }
            for n in range(777)
        ]
        store.execute(insert(messages), said)
        found = [row for batch in batches(store, messages) for row in batch.rows]
        assert [row[:2] for row in found] == sorted((n % 3, n) for n in range(777))


def test_long_rows_make_short_batches() -> None:
    """A batch is bounded by what it takes in memory, and never so short that a move stands still."""
    assert next_limit(RowBatch([(1, "x")] * 100, [1])) == MOST_ROWS
    assert next_limit(RowBatch([(1, "x" * 100_000)] * 100, [1])) == 80
    assert next_limit(RowBatch([(1, b"x" * 10**8)] * 100, [1])) == 10


def test_numbers_without_rows_are_known() -> None:
    """A table that was emptied still says how far its numbers went."""
    with memory_store() as store:
        go_on_behind(store, [events], {"events": 41})
        assert highest_given(store, [events]) == {"events": 41}
        go_on_behind(store, [events], {"events": 0})
        assert highest_given(store, [events]) == {"events": 0}
