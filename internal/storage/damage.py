"""Telling a damaged database from everything else that can go wrong with one."""

from __future__ import annotations

import sqlite3

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite said of the file, here or in what caused the error, that it is malformed or no database."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        code = getattr(error, "sqlite_errorcode", None)
        if isinstance(code, int) and code & 0xFF in _DAMAGED:
            return True
        error = getattr(error, "orig", None) or error.__cause__ or error.__context__
    return False
