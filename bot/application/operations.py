"""What an operator asks for besides archiving: a backup, an examination, and another try for what was given up.

The running server does it over its own database; when none runs, the command line does it over the stopped one's.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection

from bot.application.database import LAST_BACKUP, damage_told, open_database
from bot.web.admin.operations import BackupReport, DeadRun, Queues, RunCount
from internal.access import repository as users
from internal.config import Config
from internal.errors import NotFound, StorageError
from internal.flows.operations.health_checks import Check
from internal.mailbox import repository as mailbox
from internal.mailbox.model import InboxRow, QuarantinedUpdate
from internal.scheduling import repository as runs
from internal.scheduling.clock import Clock, SystemClock
from internal.scheduling.model import Run
from internal.scheduling.store_clock import clock_of
from internal.storage.backup import backup, postgres_backup
from internal.storage.database import Database
from internal.storage.engine.data_lock import alone_in, hold_for
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import current_revision, head_revision
from internal.storage.transfer.migrate_store import refuse_half

SHOWN = 100
"""Quarantined updates in one answer; there is one bug behind hundreds of them."""


async def _nobody_works(_: Sequence[InboxRow]) -> None:
    """Without a running bot the rows wait in the inbox for the next start."""


class Operations:
    """`take_up` begins replayed updates, `woken` lets revived runs start, `backed_up` is told of finished backups."""

    def __init__(
        self,
        config: Config,
        database: Database,
        clock: Clock,
        *,
        examine: Callable[[], Awaitable[list[Check]]],
        take_up: Callable[[Sequence[InboxRow]], Awaitable[None]] = _nobody_works,
        woken: Callable[[], None] = lambda: None,
        backed_up: Callable[[datetime], None] = lambda at: None,
    ) -> None:
        self._config, self._database, self._clock = config, database, clock
        self._take_up, self._woken, self._backed_up = take_up, woken, backed_up
        self._one_backup = asyncio.Lock()
        self._examine = examine

    async def examine(self) -> list[Check]:
        return await self._examine()

    async def back_up(self, to: Path | None) -> BackupReport:
        """Backs up into the data folder, or into the file `to`. Raises StorageError, and Refused if the file exists."""
        folder = backup.folder_of(self._config.data_dir)
        async with self._one_backup:
            now = self._clock.now()
            made = await self._backed_up_into(folder, now) if to is None else await self._backed_up_as(to, now)
            if to is not None:
                await self._database.write(lambda c: users.write_setting(c, LAST_BACKUP, now.isoformat()))
        self._backed_up(now)
        return BackupReport(str(made.path), made.at, made.revision, made.size)

    async def _backed_up_into(self, folder: Path, now: datetime) -> backup.Backup:
        path = self._database.path
        if path is not None:
            return await backup.back_up(path, folder, now)
        async with alone_in(folder):  # workers of one machine share it
            return await postgres_backup.back_up(self._database, folder, now)

    async def _backed_up_as(self, target: Path, now: datetime) -> backup.Backup:
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
        """Gives dead runs of one owner, or (None) of everybody, another series of attempts; how many."""
        now = self._clock.now()

        def work(connection: Connection) -> int:
            owners = {run.user_id for run in runs.dead(connection, user_id)}
            return sum(runs.revive(connection, owner, now) for owner in owners)

        revived = await self._database.write(work)
        self._woken()
        return revived

    async def queues(self) -> Queues:
        """What waits, and the backups there are."""
        made = await asyncio.to_thread(backup.listing, backup.folder_of(self._config.data_dir))
        backups = [BackupReport(str(one.path), one.at, one.revision, one.size) for one in made]

        def read(connection: Connection) -> Queues:
            unread, unread_since = mailbox.unread(connection)
            owed = mailbox.owed(connection)
            counted = [RunCount(agent, state.value, count) for agent, state, count in runs.counts_by_agent(connection)]
            return Queues(unread, unread_since, owed.waiting, owed.oldest_due_at, owed.held, counted, backups)

        return await self._database.read(read)


@contextlib.asynccontextmanager
async def open_upkeep(config: Config) -> AsyncIterator[Operations]:
    """Upkeep of an installation whose bot does not run; nothing in it is changed but what is asked for.

    Raises StorageLocked, StorageError when there is no database, StorageDamaged, and StorageError for a schema that
    the next start has to migrate first.
    """
    async with open_stopped(config) as database:
        clock = await clock_of(database)
        yield Operations(config, database, clock, examine=lambda: examine_stopped(config, database, clock))


@contextlib.asynccontextmanager
async def open_stopped(config: Config) -> AsyncIterator[Database]:
    """The database of an installation whose bot does not run, in a block that acts for everyone, as at its start.

    Raises what `open_upkeep` raises.
    """
    store = config.store
    with hold_for(store, config.data_dir), damage_told(store), acting_for_everyone():
        if isinstance(store, Path):
            await asyncio.to_thread(_need_database, store)
        async with Database.open(store) as database:
            if await database.read(current_revision) != head_revision():
                raise StorageError("the database has another schema than this program; start the bot once")
            await database.read(refuse_half)
            yield database


@contextlib.asynccontextmanager
async def open_as_started(config: Config, *, only_look: bool = False) -> AsyncIterator[Database]:
    """The database of an installation whose bot does not run, made or migrated first, as a start of the bot does it.

    `only_look`: where there is none, an empty one that is gone with the block. Raises StorageLocked and what
    `open_database` raises.
    """
    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        store, backups = config.store, backup.folder_of(config.data_dir)
        if only_look and not await _is_made(store):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            store, backups = folder / "laplaced.db", folder / backups.name
        else:
            stack.enter_context(hold_for(store, config.data_dir))
        yield await stack.enter_async_context(open_database(store, backups, clock))


async def _is_made(store: Path | str) -> bool:
    """Whether there is a database already. Raises StorageError for a server that cannot be used."""
    if isinstance(store, Path):
        return await asyncio.to_thread(store.exists)
    async with Database.open(store) as database:
        return await database.read(current_revision) is not None


async def examine_here(config: Config) -> list[Check]:
    """Examines an installation whose bot does not run, whatever state its database is in. Raises StorageLocked."""
    clock, store = SystemClock(), config.store
    on_file = isinstance(store, Path)
    if on_file and not await asyncio.to_thread(config.data_dir.exists):
        return await examine_stopped(config, None, clock)
    with acting_for_everyone(), hold_for(store, config.data_dir) if on_file else contextlib.nullcontext():
        if isinstance(store, Path) and not await asyncio.to_thread(store.exists):
            return await examine_stopped(config, None, clock)
        async with contextlib.AsyncExitStack() as stack:
            opened, trouble = None, ""
            try:
                opened = await stack.enter_async_context(Database.open(store))
            except StorageError as error:
                trouble = str(error)
            return await examine_stopped(config, opened, clock, trouble)


async def examine_stopped(config: Config, database: Database | None, clock: Clock, trouble: str = "") -> list[Check]:
    """`trouble` says why there is no database to look into, if it is not that there was none yet."""
    from bot.application.doctor import Doctor  # with the model client, which a backup does not need

    token = config.telegram.token.get_secret_value()
    telegram = (config.telegram.api_base, token) if token else None
    return await Doctor(config, clock, running=False, telegram=telegram).examine(database, trouble)


def _need_database(path: Path) -> None:
    if not path.exists():
        raise StorageError(f"there is no database at {path} yet")


def _known(count: int, n: int | None) -> int:
    if n is not None and not count:
        raise NotFound(f"no update {n} is in quarantine")
    return count


def _dead(run: Run) -> DeadRun:
    return DeadRun(run.id, run.user_id, run.agent, run.attempts, run.created_at, run.error or "")
