"""Closes files that hold people's words to other users of the machine, under any umask and earlier permissions.

A data folder that the program creates is closed with all it contains; a mounted volume may be open to everybody.
"""

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path

from internal.errors import Refused

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600

_OTHERS = 0o077
_BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")


def close_to_others(path: Path) -> None:
    """Takes the permissions of group and others from a file or folder that belongs to this user. Raises OSError.

    Files of other users and folders that are shared on purpose (the sticky bit) stay unchanged.
    """
    found = path.stat()
    shared = found.st_uid != os.geteuid() or found.st_mode & stat.S_ISVTX
    if not shared and found.st_mode & _OTHERS:
        with contextlib.suppress(PermissionError):  # file systems of other systems have no modes to change
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)


def expect_within(folder: Path, path: Path, field: str) -> None:
    """Raises Refused(`field`) for a path outside of the folder, also by `..` or by a link."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise Refused(field, f"{field}: it must be in {folder}")


def private_copy(source: Path, target: Path) -> None:
    """Copies a file into a new one, readable by its owner alone. Raises OSError."""
    with (
        source.open("rb") as reading,
        os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "wb") as writing,
    ):
        shutil.copyfileobj(reading, writing)


def private_database(path: Path) -> None:
    """Creates an empty closed file for a new database, or closes an existing database with its log.

    SQLite creates its log with the mode of the database. Raises OSError, also for a file that cannot be written: SQLite
    would open it without an error and fail at the first write.
    """
    file = path.resolve()  # a link to another disk is followed, as SQLite does
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    except FileExistsError:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)) from None
        if not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, "it is read-only") from None
        for part in (file, *(file.with_name(file.name + ending) for ending in _BESIDE_A_DATABASE)):
            with contextlib.suppress(FileNotFoundError):
                close_to_others(part)


def write_private(path: Path, text: str) -> None:
    """Replaces a file in one step, readable by its owner alone: a reader sees the old text or the new, never half.

    Raises OSError; then the old text stays and nothing is left beside it.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
