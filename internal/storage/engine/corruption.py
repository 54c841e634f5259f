"""Tells a damaged database from everything else that can go wrong with one."""

import sqlite3

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite said of the file, in the error or its causes, that it is malformed or no database."""
    return words_of_damage(error) is not None


def words_of_damage(error: BaseException | None) -> str | None:
    """SQLite's words about the damage, such as `file is not a database`. None if the error is of another kind."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
            return str(error)
        error = getattr(error, "orig", None) or error.__cause__ or error.__context__
    return None
