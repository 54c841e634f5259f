"""A hash of everything a database holds, independent of file, page order and engine.

Two stores with the same hash hold the same rows, such as a backup and the restored store, or a store and its copy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, Select, Table, select, type_coerce

from internal.storage.tables import inbox, settings
from internal.storage.types import Timestamp, to_micros

VOLATILE_TABLES: Final = frozenset({"changes", "leases", "model_calls", "mirrors"})
"""Tables whose rows do not count: a log for caches, leases, records that expire, positions of copies elsewhere."""

VOLATILE_SETTINGS: Final = frozenset({"ready_at", "last_backup_at", "polled_at"})
"""Settings written by probes, polls and backups, which do not change what a store holds."""

_MODULUS: Final = 1 << 256
_FETCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Content:
    """`logical` is the logical hash; `tables` has a hash of every table, volatile ones too."""

    logical: str
    tables: dict[str, str]

    def differences(self, other: Content) -> list[str]:
        """The tables that differ between both."""
        names = sorted(self.tables.keys() | other.tables.keys())
        return [name for name in names if self.tables.get(name) != other.tables.get(name)]


def content_of(
    connection: Connection,
    tables: Iterable[Table],
    *,
    without_nul: bool = False,
    looked_at: Callable[[int], object] = lambda rows: None,
) -> Content:
    """Hashes these tables row by row. `looked_at` is called with the number of rows read since its last call.

    `without_nul` hashes texts as an engine without NUL characters stores them.
    """
    whole, said = {}, {}
    for table in tables:
        whole[table.name] = hash_of(connection, select(table), without_nul, looked_at)
        if table.name not in VOLATILE_TABLES:
            narrowed = table in (settings, inbox)
            said[table.name] = hash_of(connection, lasting_rows(table), without_nul) if narrowed else whole[table.name]
    return Content(_together(said), whole)


def _together(hashes: dict[str, str]) -> str:
    tables = "".join(f"{name}:{digest}\n" for name, digest in sorted(hashes.items()))
    return hashlib.sha256(tables.encode()).hexdigest()


def hash_of(
    connection: Connection,
    query: Select[Any],
    without_nul: bool = False,
    looked_at: Callable[[int], object] = lambda rows: None,
) -> str:
    """The sum of the rows' hashes: engines sort text differently, and no store has to be held in memory."""
    total = count = 0
    # Times as stored numbers: converting each to a date takes longer than the rest.
    plain = query.with_only_columns(*(_numbered(column) for column in query.selected_columns))
    streamed = plain.execution_options(stream_results=True, max_row_buffer=_FETCH)
    for rows in connection.execute(streamed).mappings().partitions(_FETCH):
        for row in rows:
            count += 1
            said = _without_nul(dict(row)) if without_nul else dict(row)
            total += int.from_bytes(hashlib.sha256(_canonical(said)).digest(), "big")
        looked_at(len(rows))
    return f"{count}-{total % _MODULUS:064x}"


def _numbered(column: Any) -> Any:
    return type_coerce(column, BigInteger).label(column.name) if isinstance(column.type, Timestamp) else column


def _without_nul(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.replace("\0", "") if isinstance(value, str) else value for name, value in row.items()}


def lasting_rows(table: Table) -> Select[Any]:
    if table is settings:
        return select(settings).where(settings.c.key.not_in(VOLATILE_SETTINGS))
    if table is inbox:  # a processed update is only a key against duplicates, deleted after two days
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
