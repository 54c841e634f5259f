"""Asks a PostgreSQL server about itself: version, our role, connections, the database's size, the time."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, text

_STATE = text(
    """
    SELECT current_setting('server_version') AS version,
           current_setting('server_version_num')::int AS version_number,
           role.rolname AS role, role.rolsuper AS superuser, role.rolbypassrls AS bypasses_policies,
           current_setting('server_encoding') AS encoding,
           current_setting('max_connections')::int AS most_connections,
           (SELECT sum(numbackends) FROM pg_stat_database)::int AS connections
    FROM pg_roles AS role WHERE role.rolname = current_user
    """
)


@dataclass(frozen=True, slots=True)
class ServerState:
    """`version_number` is PostgreSQL's own, 180006 for 18.6; `connections` are those of all clients, ours included.

    `encoding` is the database's, "UTF8" as a rule.
    """

    version: str
    version_number: int
    role: str
    superuser: bool
    bypasses_policies: bool
    encoding: str
    most_connections: int
    connections: int


@dataclass(frozen=True, slots=True)
class ServerTime:
    """The server's time when our counter showed `counted`, exact to `within` seconds."""

    at: datetime
    counted: float
    within: float


def server_time(connection: Connection, monotonic: Callable[[], float]) -> ServerTime:
    """Asks the server's clock; `monotonic` counts our seconds meanwhile. Only for PostgreSQL."""
    before = monotonic()
    at: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    after = monotonic()
    return ServerTime(at.astimezone(UTC), (before + after) / 2, (after - before) / 2)


def read_server(connection: Connection) -> ServerState:
    return ServerState(**connection.execute(_STATE).one()._asdict())


def database_bytes(connection: Connection) -> int | None:
    """The size of the database on its server. None for SQLite."""
    if connection.dialect.name != "postgresql":
        return None
    return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
