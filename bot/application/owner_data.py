"""One owner's data as a whole: exported, read back, forgotten; by the running bot or over a stopped one's database."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.web.admin.owner_data import OwnerData as KeepingPort
from internal.access import repository as users
from internal.errors import Refused
from internal.flows.forgetting.requests import Erased, ForgettingService
from internal.flows.transfer.export import export_document
from internal.flows.transfer.import_export import ReadExport, read_back
from internal.scheduling.clock import Clock, SystemClock
from internal.storage.backup import backup
from internal.storage.database import Database
from internal.storage.engine.data_lock import Holder
from internal.storage.engine.owner_scope import acting_for
from internal.storage.erasure.forgettings import Kind
from internal.storage.key_files import ensure_key

if TYPE_CHECKING:
    from internal.config import Config


async def _nothing_buffered() -> None:
    """Without a running bot there is no buffer to fill."""


class OwnerData:
    """`taken_in` is called after an export was read back: what waits in it is to be published and worked on."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        eraser: ForgettingService,
        *,
        taken_in: Callable[[], Awaitable[object]] = _nothing_buffered,
    ) -> None:
        self._database, self._clock, self._eraser, self._taken_in = database, clock, eraser, taken_in

    async def export(self, user_id: int) -> str:
        now = self._clock.now()
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
            return await self._database.read(lambda c: export_document(c, user_id, now=now))

    async def forget(self, user_id: int, kind: Kind, ref_id: str | None, *, messages: bool = False) -> Erased:
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
        return await self._eraser.erase_now(user_id, kind, ref_id, messages=messages)

    async def read_back(self, user_id: int, file: Path) -> ReadExport:
        document = await asyncio.to_thread(_parsed, file)
        with acting_for(user_id):
            done = await self._database.write(lambda c: read_back(c, document, user_id=user_id))
        await self._taken_in()
        return done


@contextlib.asynccontextmanager
async def open_keeping(config: Config, server: Holder | None, *, taking_in: bool = False) -> AsyncIterator[KeepingPort]:
    """Through the running server, or over the data of a stopped one.

    `taking_in`: where there is no database one is made. Raises what `open_stopped` and `open_as_started` raise.
    """
    if server is not None:
        from bot.web.client import RemoteOwnerData

        yield RemoteOwnerData(config, server)
        return
    from bot.application.operations import open_as_started, open_stopped

    async with open_as_started(config) if taking_in else open_stopped(config) as database:
        clock, folder = SystemClock(), backup.folder_of(config.data_dir)
        key = ensure_key(config.data_dir, "hmac_key").encode()
        yield OwnerData(
            database, clock, ForgettingService(database, clock, key, backups=lambda: backup.listing(folder))
        )


def _parsed(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        raise Refused("file", f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise Refused("file", f"{file} is no JSON, or was cut") from None
