"""The bytes of an owner's files: exported, restored, and deleted once no artifact of any owner refers to them."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from internal.artifacts import repository as artifacts
from internal.artifacts.store import ArtifactStore
from internal.errors import Refused
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone

FILES: Final = "files"
"""Key of an export for the bytes of files, in base64 by their hash."""

MOST_IN_CHAT: Final = 30 << 20
"""The most bytes of files in an export that goes through Telegram."""


async def files_of(database: Database, store: ArtifactStore, user_id: int, most: int | None = None) -> dict[str, str]:
    """The owner's files, the latest first, up to a number of bytes."""
    with acting_for(user_id):
        kept = await database.read(lambda c: artifacts.listing(c, user_id, limit=100_000))
    found: dict[str, str] = {}
    for file in kept:
        if file.sha256 is None or file.sha256 in found or (most is not None and (file.size or 0) > most):
            continue
        content = await store.get(file.sha256)
        if content is not None:
            found[file.sha256] = base64.b64encode(content).decode()
            most = None if most is None else most - len(content)
    return found


async def put_files(database: Database, store: ArtifactStore, document: Any, now: datetime) -> None:
    """Stores the files of an export. Raises Refused("malformed") for bytes that do not match their hash."""
    files = document.get(FILES) if isinstance(document, Mapping) else None
    for sha256, encoded in (files if isinstance(files, Mapping) else {}).items():
        try:
            content = base64.b64decode(encoded, validate=True)
        except (binascii.Error, TypeError, ValueError):
            content = b""
        if hashlib.sha256(content).hexdigest() != sha256:
            raise Refused("malformed", f"{FILES}.{sha256}: other bytes than its hash says")
        await database.write(lambda c, one=sha256: artifacts.note_file(c, one, now))  # type: ignore[misc]
        await store.put(sha256, content)


class UnusedFiles:
    """Deletes unused files after each erasure, and once after a start, as a process may have ended before that."""

    def __init__(self, database: Database, store: ArtifactStore) -> None:
        self._database, self._store = database, store
        self._look = True

    def forget(self, user_id: int) -> None:
        """Marks files for deletion, as something of this owner was erased."""
        self._look = True

    async def delete_due(self) -> int:
        """Deletes files that no artifact refers to. Returns their number."""
        if not self._look:
            return 0
        with acting_for_everyone():
            unused = await self._database.write(artifacts.unused_files)
            for sha256 in unused:
                await self._store.delete(sha256)
                await self._database.write(lambda c, one=sha256: artifacts.forget_file(c, one))  # type: ignore[misc]
        self._look = False
        return len(unused)
