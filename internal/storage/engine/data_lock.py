"""One process owns a data folder: a lock that dies with its holder, and a note that identifies the holder."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from internal.errors import StorageError, StorageLocked
from internal.storage.files.permissions import PRIVATE_FILE, PRIVATE_FOLDER, close_to_others, write_private

LOCK_FILE = "laplaced.lock"
HOLDER_FILE = "holder.json"

_PROBED_S = 0.1
"""Longer than a command holds the lock to find out whether another process does."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that owns the folder. `url` is the address of its HTTP server, None while it serves nothing."""

    pid: int
    url: str | None = None


class FolderLock:
    """A held lock. `announce` publishes where commands reach this process; `renew` publishes it again."""

    def __init__(self, data_dir: Path) -> None:
        self._note = data_dir / HOLDER_FILE

    def announce(self, url: str | None) -> None:
        """Publishes the address. Raises StorageError: a process that commands cannot find must not hold the folder."""
        try:
            write_private(self._note, json.dumps({"pid": os.getpid(), "url": url}))
        except OSError as error:
            raise _unusable(self._note.parent, error) from error

    def renew(self) -> None:
        """Renews the lock; the holder calls it now and then. Raises what `announce` raises."""

    def _withdraw(self) -> None:
        self._note.unlink(missing_ok=True)


class SharedFolder(FolderLock):
    """A folder without an owner. Commands find the first of its processes that serves them."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self._file_lock = _lock_of(data_dir)
        self._url: str | None = None

    def announce(self, url: str | None) -> None:
        """Does nothing while another process is announced. Raises what `FolderLock.announce` raises."""
        self._url = url
        self.renew()

    def renew(self) -> None:
        """Takes over when the announced process has ended."""
        if self._url is None or self._file_lock.is_locked:
            return
        try:
            self._file_lock.acquire(timeout=_PROBED_S)
        except Timeout:
            return
        except OSError as error:
            raise _unusable(self._note.parent, error) from error
        super().announce(self._url)

    def _withdraw(self) -> None:
        if self._file_lock.is_locked:
            super()._withdraw()
            self._file_lock.release()


@contextlib.contextmanager
def hold_folder(data_dir: Path) -> Iterator[FolderLock]:
    """Owns the folder (created closed to others if absent) until the block ends.

    Raises StorageLocked with the holder's process id, and StorageError for a folder that cannot be used. The kernel
    holds the lock: a killed holder leaves nothing to clean up.
    """
    try:
        data_dir.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        file_lock = _lock_of(data_dir)
        file_lock.acquire()
    except Timeout:
        raise StorageLocked(_who_holds(data_dir)) from None
    except OSError as error:
        raise _unusable(data_dir, error) from error
    lock = FolderLock(data_dir)
    try:
        lock.announce(None)
        yield lock
    finally:
        lock._withdraw()
        file_lock.release()


@contextlib.contextmanager
def hold_all(data_dir: Path, database_folder: Path) -> Iterator[FolderLock]:
    """Owns the data folder, and the database's folder if it is another: two installations must not share a file.

    The data folder is closed to other users; in the other folder, only our files are.
    Raises what `hold_folder` raises.
    """
    with contextlib.ExitStack() as stack:
        lock = stack.enter_context(hold_folder(data_dir))
        close_to_others(data_dir)
        if database_folder.resolve() != data_dir.resolve():
            stack.enter_context(hold_folder(database_folder))
        yield lock


@contextlib.contextmanager
def hold_for(store: Path | str, data_dir: Path) -> Iterator[FolderLock]:
    """Owns the folder of a database file; shares the folder of a server with its other workers.

    Raises what `hold_folder` raises.
    """
    with hold_all(data_dir, store.parent) if isinstance(store, Path) else share(data_dir) as lock:
        yield lock


@contextlib.contextmanager
def share(data_dir: Path) -> Iterator[FolderLock]:
    """Uses the folder (created closed to others if absent) beside other processes of the same server.

    Raises StorageError for a folder that cannot be used.
    """
    try:
        data_dir.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(data_dir, error) from error
    close_to_others(data_dir)
    lock = SharedFolder(data_dir)
    try:
        yield lock
    finally:
        lock._withdraw()


@contextlib.asynccontextmanager
async def alone_in(folder: Path) -> AsyncIterator[None]:
    """Runs the block while no other process of this machine is in it. Creates the folder closed to others if absent.

    Raises StorageError for a folder that cannot be used.
    """
    try:
        await asyncio.to_thread(folder.mkdir, mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        file_lock = _lock_of(folder)
        while True:
            with contextlib.suppress(Timeout):
                file_lock.acquire()
                break
            await asyncio.sleep(_PROBED_S)
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        yield
    finally:
        file_lock.release()


def held(data_dir: Path) -> bool:
    """Whether a process owns the folder now."""
    if not (data_dir / LOCK_FILE).exists():
        return False
    try:
        with _lock_of(data_dir):
            return False
    except Timeout:
        return True
    except OSError as error:
        raise _unusable(data_dir, error) from error


def holder(data_dir: Path) -> Holder | None:
    """The process that claims to own the folder. Valid only while `held`: a killed process leaves its note behind."""
    try:
        note = json.loads((data_dir / HOLDER_FILE).read_text(encoding="utf-8"))
        return Holder(int(note["pid"]), note["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _lock_of(data_dir: Path) -> FileLock:
    # A soft lock, the fallback of file systems without flock, would outlive a killed process.
    return FileLock(data_dir / LOCK_FILE, timeout=0, mode=PRIVATE_FILE, fallback_to_soft=False)


def _unusable(data_dir: Path, error: OSError) -> StorageError:
    return StorageError(f"cannot use the data folder {data_dir}: {error.strerror}")


def _who_holds(data_dir: Path) -> str:
    found = holder(data_dir)
    who = f"process {found.pid}" if found else "another process"
    return f"{who} holds the data folder {data_dir}; one process at a time may use it"
