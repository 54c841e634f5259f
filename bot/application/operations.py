"""What an operator's commands do over a database: backups, the quarantine, dead runs, the queues."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection

from bot.application.database import LAST_BACKUP
from bot.web.admin.operations import BackupReport, DeadRun, Queues, RunCount
from internal.access import repository as users
from internal.config import Config
from internal.errors import NotFound
from internal.mailbox import repository as mailbox
from internal.mailbox.model import InboxRow, QuarantinedUpdate
from internal.scheduling import run_repository as runs
from internal.scheduling.clock import Clock
from internal.scheduling.run import Run
from internal.storage.backup import backup, postgres_backup
from internal.storage.database import Database
from internal.storage.engine.data_lock import alone_in
from internal.storage.file_permissions import expect_within

SHOWN = 100
"""Quarantined updates in one answer; behind hundreds of them there is one bug."""


async def _leave_in_inbox(_: Sequence[InboxRow]) -> None:
    """Without a running bot the rows wait in the inbox for the next start."""


class Operations:
    """`take_up` begins replayed updates, `wake` lets revived runs start, `on_backup` is called after each backup."""

    def __init__(
        self,
        config: Config,
        database: Database,
        clock: Clock,
        *,
        take_up: Callable[[Sequence[InboxRow]], Awaitable[None]] = _leave_in_inbox,
        wake: Callable[[], None] = lambda: None,
        on_backup: Callable[[datetime], None] = lambda at: None,
    ) -> None:
        self._config, self._database, self._clock = config, database, clock
        self._take_up, self._wake, self._on_backup = take_up, wake, on_backup
        self._one_backup = asyncio.Lock()

    async def back_up(self, to: Path | None) -> BackupReport:
        """Backs up into the data folder, by itself or into the file `to` in it.

        Raises StorageError, and Refused if that file exists or is elsewhere.
        """
        if to is not None:
            await asyncio.to_thread(expect_within, self._config.data_dir, to, "to")
        folder = backup.folder_of(self._config.data_dir)
        async with self._one_backup:
            now = self._clock.now()
            made = await self._back_up_into(folder, now) if to is None else await self._back_up_as(to, now)
            if to is not None:
                await self._database.write(lambda c: users.write_setting(c, LAST_BACKUP, now.isoformat()))
        self._on_backup(now)
        return BackupReport(str(made.path), made.at, made.revision, made.size)

    async def _back_up_into(self, folder: Path, now: datetime) -> backup.Backup:
        path = self._database.path
        if path is not None:
            return await backup.back_up(path, folder, now)
        async with alone_in(folder):  # workers of one machine share it
            return await postgres_backup.back_up(self._database, folder, now)

    async def _back_up_as(self, target: Path, now: datetime) -> backup.Backup:
        path = self._database.path
        if path is not None:
            return await backup.back_up_to(path, target, now)
        return await postgres_backup.back_up_to(self._database, target, now)

    async def quarantined(self) -> list[QuarantinedUpdate]:
        """At most SHOWN, oldest first."""
        return await self._database.read(lambda c: mailbox.quarantine(c, limit=SHOWN))

    async def replay(self, n: int | None) -> int:
        """Works off one quarantined update, or (None) all of them, once more. Raises NotFound for an unknown one."""
        rows = await self._database.write(lambda c: mailbox.replay(c, n))
        _known(len(rows), n)
        await self._take_up(rows)
        return len(rows)

    async def drop(self, n: int | None) -> int:
        """Gives up one quarantined update, or (None) all of them. Raises NotFound for an unknown one."""
        return _known(await self._database.write(lambda c: mailbox.discard(c, n)), n)

    async def dead_runs(self, user_id: int | None) -> list[DeadRun]:
        return [_dead(run) for run in await self._database.read(lambda c: runs.dead(c, user_id))]

    async def revive(self, user_id: int | None) -> int:
        """Gives dead runs of one owner, or (None) of everybody, another series of attempts. Returns how many."""
        now = self._clock.now()

        def work(connection: Connection) -> int:
            owners = {run.user_id for run in runs.dead(connection, user_id)}
            return sum(runs.revive(connection, owner, now) for owner in owners)

        revived = await self._database.write(work)
        self._wake()
        return revived

    async def queues(self) -> Queues:
        """The queues, and the existing backups."""
        made = await asyncio.to_thread(backup.listing, backup.folder_of(self._config.data_dir))
        backups = [BackupReport(str(file.path), file.at, file.revision, file.size) for file in made]

        def read(connection: Connection) -> Queues:
            unread, unread_since = mailbox.unread(connection)
            owed = mailbox.owed(connection)
            counted = [RunCount(agent, state.value, count) for agent, state, count in runs.counts_by_agent(connection)]
            return Queues(unread, unread_since, owed.waiting, owed.oldest_due_at, owed.held, counted, backups)

        return await self._database.read(read)


def _known(count: int, n: int | None) -> int:
    if n is not None and not count:
        raise NotFound(f"no update {n} is in quarantine")
    return count


def _dead(run: Run) -> DeadRun:
    return DeadRun(run.id, run.user_id, run.agent, run.attempts, run.created_at, run.error or "")
