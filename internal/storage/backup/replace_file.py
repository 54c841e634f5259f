"""Puts a restored database in the place of the current one. A kill at any moment leaves the old or the new one."""

import contextlib
import itertools
import os
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from internal.storage.backup.backup import sync, translated_failures
from internal.storage.crash_points import crash_if_asked
from internal.storage.engine.sqlite import remove_with_log
from internal.storage.files.permissions import private_database


def draft_of(database: Path) -> Path:
    """The path at which a restored database is prepared, beside the one it will replace."""
    return database.with_name(f".{database.name}.restoring")


def put_in_place(draft: Path, database: Path, now: datetime) -> Path | None:
    """Makes the draft, a closed database, the one in use. Returns where the old one is kept, None if there was none.

    The caller owns the data folder. Raises StorageError; then the old one is still in use.
    """
    with translated_failures("the database cannot be replaced"):
        sync(draft)
        if not database.exists():
            _drop_log(database)
            draft.replace(database)
            sync(database.parent)
            return None
        _empty_log(database)
        aside = _path_aside(database)
        _keep(database, aside)
        crash_if_asked(["restore"], "before")
        draft.replace(database)
        sync(database.parent)
        crash_if_asked(["restore"], "after")
        return _name_kept(aside, database, now)


def clear_up(database: Path, now: datetime) -> None:
    """Finishes what a killed restore left: deletes its draft and gives the replaced database its name.

    The caller owns the data folder. Raises StorageError.
    """
    with translated_failures("the rest of an interrupted restore cannot be cleared up"):
        remove_with_log(draft_of(database))
        aside = _path_aside(database)
        if not aside.exists():
            return
        if database.exists() and aside.samefile(database):
            log = _log_of(aside)
            if log.exists():
                log.replace(_log_of(database))
            aside.unlink()
        else:
            _name_kept(aside, database, now)


def _keep(database: Path, aside: Path) -> None:
    """Gives the old database a second name, so that the first can switch to the new one in one step."""
    try:
        os.link(database, aside)
    except OSError:  # a file system without hard links
        part = aside.with_name(f"{aside.name}.part")
        private_database(part)
        shutil.copyfile(database, part)
        sync(part)
        part.replace(aside)
    log = _log_of(database)
    if log.exists():
        log.replace(_log_of(aside))
    _drop_log(database)


def _empty_log(database: Path) -> None:
    """Moves the old database's log into its file; one too damaged for that keeps the log beside it."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _drop_log(database: Path) -> None:
    """Deletes the log: SQLite would replay another database's log into the new one."""
    for ending in ("-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)


def _name_kept(aside: Path, database: Path, now: datetime) -> Path:
    kept = place_for_replaced(database, now)
    log = _log_of(aside)
    if log.exists():
        log.replace(_log_of(kept))
    aside.replace(kept)
    sync(database.parent)
    return kept


def place_for_replaced(database: Path, now: datetime) -> Path:
    """A name beside a database that is not taken: two may be replaced within one second."""
    stem = f"{database.stem}-replaced-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    names = (
        f"{stem}{ending}{database.suffix}" for ending in itertools.chain([""], (f"-{n}" for n in itertools.count(2)))
    )
    return next(free for name in names if not (free := database.with_name(name)).exists())


def _path_aside(database: Path) -> Path:
    return database.with_name(f".{database.name}.replaced")


def _log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")
