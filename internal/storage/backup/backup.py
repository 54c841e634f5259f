"""Backups: a consistent copy of the database while it is in use, by SQLite's backup API, verified before it counts.

The file is never copied byte by byte: without its write-ahead log it would be an earlier or broken database.
"""

import asyncio
import contextlib
import os
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from internal.errors import Refused, StorageDamaged, StorageError
from internal.storage.crash_points import crash_if_asked
from internal.storage.engine.corruption import is_damage
from internal.storage.engine.sqlite import remove_with_log
from internal.storage.files.permissions import PRIVATE_FILE, PRIVATE_FOLDER

T = TypeVar("T")

FOLDER = "backups"
KEPT = 7
"""The number of backups that stay in the folder."""

HELD = timedelta(days=7)
"""The time for which a backup may hold erased rows; after that it is deleted, once a newer one exists."""

STEP_PAGES = 1000
"""About 4 MB a step: the copy can be stopped between two steps."""

SPARE_BYTES = 32 * 1024 * 1024
"""Bytes that a backup must leave free on the disk for the running bot."""

_TIME = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"laplaced-(\d{8}T\d{6}Z)-(\w+)\.db")
OWN_TABLES = frozenset({"users", "messages", "inbox", "runs", "people"})


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup: when it was made, its schema revision, and its size in bytes."""

    path: Path
    at: datetime
    revision: str
    size: int


def folder_of(data_dir: Path) -> Path:
    return data_dir / FOLDER


def listing(folder: Path) -> list[Backup]:
    """The backups of a folder, newest first: those named by their time, and copies under chosen names."""
    found = [backup for path in folder.glob("*") if (backup := _read_name(path) or _read_copy(path)) is not None]
    return sorted(found, key=lambda backup: backup.at, reverse=True)


async def back_up(source: Path, folder: Path, now: datetime, *, keep: int = KEPT) -> Backup:
    """Backs an open database up into the folder and deletes all but the newest `keep` backups.

    Writers continue meanwhile. Raises StorageError, and StorageDamaged if the database itself is damaged; then nothing
    is left in the folder. Cancelling stops the copy at its next step.
    """
    return await until_stopped(lambda stopped: back_up_here(source, folder, now, keep=keep, stopped=stopped))


async def back_up_to(source: Path, target: Path, now: datetime) -> Backup:
    """Backs an open database up into the file `target`. Raises Refused if it exists, and what `back_up` raises."""
    return await until_stopped(lambda stopped: _back_up_to(source, target, now, stopped))


def back_up_here(
    source: Path, folder: Path, now: datetime, *, keep: int = KEPT, stopped: Callable[[], bool] = lambda: False
) -> Backup:
    """Like `back_up`, but works on the calling thread."""
    with new_in(folder, now, keep=keep) as making:
        return making.finished(copy(source, making.draft, stopped=stopped))


def _back_up_to(source: Path, target: Path, now: datetime, stopped: Callable[[], bool]) -> Backup:
    with new_at(target, now) as making:
        return making.finished(copy(source, making.draft, stopped=stopped))


@dataclass(frozen=True, slots=True)
class BackupDraft:
    """A backup that is being written: `draft` is the file to write, renamed when it is finished."""

    draft: Path
    named: Callable[[str], Path]
    now: datetime

    def finished(self, revision: str) -> Backup:
        """Marks the draft as a verified copy with that schema revision."""
        target = self.named(revision)
        put_in_place(self.draft, target)
        os.utime(target, (self.now.timestamp(),) * 2)  # the time of a copy whose name has none
        return Backup(target, self.now, revision, target.stat().st_size)


@contextlib.contextmanager
def new_in(folder: Path, now: datetime, *, keep: int = KEPT) -> Iterator[BackupDraft]:
    """Begins a new backup in the folder; when it is finished, all but the newest `keep` are deleted.

    Raises StorageError. An error inside the block leaves nothing behind.
    """
    with translated_failures("the backup failed"):
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        _drop_drafts(folder)
        time = f"{now.astimezone(UTC):{_TIME}}"
        making = BackupDraft(folder / f".laplaced-{time}.part", lambda it: folder / f"laplaced-{time}-{it}.db", now)
        with _draft(making.draft):
            yield making
        _prune(folder, keep, now)


@contextlib.contextmanager
def new_at(target: Path, now: datetime) -> Iterator[BackupDraft]:
    """Begins a new backup in the file `target`. Raises Refused if it exists, and StorageError like `new_in`."""
    if target.exists():
        raise Refused("exists", f"{target} exists; a backup overwrites nothing")
    with translated_failures("the backup failed"):
        draft = target.with_name(f".{target.name}.part")
        remove_with_log(draft)
        with _draft(draft):
            yield BackupDraft(draft, lambda revision: target, now)


def copy(source: Path, target: Path, *, stopped: Callable[[], bool] = lambda: False) -> str:
    """Copies one snapshot of a database into a new file, durable and verified. Returns its schema revision.

    The target is one file without a log, readable by its owner alone. Raises StorageError if there is no room,
    the target exists or the copy was stopped, and what `verify` raises.
    """
    with translated_failures(f"{source} cannot be copied"):
        _need_room(source, target.parent)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        with contextlib.closing(_reading(source)) as reader, contextlib.closing(_writing(target)) as writer:
            # With a transaction open the copy is consistent; without, every write of the bot would restart it.
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
            reader.backup(writer, pages=STEP_PAGES, progress=lambda *_: _step(stopped))
    return closed_up(target)


def private_folder(folder: Path) -> None:
    """Creates a folder closed to other users, unless it exists. Raises StorageError."""
    with translated_failures("the folder cannot be made"):
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)


def closed_up(target: Path) -> str:
    """Turns a database that is open nowhere into one durable file without a log. Returns its schema revision."""
    with translated_failures(f"{target} cannot be written"):
        with contextlib.closing(_writing(target)) as writer:
            writer.execute("PRAGMA journal_mode=DELETE")  # the header promises a log, which a backup does not have
        sync(target)
    return verify(target)


def verify(path: Path) -> str:
    """Checks a Laplaced database without changing it. Returns its schema revision.

    Raises StorageDamaged if it is damaged, and StorageError if the file is no Laplaced database.
    """
    if not path.is_file():
        raise StorageError(f"there is no file {path}")
    try:
        with contextlib.closing(_reading(path)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables >= OWN_TABLES:
                raise StorageError(f"{path} is no database of Laplaced")
            said = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            if said != ["ok"]:
                raise StorageDamaged(f"{path} is damaged: {'; '.join(said)}")
            return _revision(connection, path)
    except sqlite3.Error as error:
        kind = StorageDamaged if is_damage(error) else StorageError
        raise kind(f"{path} cannot be read as a database: {error}") from error


def put_in_place(draft: Path, target: Path) -> None:
    """Renames a finished file: a reader sees it whole or not at all."""
    crash_if_asked(["backup"], "before")
    draft.replace(target)
    sync(target.parent)
    crash_if_asked(["backup"], "after")


def sync(path: Path) -> None:
    """Makes a file's content, or the names in a folder, durable.

    Never for an open database: closing any descriptor of it would drop SQLite's locks.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def until_stopped(work: Callable[[Callable[[], bool]], T]) -> T:
    """Runs `work` on a thread of its own, with a function that returns True once its caller has been cancelled."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, stop.is_set)
    finally:
        stop.set()


def megabytes(size: float) -> str:
    return f"{size / 1_000_000:.1f} MB"


def _reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)


def _writing(path: Path) -> sqlite3.Connection:
    """A connection to a file that is thrown away if anything fails: no journal, and one sync at the end."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    return connection


def _step(stopped: Callable[[], bool]) -> None:
    crash_if_asked(["backup"], "during")
    if stopped():
        raise StorageError("the copy was stopped")


def _revision(connection: sqlite3.Connection, path: Path) -> str:
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError:
        row = None
    if row is None:
        raise StorageError(f"{path} does not hold its schema revision")
    return str(row[0])


def _need_room(source: Path, folder: Path) -> None:
    log = source.with_name(f"{source.name}-wal")
    size = source.stat().st_size + (log.stat().st_size if log.exists() else 0)
    free = shutil.disk_usage(folder).free
    if free < size + SPARE_BYTES:
        wanted = megabytes(size + SPARE_BYTES)
        raise StorageError(f"no room in {folder}: a copy needs {wanted}, {megabytes(free)} are free")


@contextlib.contextmanager
def _draft(path: Path) -> Iterator[None]:
    """Deletes a half-written copy when anything fails; after a kill the next backup deletes it."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            remove_with_log(path)
        raise


@contextlib.contextmanager
def translated_failures(what: str) -> Iterator[None]:
    """Translates what SQLite and the file system raise into StorageError, or StorageDamaged."""
    try:
        yield
    except sqlite3.Error as error:
        raise (StorageDamaged if is_damage(error) else StorageError)(f"{what}: {error}") from error
    except OSError as error:
        raise StorageError(f"{what}: {error.strerror}: {error.filename}") from error


def _drop_drafts(folder: Path) -> None:
    for draft in folder.glob(".laplaced-*.part*"):
        draft.unlink(missing_ok=True)


def _prune(folder: Path, keep: int, finished: datetime) -> None:
    """Deletes old backups, never the one just made: after the clock was set back it may look like the oldest.

    Copies under chosen names are not counted.
    """
    for old in [backup for backup in listing(folder) if _NAME.fullmatch(backup.path.name)][keep:]:
        if old.at != finished.astimezone(UTC).replace(microsecond=0):
            old.path.unlink(missing_ok=True)


def _read_copy(path: Path) -> Backup | None:
    """A copy under a chosen name; None if the file is no Laplaced database, or is still being written."""
    if path.suffix == ".part":
        return None
    with contextlib.suppress(sqlite3.Error, StorageError, OSError):
        with contextlib.closing(_reading(path)) as connection:
            revision = _revision(connection, path)
        state = path.stat()
        return Backup(path, datetime.fromtimestamp(state.st_mtime, UTC), revision, state.st_size)
    return None


def _read_name(path: Path) -> Backup | None:
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    try:
        at = datetime.strptime(match[1], _TIME).replace(tzinfo=UTC)
        return Backup(path, at, match[2], path.stat().st_size)
    except (ValueError, OSError):
        return None
