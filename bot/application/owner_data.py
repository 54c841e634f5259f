"""One owner's data as a whole: exported, imported from an export, forgotten."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from internal.access import repository as users
from internal.artifacts.store import ArtifactStore
from internal.config.settings import Config
from internal.errors import Refused
from internal.flows.artifacts.file_bytes import UnusedFiles, files_of, put_files
from internal.flows.forgetting.requests import Erased, ForgettingService
from internal.flows.transfer.export import export_document
from internal.flows.transfer.restore_export import ReadExport, read_back
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.storage.files.permissions import expect_within
from internal.storage.forgetting.forgettings import Kind


async def _no_buffers() -> None:
    """Without a running bot there is no buffer to fill."""


class OwnerData:
    """Exports, imports and erases an owner's data; `on_import` is called after an import, to publish its messages."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        eraser: ForgettingService,
        data_dir: Path,
        store: ArtifactStore | None = None,
        *,
        on_import: Callable[[], Awaitable[object]] = _no_buffers,
    ) -> None:
        self._database, self._clock, self._eraser, self._on_import = database, clock, eraser, on_import
        self._data_dir, self._store = data_dir, store or ArtifactStore("", data_dir)

    async def export(self, user_id: int) -> str:
        now = self._clock.now()
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
            files = await files_of(self._database, self._store, user_id)
            return await self._database.read(lambda c: export_document(c, user_id, now=now, files=files))

    async def forget(self, user_id: int, kind: Kind, ref_id: str | None, *, messages: bool = False) -> Erased:
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
        erased = await self._eraser.erase_now(user_id, kind, ref_id, messages=messages)
        await UnusedFiles(self._database, self._store).delete_due()
        return erased

    async def count_messages(self, user_id: int, kind: Kind, ref_id: str | None) -> int:
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
        return len(await self._eraser.messages_with(user_id, kind, ref_id))

    async def undo(self, user_id: int, forgetting: str) -> None:
        await self._eraser.undo(user_id, forgetting)

    async def read_back(self, user_id: int, file: Path) -> ReadExport:
        await asyncio.to_thread(expect_within, self._data_dir, file, "file")
        document = await asyncio.to_thread(_parse, file)
        await put_files(self._database, self._store, document, self._clock.now())
        with acting_for(user_id):
            done = await self._database.write(lambda c: read_back(c, document, user_id=user_id))
        await self._on_import()
        return done


def _parse(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        raise Refused("file", f"the file cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise Refused("file", "the file is no JSON, or was cut") from None


def import_agents(config: Config) -> list[str]:
    """The agents that work on what is imported."""
    return ["archivist"] if config.agents.archivist.enabled else []
