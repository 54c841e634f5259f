"""Exports all data of one owner as a readable document."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.storage.transfer import owner_export

FORMAT: Final = "laplaced-export/2"


def export_owner(connection: Connection, user_id: int, *, now: datetime) -> dict[str, Any]:
    """`{"format", "user_id", "exported_at", "tables": {table: [row]}}`, without vectors and other derived numbers."""
    return {
        "format": FORMAT,
        "user_id": user_id,
        "exported_at": now.isoformat(),
        "tables": dict(owner_export.rows_by_table(connection, user_id)),
    }


def export_document(
    connection: Connection, user_id: int, *, now: datetime, files: Mapping[str, str] | None = None
) -> str:
    """The export as JSON text in UTF-8, readable: indented, letters of every alphabet as they are.

    `files` are the bytes of the owner's files in base64, by their hash.
    """
    document = export_owner(connection, user_id, now=now) | ({"files": files} if files else {})
    return json.dumps(document, ensure_ascii=False, indent=2)
