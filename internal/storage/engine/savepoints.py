"""Parts of a transaction that are taken back while the rest of it goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from internal.errors import Conflict, NotFound, Refused


@contextmanager
def taken_back(connection: Connection) -> Iterator[None]:
    """Takes back everything that is written inside the block."""
    connection.exec_driver_sql("SAVEPOINT attempt")
    try:
        yield
    finally:
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT attempt")
        connection.exec_driver_sql("RELEASE SAVEPOINT attempt")


@contextmanager
def undone_if_refused(connection: Connection) -> Iterator[None]:
    """Takes back what is written inside if the block raises NotFound, Refused or Conflict, which the caller gets."""
    connection.exec_driver_sql("SAVEPOINT part")
    try:
        yield
    except (NotFound, Refused, Conflict):
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT part")
        connection.exec_driver_sql("RELEASE SAVEPOINT part")
        raise
    connection.exec_driver_sql("RELEASE SAVEPOINT part")
