"""Backups of one installation: made on request, and renewed when older ones hold erased data."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from bot.application.database import LAST_BACKUP
from internal.access import repository as users
from internal.artifacts.store import ArtifactStore
from internal.config.settings import Config
from internal.scheduling.clock import Clock
from internal.storage.backup import backup, postgres_backup
from internal.storage.backup.backup import HELD, Backup
from internal.storage.database import Database
from internal.storage.engine.data_lock import alone_in
from internal.storage.files.permissions import expect_within
from internal.storage.forgetting import forgettings

log = logging.getLogger(__name__)

_SETTLED: Final = timedelta(hours=1)
"""Time from an erasure to the backup after it, so that several erasures share one backup."""

_OFTEN: Final = timedelta(days=1)
"""Shortest time between renewals; without it, daily forgetting would push out a week's backups within hours."""


class Backups:
    """Makes, lists and renews backups; `on_backup` is called after each one."""

    def __init__(
        self, config: Config, database: Database, clock: Clock, on_backup: Callable[[datetime], None] = lambda at: None
    ) -> None:
        self._database, self._clock, self._on_backup = database, clock, on_backup
        self._folder = backup.folder_of(config.data_dir)
        self._one_backup, self._files = asyncio.Lock(), ArtifactStore(config.artifacts.url, config.data_dir)

    async def listing(self) -> list[Backup]:
        """The backups in the data folder, newest first."""
        return await asyncio.to_thread(backup.listing, self._folder)

    async def back_up(self, to: Path | None = None) -> Backup:
        """Backs up into the folder of backups, by itself or into the file `to` in it.

        Raises StorageError, and Refused if that file exists or is elsewhere.
        """
        if to is not None:
            await asyncio.to_thread(expect_within, self._folder, to, "to")
            await asyncio.to_thread(backup.private_folder, self._folder)
        async with self._one_backup:
            now = self._clock.now()
            made = await self._back_up_into(now) if to is None else await self._back_up_as(to, now)
            if to is not None:
                await self._database.write(lambda c: users.write_setting(c, LAST_BACKUP, now.isoformat()))
        await self._files.back_up()
        self._on_backup(now)
        return made

    async def renew(self) -> None:
        """Makes a new backup after an erasure, and deletes backups that have held erased data for longer than HELD.

        Where the data folder has no backup, none is made.
        """
        made, now = await self.listing(), self._clock.now()
        if not made:
            return
        erased = await self._database.read(lambda c: forgettings.first_done(c, made[0].at))
        if erased is not None and now - erased >= _SETTLED and now - made[0].at >= _OFTEN:
            fresh = await self.back_up()
            log.info("backup_renewed", extra={"backup": str(fresh.path)})
            made = await self.listing()
        long_ago = await self._database.read(lambda c: forgettings.last_done(c, now - HELD))
        for old in made[1:]:
            if long_ago is not None and old.at <= long_ago:
                await asyncio.to_thread(old.path.unlink, missing_ok=True)
                log.info("backup_deleted", extra={"backup": str(old.path)})

    async def _back_up_into(self, now: datetime) -> Backup:
        path = self._database.path
        if path is not None:
            return await backup.back_up(path, self._folder, now)
        async with alone_in(self._folder):  # workers on one machine share the folder
            return await postgres_backup.back_up(self._database, self._folder, now)

    async def _back_up_as(self, target: Path, now: datetime) -> Backup:
        path = self._database.path
        if path is not None:
            return await backup.back_up_to(path, target, now)
        return await postgres_backup.back_up_to(self._database, target, now)
