"""The store under a test: SQLite, or PostgreSQL for what has to hold on both engines.

`make test` runs the suites of ON_BOTH on both. LAPLACED_TEST_STORE=sqlite runs everything on SQLite alone, and
LAPLACED_TEST_STORE=postgresql everything on PostgreSQL but what LEFT_OUT names.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from sqlalchemy import Connection, StaticPool, create_engine
from support.long import LONG
from support.paths import TESTS

from internal.storage.engine import owner_scope
from internal.storage.engine.driver import to_json
from internal.storage.engine.statement_cache import StatementCache
from internal.storage.tables import metadata

if TYPE_CHECKING:
    from support.stores.postgres_server import Lifeline
    from support.stores.postgres_stores import PostgresStores

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

ON_BOTH: Final = (
    "contract/test_event_bus.py",
    "integration/access",
    "integration/graph/test_graph_store.py",
    "integration/graph/test_merged_facts.py",
    "integration/graph/test_traversal.py",
    "integration/knowledge/test_citations.py",
    "integration/flows/archivist/test_name_matcher.py",
    "integration/knowledge/test_claim_removal.py",
    "integration/knowledge/test_fact_periods.py",
    "integration/knowledge/test_record_claims.py",
    "integration/knowledge/test_resolve_entities.py",
    "integration/dialogue",
    "integration/memory/test_known_memories.py",
    "integration/memory/test_memory_merging.py",
    "integration/memory/test_observation_removal.py",
    "integration/memory/test_observations.py",
    "integration/memory/test_owner_memories.py",
    "integration/people",
    "integration/memory/plasticity/test_memory_queries.py",
    "integration/memory/plasticity/test_plasticity_operations.py",
    "integration/cli/test_migrate_store_command.py",
    "integration/flows/archivist/test_archivist_handler.py::test_facts_of_a_reply_join_its_people_with_receipts",
    "integration/flows/sessions/test_chronicle.py::test_erasing_an_answer_takes_its_analysis_and_the_summary",
    "integration/flows/sessions/test_chronicle.py::test_silence_closes_the_session",
    "integration/flows/forgetting/test_erasure.py::test_an_episode_takes_along_all_that_only_it_supports",
    "integration/flows/archival/test_publication.py::test_an_idle_dialogue_is_published_and_closed",
    "integration/flows/archival/test_publication.py::test_what_is_full_is_counted_from_each_owners_own_place",
    "integration/flows/archival/test_publication.py::test_without_buffers_the_store_says_what_is_full",
    "integration/flows/operations/test_restore_server.py",
    "integration/storage/test_value_round_trip.py",
    "integration/storage/test_migrate_store.py",
    "integration/storage/test_database.py",
    "integration/storage/test_schema_migration.py::test_empty_database_gets_exactly_the_tables",
    "integration/storage/test_schema_migration.py::test_every_earlier_schema_is_brought_up_to_date",
    "integration/storage/test_expressions.py",
    "integration/tasks",
)
"""Folders and files of tests that `make test` runs on both engines, but for what LEFT_OUT names."""

ON_BOTH_WHEN_LONG: Final = (
    "integration/memory/test_observations.py",
    "integration/people/test_apply_operations.py",
    "integration/people/test_people_merging.py",
    "integration/storage/test_schema_migration.py::test_every_earlier_schema_is_brought_up_to_date",
)
"""Of ON_BOTH, what runs on PostgreSQL in the long run only: others of their folders use the same tables there."""

ON_SERVER: Final = ("integration/flows/operations/test_restore_server.py::test_store_that_is_worked_on_is_left_alone",)
"""Tests of what only a store has that several processes share: they stand on PostgreSQL alone."""

LEFT_OUT: Final = {
    "integration/dialogue/test_inbox.py::test_a_batch_is_bounded": "commits are counted, which others make there too",
    "integration/dialogue/test_inbox.py::test_calls_at_once_share_a_commit": "as above",
    "integration/flows/forgetting/test_forgetting.py::test_nothing_of_a_forgotten_person_is_left_on_the_disk": (
        "what is left is looked for in SQLite's files"
    ),
    "integration/flows/forgetting/test_forgetting.py::test_everything_of_an_owner_goes_and_nothing_of_another": (
        "as above"
    ),
    "integration/flows/forgetting/test_erasure.py::test_a_rest_call_leaves_nothing_in_the_log": "the log is SQLite's",
    "integration/flows/operations/test_restore.py": "a backup is read back in place of SQLite's file",
    "integration/flows/operations/test_restore_forgettings.py": "as above",
    "integration/knowledge/test_fact_cost.py::test_no_statement_reads_all_that_an_owner_knows": (
        "the plans are those of SQLite's planner"
    ),
    "integration/storage/test_backup.py": "a backup is a copy of SQLite's file",
    "integration/storage/test_corruption.py": "a damaged page is met in SQLite's file",
    "integration/storage/test_data_lock.py": "a folder is locked for the one process that may write SQLite's file",
    "integration/storage/test_file_permissions.py": "SQLite's files are closed to other users",
    "integration/storage/test_open_database.py": "a file is looked at before SQLite opens it",
    "integration/storage/test_query_plans.py": "the plans are those of SQLite's planner",
    "integration/storage/test_database.py::test_writes_that_wait_share_one_commit": (
        "commits are counted in SQLite's log"
    ),
    "integration/storage/test_database.py::test_group_is_bounded": "as before",
    "integration/storage/test_database.py::test_full_disk_is_told_and_survived": "the limit is a setting of SQLite",
    "integration/storage/test_database.py::test_full_disk_fails_the_whole_group_honestly": "as before",
    "integration/storage/test_database.py::test_close_leaves_no_log_behind": "the log is SQLite's",
    "integration/storage/test_database.py::test_file_that_is_no_database_is_told": "there is no file",
    "integration/storage/test_database.py::test_folder_that_cannot_hold_it_is_told": "as before",
    "integration/storage/test_database.py::test_writes_are_durable_and_deletes_thorough": "they are SQLite's settings",
    "integration/storage/test_schema_migration.py::test_what_was_said_before_has_its_chronicle": (
        "no PostgreSQL is so old: its stores begin at 0007, with the tables as they are"
    ),
    "integration/storage/test_schema_migration.py::test_a_hundred_thousand_messages_are_migrated_in_seconds": (
        "as before"
    ),
    "integration/storage/test_schema_migration.py::test_rows_keep_their_numbers_when_keys_are_led_by_the_owner": (
        "as before"
    ),
    "integration/storage/test_store_metrics.py": "the figures are those of SQLite's file",
}
"""Tests that do not run on PostgreSQL, by folder, file or `file::function`, each with its reason."""


_STATEMENTS: Final = StatementCache()
"""As in the product, what one store in memory compiled serves the next."""


class _Run:
    """What this process of the tests knows of the run it belongs to."""

    store: str = SQLITE
    folder: Path | None = None
    lifeline: Lifeline | None = None
    postgres: PostgresStores | None = None
    acting = contextlib.ExitStack()


def store() -> str:
    """The engine that the running test stands on: SQLITE or POSTGRESQL."""
    return _Run.store


@contextlib.contextmanager
def memory_store() -> Iterator[Connection]:
    """A connection to a store of the newest schema without a row, which is gone at the end."""
    if store() == POSTGRESQL:
        with _postgres().in_memory() as connection:
            yield connection
        return
    with contextlib.closing(sqlite3.connect(":memory:")) as raw:
        raw.deserialize(_new_sqlite())
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, json_serializer=to_json)
        with _STATEMENTS.connect(engine) as connection:
            yield connection
        engine.dispose()


def where(folder: Path, *, empty: bool = False) -> Path | str:
    """What `Database.open` takes for a store of this folder: the same each time until the end of the test.

    On SQLite the file is made by whoever opens it. On PostgreSQL the schema is there already, unless `empty`: a test
    that changes the schema asks for that.
    """
    if store() == POSTGRESQL:
        return _postgres().where(folder, empty=empty)
    return folder / "laplaced.db"


def where_postgresql(folder: Path) -> str:
    """The address of a store on PostgreSQL, for a test that needs one whatever it stands on itself."""
    return _postgres().where(folder, empty=False)


def refuse(connection: Connection, change: str, table: str, *, when: str = "true", full: bool = False) -> None:
    """Has the store refuse such a change ("INSERT", "UPDATE") of rows of this kind, until `relent`.

    As a statement that is wrong, or, where it is `full`, as one that the store itself cannot carry out.
    """
    if store() == SQLITE:
        refusal = "SELECT json('{')" if full else "SELECT RAISE(ABORT, 'refused')"
        statements = [f"CREATE TRIGGER refused BEFORE {change} ON {table} WHEN {when} BEGIN {refusal}; END"]
    else:
        state = "disk_full" if full else "check_violation"
        raising = f"BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END"
        statements = [
            f"CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ {raising} $$",
            f"CREATE TRIGGER refused BEFORE {change} ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION refused()",
        ]
    for one in statements:
        connection.exec_driver_sql(one)


def relent(connection: Connection) -> None:
    """Takes `refuse` back."""
    connection.exec_driver_sql("DROP TRIGGER refused" if store() == SQLITE else "DROP FUNCTION refused CASCADE")


@cache
def _new_sqlite() -> bytes:
    """Every table of the program: taking a copy costs 0.1 ms, making them costs 30."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    metadata.create_all(engine)
    with engine.connect() as connection:
        raw = connection.connection.dbapi_connection
        assert isinstance(raw, sqlite3.Connection)
        made = raw.serialize()
    engine.dispose()
    return made


def _postgres() -> PostgresStores:
    if _Run.postgres is None:
        from support.stores.postgres_stores import PostgresStores

        assert _Run.folder is not None
        _Run.postgres = PostgresStores(_Run.folder)
    return _Run.postgres


def configure(config: pytest.Config) -> None:
    """Prepares for a server that the first test which needs one starts; the process that began the run keeps it alive.

    Tests act for every owner unless they say for whom, as the house itself does.
    """
    _Run.acting.enter_context(owner_scope.acting_for_everyone())
    if hasattr(config, "workerinput"):
        _Run.folder = Path(config.workerinput["postgres"])
        return
    from support.stores.postgres_server import Lifeline

    _Run.lifeline = Lifeline()
    _Run.folder = _Run.lifeline.folder


def unconfigure() -> None:
    """Stops the server, if there is one, whatever became of the run."""
    _Run.acting.close()
    if _Run.postgres is not None:
        _Run.postgres.close()
        _Run.postgres = None
    if _Run.lifeline is not None:
        _Run.lifeline.cut()
        _Run.lifeline = None


def shared_with_workers() -> str:
    """What a worker of the run is told, as `workerinput["postgres"]`."""
    return str(_Run.folder)


def wanted() -> str:
    """The engine that was asked for, or "" for each suite's own."""
    asked = os.environ.get("LAPLACED_TEST_STORE", "")
    if asked not in ("", SQLITE, POSTGRESQL):
        raise pytest.UsageError(f"LAPLACED_TEST_STORE is {SQLITE} or {POSTGRESQL}, not {asked}")
    return asked


def engines_of(path: Path, function: str) -> tuple[str, ...]:
    """What a test runs on."""
    if _is_named(path, function, ON_SERVER):
        return (POSTGRESQL,)
    if wanted():
        return (wanted(),)
    left_out = is_left_out(path, function) or (not LONG and _is_named(path, function, ON_BOTH_WHEN_LONG))
    on_both = _is_named(path, function, ON_BOTH) and not left_out
    return (SQLITE, POSTGRESQL) if on_both else (SQLITE,)


def is_left_out(path: Path, function: str) -> bool:
    return _is_named(path, function, LEFT_OUT)


def begin(item: pytest.Item) -> None:
    """Puts the test on its engine, before any of its fixtures."""
    callspec = getattr(item, "callspec", None)
    _Run.store = (callspec.params.get("store") if callspec else None) or wanted() or SQLITE


def end() -> None:
    """Takes back the databases of a test, after all of its fixtures."""
    if _Run.postgres is not None:
        _Run.postgres.take_back()
    _Run.store = wanted() or SQLITE


def _is_named(path: Path, function: str, names: Iterable[str]) -> bool:
    return not _named(path, tuple(names)).isdisjoint(("", function))


@cache
def _named(path: Path, names: tuple[str, ...]) -> frozenset[str]:
    """What the names mean of a module: functions, "" for all of them."""
    parts = (name.partition("::") for name in names)
    return frozenset(only for file, _, only in parts if lies_in(path, file))


@cache
def lies_in(path: Path, place: str) -> bool:
    """Whether a test module is this one or in this folder, of the folder of tests."""
    return path.is_relative_to(TESTS / place)
