"""Opens the database, as the bot's start does (with a backup before a migration) or as it is, if the bot is stopped."""

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path

from internal.access import repository as users
from internal.config.settings import Config
from internal.errors import StorageDamaged, StorageError
from internal.scheduling.clock import Clock, SystemClock
from internal.storage.backup import backup, postgres_backup, replace_file
from internal.storage.database import Database
from internal.storage.engine.corruption import words_of_damage
from internal.storage.engine.data_lock import alone_in, hold_for
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import bring_up_to_date, current_revision, head_revision, migrate, refuse_newer
from internal.storage.transfer.migrate_store import refuse_draft, refuse_moved

log = logging.getLogger(__name__)

_BACKED_UP = "backed_up_before_migration"

LAST_BACKUP = "last_backup_at"
"""The setting that remembers a backup which was written outside the data folder."""


@contextlib.asynccontextmanager
async def open_database(store: Path | str, backups: Path, clock: Clock) -> AsyncIterator[Database]:
    """Opens and migrates the database. Raises StorageDamaged if an error in the block comes from a damaged file.

    The block acts for everyone, until something in it sets an owner. The caller owns the folder of a file. Raises
    SchemaTooNew, and StorageError when a server cannot be used or the backup before a migration fails: then nothing
    was changed.
    """
    with acting_for_everyone():
        if isinstance(store, str):
            async with Database.open(store) as database:
                await _migrate_server(database, backups, clock)
                yield database
        else:
            async with _open_file(store, backups, clock) as database:
                yield database


@contextlib.asynccontextmanager
async def open_stopped(config: Config) -> AsyncIterator[Database]:
    """Opens the database of an installation whose bot does not run; the block acts for everyone.

    Raises StorageLocked, StorageError when there is no database or its schema is another, and StorageDamaged.
    """
    store = config.store
    with hold_for(store, config.data_dir), damage_reported(store), acting_for_everyone():
        if isinstance(store, Path):
            await asyncio.to_thread(_need_database, store)
        async with Database.open(store) as database:
            if await database.read(current_revision) != head_revision():
                raise StorageError("the database has another schema than this program; start the bot once")
            await database.read(refuse_moved)
            yield database


@contextlib.asynccontextmanager
async def open_as_started(config: Config, *, only_look: bool = False) -> AsyncIterator[Database]:
    """Opens the database of an installation whose bot does not run; creates or migrates it first, as its start does.

    `only_look`: if there is none, an empty one is used and deleted after the block. Raises StorageLocked and what
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


def _need_database(path: Path) -> None:
    if not path.exists():
        raise StorageError(f"there is no database at {path} yet")


async def _migrate_server(database: Database, backups: Path, clock: Clock) -> None:
    async with alone_in(backups):  # if several processes start at once, the first one migrates
        revision = await database.read(current_revision)
        refuse_newer(revision)
        await database.read(refuse_moved)
        if revision not in (None, head_revision()):
            with _refusing_migration():
                made = await postgres_backup.back_up(database, backups, clock.now())
            log.info(_BACKED_UP, extra={"backup": str(made.path)})
        await bring_up_to_date(database)


@contextlib.asynccontextmanager
async def _open_file(path: Path, backups: Path, clock: Clock) -> AsyncIterator[Database]:
    with damage_reported(path):
        await asyncio.to_thread(_prepare, path, backups, clock.now())
        async with Database.open(path) as database:
            await database.read(refuse_moved)
            await database.exclusive(lambda c: migrate(c, before=lambda: _back_up_first(path, backups, clock.now())))
            yield database


@contextlib.contextmanager
def damage_reported(database: Path | str) -> Iterator[None]:
    """Raises errors that come from a damaged database file as StorageDamaged; a server's errors stay as they are."""
    try:
        yield
    except Exception as error:  # outermost handler of the database: any read may be the first to meet the damaged page
        words = words_of_damage(error)
        if isinstance(error, StorageDamaged) or words is None:
            raise
        raise StorageDamaged(f"the database {database} is damaged ({words})") from error


def _prepare(database: Path, backups: Path, now: datetime) -> None:
    replace_file.clear_up(database.resolve(), now)
    refuse_draft(database.resolve())
    if not backup.listing(backups):
        return
    if not database.exists():
        log.warning("new_database_beside_backups", extra={"database": str(database), "backups": str(backups)})
    elif database.stat().st_size == 0 and not database.with_name(f"{database.name}-wal").exists():
        # SQLite takes an empty file for a new database: the bot would silently start with an empty memory.
        raise StorageDamaged(f"the database {database} is empty, though there are backups of it")


def _back_up_first(database: Path, backups: Path, now: datetime) -> None:
    with _refusing_migration():
        made = backup.back_up_here(database, backups, now)
    log.info(_BACKED_UP, extra={"backup": str(made.path)})


@contextlib.contextmanager
def _refusing_migration() -> Iterator[None]:
    try:
        yield
    except StorageDamaged:
        raise
    except StorageError as error:
        raise StorageError(
            f"the database is not brought to the new schema, since its backup failed: {error}"
        ) from error


async def last_backup(database: Database, backups: Path) -> datetime | None:
    """The time of the last backup: the newest in the folder, or one that was written elsewhere."""
    elsewhere = await database.read(lambda c: users.read_setting(c, LAST_BACKUP))
    times = [made.at for made in await asyncio.to_thread(backup.listing, backups)]
    return max([*times, *([datetime.fromisoformat(elsewhere)] if elsewhere else [])], default=None)
