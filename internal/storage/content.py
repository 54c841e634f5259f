"""One number for everything a database says, whatever file, page order or engine it lies in.

Two stores with the same hash hold the same rows: a backup and what was restored from it, or a store and where it moved.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, Table, select

from internal.storage.export import NUMBERED, owned_tables
from internal.storage.tables import inbox, metadata, settings, users
from internal.storage.types import to_micros

VOLATILE_TABLES: Final = frozenset({"changes", "model_calls", "mirrors"})
"""A log for caches, records that expire by themselves, and how far a copy elsewhere has followed."""

VOLATILE_SETTINGS: Final = frozenset({"ready_at", "last_backup_at"})
"""Written by probes and backups, which look at a store without changing what it says."""

_MODULUS: Final = 1 << 256
_FETCH: Final = 1000


def logical_hash(connection: Connection) -> str:
    """64 hexadecimal digits over every table but volatile ones; the order of rows does not matter."""
    tables = "".join(f"{name}:{digest}\n" for name, digest in sorted(table_hashes(connection).items()))
    return hashlib.sha256(tables.encode()).hexdigest()


def table_hashes(connection: Connection) -> dict[str, str]:
    """The hash of each table by its name, to see where two stores differ."""
    wanted = [table for table in metadata.sorted_tables if table.name not in VOLATILE_TABLES]
    return {table.name: _table_hash(connection, table) for table in wanted}


def owner_hashes(connection: Connection, user_id: int) -> dict[str, str]:
    """The hash of each table over what one owner's export would hold, without numbers that only order rows.

    Nor does it matter when and as whom this instance admitted him, and how far his counter of changes went.
    """
    hashes = {}
    for table in owned_tables():
        left_out = _ADMISSION if table is users else {NUMBERED.get(table)}
        query = select(*(column for column in table.c if column.name not in left_out))
        hashes[table.name] = _hash(connection, query.where(table.c.user_id == user_id))
    return hashes


_ADMISSION: Final = frozenset({"role", "state", "created_at", "next_rev"})


def _table_hash(connection: Connection, table: Table) -> str:
    return _hash(connection, _content(table))


def _hash(connection: Connection, query: Select[Any]) -> str:
    """The sum of the rows' hashes: engines sort text differently, and no store has to be held in memory."""
    total = count = 0
    for rows in connection.execute(query).mappings().partitions(_FETCH):
        for row in rows:
            count += 1
            total += int.from_bytes(hashlib.sha256(_canonical(dict(row))).digest(), "big")
    return f"{count}-{total % _MODULUS:064x}"


def _content(table: Table) -> Select[Any]:
    if table is settings:
        return select(settings).where(settings.c.key.not_in(VOLATILE_SETTINGS))
    if table is inbox:  # a processed update is only a key against duplicates, dropped after two days
        return select(inbox).where(inbox.c.state.in_(("received", "quarantined")))
    return select(table)


def _canonical(row: dict[str, Any]) -> bytes:
    return json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"a row holds a {type(value).__name__}")
