"""Hashes of stores and of what one owner has in them, to compare them table by table."""

from typing import Final

from sqlalchemy import Connection, select

from internal.storage.tables import metadata, users
from internal.storage.transfer.content_hash import VOLATILE_TABLES, content_of, hash_of, lasting_rows
from internal.storage.transfer.owner_export import NUMBERED, owned_tables

_LASTING: Final = [table for table in metadata.sorted_tables if table.name not in VOLATILE_TABLES]
_ADMISSION: Final = frozenset({"role", "state", "created_at", "next_rev"})


def logical_hash(connection: Connection) -> str:
    """64 hexadecimal digits over every table but volatile ones, independent of the order of rows."""
    return content_of(connection, _LASTING).logical


def table_hashes(connection: Connection) -> dict[str, str]:
    """The hash of each table by name, to see where two stores differ."""
    return {table.name: hash_of(connection, lasting_rows(table)) for table in _LASTING}


def owner_hashes(connection: Connection, user_id: int) -> dict[str, str]:
    """The hash of each table over what one owner's export holds, without numbers that only order rows.

    When and with which role this instance admitted the owner, and the counter of changes, do not count either.
    """
    hashes = {}
    for table in owned_tables():
        left_out = _ADMISSION if table is users else {NUMBERED.get(table)}
        query = select(*(column for column in table.c if column.name not in left_out))
        hashes[table.name] = hash_of(connection, query.where(table.c.user_id == user_id))
    return hashes
