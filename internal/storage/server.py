"""What a PostgreSQL server tells about itself: its version, our role, its connections and the size of the database."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text

_STATE = text(
    """
    SELECT current_setting('server_version') AS version,
           current_setting('server_version_num')::int AS version_number,
           role.rolname AS role, role.rolsuper AS superuser, role.rolbypassrls AS bypasses_policies,
           current_setting('max_connections')::int AS most_connections,
           (SELECT sum(numbackends) FROM pg_stat_database)::int AS connections
    FROM pg_roles AS role WHERE role.rolname = current_user
    """
)


@dataclass(frozen=True, slots=True)
class ServerState:
    """`version_number` is PostgreSQL's own, 180006 for 18.6; `connections` are everybody's, ours among them."""

    version: str
    version_number: int
    role: str
    superuser: bool
    bypasses_policies: bool
    most_connections: int
    connections: int


def read_server(connection: Connection) -> ServerState:
    return ServerState(**connection.execute(_STATE).one()._asdict())


def database_bytes(connection: Connection) -> int | None:
    """The size of the database on its server; None for a file, which everybody can look at."""
    if connection.dialect.name != "postgresql":
        return None
    return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
