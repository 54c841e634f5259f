"""The bytes of artifacts, each kept once under its hash: in a folder, or in a bucket of an S3 server.

Keys and region of S3 come from where Amazon's own tools look for them: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_REGION, AWS_ENDPOINT_URL for a server of one's own, and AWS_ALLOW_HTTP=true for one without TLS.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from internal.errors import StorageError
from internal.storage.file_permissions import PRIVATE_FOLDER, private_copy

if TYPE_CHECKING:
    from obstore.store import ObjectStore

FOLDER = "artifacts"
BACKUPS = Path("backups") / FOLDER


class ArtifactStore:
    """Opened by its first use: the library takes 20 ms to import, and most starts need no file."""

    def __init__(self, url: str, data_dir: Path) -> None:
        self._url, self._folder = url, data_dir / FOLDER
        self._copies = data_dir / BACKUPS
        self._opened: ObjectStore | None = None

    async def put(self, sha256: str, content: bytes) -> None:
        """Keeps these bytes; again is harmless. Raises StorageError."""
        store = self._open()
        try:
            await store.put_async(_path(sha256), content)
        except Exception as error:  # the library's errors have no common class
            raise StorageError(f"the artifact cannot be kept: {_first_line(error)}") from None

    async def get(self, sha256: str) -> bytes | None:
        """The bytes; None if they are not there. Raises StorageError."""
        store = self._open()
        try:
            found = await store.get_async(_path(sha256))
            return bytes(await found.bytes_async())
        except FileNotFoundError:
            return await asyncio.to_thread(_copy_of, self._copies / _path(sha256))
        except Exception as error:
            raise StorageError(f"the artifact cannot be read: {_first_line(error)}") from None

    async def delete(self, sha256: str) -> None:
        """Deletes the bytes, if they are there. Raises StorageError."""
        store = self._open()
        try:
            await store.delete_async(_path(sha256))
        except FileNotFoundError:
            pass  # a process ended between this and what follows
        except Exception as error:
            raise StorageError(f"the artifact cannot be deleted: {_first_line(error)}") from None
        for folder in (self._folder, self._copies):
            await asyncio.to_thread(_remove, folder / _path(sha256))

    async def back_up(self) -> None:
        """Copies what the folder holds beside the backups; a bucket is kept safe by its server."""
        if not self._url:
            await asyncio.to_thread(_copy_missing, self._folder, self._copies)

    def _open(self) -> ObjectStore:
        if self._opened is None:
            from obstore.store import LocalStore, from_url

            if self._url:
                self._opened = from_url(self._url)
            else:
                self._folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
                self._opened = LocalStore(prefix=self._folder)
        return self._opened


def _path(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def _copy_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _copy_missing(source: Path, target: Path) -> None:
    """Content never changes under its hash: what is there is right, unless it was cut short."""
    for path in source.glob("*/*"):
        copy = target / path.relative_to(source)
        if path.is_file() and (not copy.exists() or copy.stat().st_size != path.stat().st_size):
            copy.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            copy.unlink(missing_ok=True)
            private_copy(path, copy)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another file is in it, or there is none
        path.parent.rmdir()


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
