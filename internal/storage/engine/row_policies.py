"""The second wall, on PostgreSQL: a row-level policy by owner on every table that has one.

It stands behind the `WHERE` of every repository: a unit of work reaches the rows of the owner it acts for, whatever its
statements forgot to say. `scope.py` says for whom that is; `PostgresEngine` tells the server at the start of each unit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection, Table
from sqlalchemy.exc import DBAPIError

from internal.storage.engine.owner_scope import EVERYONE, NOBODY
from internal.storage.tables import metadata

SETTING: Final = "laplaced.owner"

POLICY: Final = "owner_alone"

OF_NO_OWNER: Final = {
    "leases": "which worker does what only one may do at a time",
    "settings": "the installation's own settings: the bot's id, the owner code, the time of the last backup",
}
"""Tables without a `user_id`, each with what it holds instead. A test knows that there are no others."""

HOUSE_ROWS: Final = {
    "agent_state": "what an agent keeps for the whole installation",
    "console_sessions": "a session of the admin, who logged in with the server's key",
    "events": "what happened to the house rather than to an owner",
    "inbox": "an update that no owner was found for yet",
    "model_calls": "a call that was made for nobody, such as the doctor's",
}
"""Tables whose rows may have no owner (`user_id` is NULL, or 0 in a key), and what such a row is.

No owner reaches it: it is seen by EVERYONE alone.
"""

# A subquery without outer columns is worked out once for a statement rather than once for a row. '*' becomes NULL
# before the cast: the server may evaluate both sides of OR.
_TOLD: Final = f"current_setting('{SETTING}', true)"
_ALLOWED: Final = (
    f"(SELECT {_TOLD} = '{EVERYONE}') OR user_id = (SELECT nullif(nullif({_TOLD}, ''), '{EVERYONE}')::bigint)"
)


def walled() -> list[Table]:
    """The tables that have an owner."""
    return [table for table in metadata.sorted_tables if "user_id" in table.c]


def wall_statements() -> Iterator[str]:
    """What raises the wall around every table, whatever stood there before. The tables' owner is held by it too."""
    for table in walled():
        yield from _around(table.name)


def _around(table: str) -> Iterator[str]:
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"DROP POLICY IF EXISTS {POLICY} ON {table}"
    yield f"CREATE POLICY {POLICY} ON {table} USING ({_ALLOWED}) WITH CHECK ({_ALLOWED})"


def raise_walls(connection: Connection) -> None:
    """Puts every table behind the wall. Only for PostgreSQL, in the transaction of a migration."""
    for statement in wall_statements():
        connection.exec_driver_sql(statement)


@contextlib.contextmanager
def across_owners(connection: Connection) -> Iterator[None]:
    """Statements inside reach every owner's rows, in a unit of work that acts for one.

    For the few questions that are about several owners: who is in a team, whether an id is taken. A unit that acts
    for nobody stays so. On SQLite there is no wall to look across.
    """
    if connection.dialect.name != "postgresql":
        yield
        return
    told = connection.exec_driver_sql(f"SELECT {_TOLD}, set_config('{SETTING}', '{EVERYONE}', true)")
    before = told.one()[0] or NOBODY
    if before == NOBODY:
        _act_for(connection, NOBODY)
    try:
        yield
    finally:
        with contextlib.suppress(DBAPIError):  # after a statement that failed the savepoint is undone, and this with it
            _act_for(connection, before)


def _act_for(connection: Connection, scope: str) -> None:
    connection.exec_driver_sql(f"SELECT set_config('{SETTING}', %s, true)", (scope,))
