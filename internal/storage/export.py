"""All that is stored about one owner, table by table, as plain JSON values."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from internal.storage.tables import metadata

_DERIVED = frozenset({"vectors", "search_items", "changes", "tombstones", "inbox"})
"""Left out: numbers and copies made from the rest, and raw updates, whose content is in `messages`."""


def rows_by_table(connection: Connection, user_id: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(table, rows) of this owner in the order of the primary key; tables that hold nothing of his are left out.

    Times are ISO 8601 in UTC; bytes are text where they are UTF-8, else base64.
    """
    for table in metadata.sorted_tables:
        if "user_id" not in table.c or table.name in _DERIVED:
            continue
        query = select(table).where(table.c.user_id == user_id).order_by(*table.primary_key.columns)
        rows = [{name: _plain(value) for name, value in row._mapping.items()} for row in connection.execute(query)]
        if rows:
            yield table.name, rows


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(value).decode("ascii")
    return value
