"""The bytes of artifacts, each kept once under its hash: in a folder, or in a bucket of an S3 server.

Keys and region of S3 come from where Amazon's own tools look for them: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_REGION, AWS_ENDPOINT_URL for a server of one's own, and AWS_ALLOW_HTTP=true for one without TLS.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from internal.errors import StorageError
from internal.storage.files.permissions import PRIVATE_FILE, PRIVATE_FOLDER

if TYPE_CHECKING:
    from obstore.store import ObjectStore

log = logging.getLogger(__name__)

FOLDER = "artifacts"
BACKUPS = Path("backups") / FOLDER


class ArtifactStore:
    """The store of bytes. It is opened by its first use: the library takes 20 ms to import, and few starts need it."""

    def __init__(self, url: str, data_dir: Path) -> None:
        self._url, self._folder = url, data_dir / FOLDER
        self._copies = data_dir / BACKUPS
        self._opened: ObjectStore | None = None

    async def put(self, sha256: str, content: bytes) -> None:
        """Stores these bytes; idempotent. Raises StorageError."""
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
        await asyncio.to_thread(_remove, self._copies / _path(sha256))  # before the bytes: `_copy` may run now
        try:
            await store.delete_async(_path(sha256))
        except FileNotFoundError:
            pass  # a process ended between this and the next step
        except Exception as error:
            raise StorageError(f"the artifact cannot be deleted: {_first_line(error)}") from None
        await asyncio.to_thread(_remove, self._folder / _path(sha256))

    async def back_up(self) -> None:
        """Copies new files of the folder or bucket to a folder beside the backups, if they match their hash.

        A copy of equal size stays: content never changes under its hash. Raises StorageError.
        """
        try:
            async for batch in self._open().list():
                for found in batch:
                    sha256, copy = found["path"].rpartition("/")[2], self._copies / found["path"]
                    held = await asyncio.to_thread(copy.stat) if await asyncio.to_thread(copy.exists) else None
                    if found["path"] == _path(sha256) and (held is None or held.st_size != found["size"]):
                        await self._copy(sha256, copy)
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"the artifacts cannot be copied: {_first_line(error)}") from None

    async def _copy(self, sha256: str, copy: Path) -> None:
        """Copies a file that matches its hash, and removes the copy if the file was deleted meanwhile."""
        content = await self.get(sha256)
        if content is None:
            return  # forgotten meanwhile
        if hashlib.sha256(content).hexdigest() != sha256:
            log.error("artifact_damaged", extra={"sha256": sha256})
            return
        await asyncio.to_thread(_write, copy, content)
        if not await self._holds(sha256):
            await asyncio.to_thread(_remove, copy)

    async def put_back(self, wanted: Iterable[str]) -> list[str]:
        """Restores missing files from the copies after a restore. Returns the hashes without an intact file.

        Raises StorageError.
        """
        lost = []
        for sha256 in wanted:
            if not await self._holds(sha256):
                content = await asyncio.to_thread(_copy_of, self._copies / _path(sha256))
                if content is None or hashlib.sha256(content).hexdigest() != sha256:
                    lost.append(sha256)
                else:
                    await self.put(sha256, content)
        return lost

    async def _holds(self, sha256: str) -> bool:
        try:
            await self._open().head_async(_path(sha256))
        except FileNotFoundError:
            return False
        except Exception as error:
            raise StorageError(f"the artifact cannot be read: {_first_line(error)}") from None
        return True

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


def _write(path: Path, content: bytes) -> None:
    """Writes a file that is complete or absent after a kill."""
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "wb") as writing:
        writing.write(content)
        os.fsync(writing.fileno())
    draft.replace(path)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another file is in it, or there is none
        path.parent.rmdir()


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
