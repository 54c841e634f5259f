"""Model calls in the database: the exact prompt and reply, kept for a while."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert

from internal.storage.tables import model_calls


def add(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Each row holds the columns of `model_calls` but `n`."""
    if rows:
        connection.execute(insert(model_calls), list(rows))


def drop_before(connection: Connection, moment: datetime) -> int:
    return connection.execute(delete(model_calls).where(model_calls.c.at < moment)).rowcount
