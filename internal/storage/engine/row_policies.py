"""Row-level policies by owner on every table that has one, on PostgreSQL.

They stand behind the `WHERE` of every repository: a unit of work reaches only the rows of the owner it acts for,
even if a statement forgets the condition. `owner_scope.py` sets the owner; `PostgresEngine` passes it to the server.
"""

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
    "artifact_files": "which bytes are kept, under their hash: two owners may have sent the same file",
    "leases": "which worker does what only one may do at a time",
    "settings": "the installation's own settings: the bot's id, the owner code, the time of the last backup",
}
"""Tables without a `user_id`, each with what it holds instead. A test proves that there are no others."""

SYSTEM_ROWS: Final = {
    "agent_state": "what an agent keeps for the whole installation",
    "console_sessions": "a session of the admin, who logged in with the server's key",
    "events": "what happened to the house rather than to an owner",
    "inbox": "an update that no owner was found for yet",
    "model_calls": "a call that was made for nobody, such as the doctor's",
}
"""Tables whose rows may have no owner (`user_id` is NULL, or 0 in a key), and what such a row is.

No owner reaches such a row; only EVERYONE does.
"""

# A subquery without outer columns is evaluated once for a statement rather than once for a row. '*' becomes NULL
# before the cast: the server may evaluate both sides of OR.
_CURRENT_SCOPE: Final = f"current_setting('{SETTING}', true)"
_OWNER_IN_SCOPE: Final = f"nullif(nullif({_CURRENT_SCOPE}, ''), '{EVERYONE}')::bigint"
_ALLOWED: Final = f"(SELECT {_CURRENT_SCOPE} = '{EVERYONE}') OR user_id = (SELECT {_OWNER_IN_SCOPE})"


def tables_with_policy() -> list[Table]:
    """The tables that have an owner."""
    return [table for table in metadata.sorted_tables if "user_id" in table.c]


def policy_statements() -> Iterator[str]:
    """The statements that create or replace the policy of every table. The policies bind the tables' owner too."""
    for table in tables_with_policy():
        yield from _policy_of(table.name)


def _policy_of(table: str) -> Iterator[str]:
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"DROP POLICY IF EXISTS {POLICY} ON {table}"
    yield f"CREATE POLICY {POLICY} ON {table} USING ({_ALLOWED}) WITH CHECK ({_ALLOWED})"


def create_policies(connection: Connection) -> None:
    """Creates the policies of all tables. Only for PostgreSQL, in the transaction of a migration."""
    for statement in policy_statements():
        connection.exec_driver_sql(statement)


@contextlib.contextmanager
def across_owners(connection: Connection) -> Iterator[None]:
    """Lets statements inside reach every owner's rows, in a unit of work that acts for one.

    Used for the few questions about several owners: who is in a team, whether an id is taken. A unit of work that acts
        for nobody keeps doing so. SQLite has no policies.
    """
    if connection.dialect.name != "postgresql":
        yield
        return
    settings = connection.exec_driver_sql(f"SELECT {_CURRENT_SCOPE}, set_config('{SETTING}', '{EVERYONE}', true)")
    before = settings.one()[0] or NOBODY
    if before == NOBODY:
        _act_for(connection, NOBODY)
    try:
        yield
    finally:
        with contextlib.suppress(DBAPIError):  # a failed statement undoes the savepoint, and this with it
            _act_for(connection, before)


def _act_for(connection: Connection, scope: str) -> None:
    connection.exec_driver_sql(f"SELECT set_config('{SETTING}', %s, true)", (scope,))
