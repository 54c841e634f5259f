"""Restores a backup: verified, migrated, with later forgettings repeated, and only then put in place.

Into a server's database it goes in one transaction.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from internal.errors import Refused, StorageError
from internal.flows.forgetting.hide import hide, show
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.operations.migrate_store import alone, place_for_replaced
from internal.scheduling.clock import Clock
from internal.storage.backup import backup, postgres_backup, replace_file
from internal.storage.backup.carry_over import Legacy, Successor, read_legacy, take_over_answers, take_over_forgettings
from internal.storage.backup.postgres_backup import replace_with
from internal.storage.database import Database
from internal.storage.engine import sqlite
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.forgetting import forgettings
from internal.storage.migration import bring_up_to_date, current_revision, head_revision, migrate, refuse_newer
from internal.storage.transfer.row_copy import is_empty

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Restored:
    """`revision` is the backup's schema. `kept` is where the replaced database is now, None if there was none.

    `forgotten` counts forgettings since the backup that were repeated, None if the replaced database could not be
    read; `answered` turns and messages had been answered since, and are not answered again.
    """

    revision: str
    kept: Path | None
    forgotten: int | None
    answered: int


async def restore(file: Path, database: Path, *, clock: Clock, tombstone_key: bytes, force: bool) -> Restored:
    """Replaces the database with a backup. The caller owns the data folder, and nothing has the database open.

    A kill at any moment leaves the old database or the new one. Raises Refused when there is a database and not
    `force`, SchemaTooNew, StorageDamaged for a damaged backup, and StorageError; then the old database is in use.
    """
    database = await asyncio.to_thread(_prepared, file, database, clock.now(), force)
    draft = replace_file.draft_of(database)
    legacy = await _legacy(database) if await asyncio.to_thread(database.exists) else None
    try:
        revision = await backup.until_stopped(lambda stopped: backup.copy(file, draft, stopped=stopped))
        forgotten, answered = await bring_up(draft, legacy, clock, tombstone_key)
        kept = await asyncio.to_thread(replace_file.put_in_place, draft, database, clock.now())
    except BaseException:
        sqlite.remove_with_log(draft)
        raise
    return Restored(revision, kept, forgotten if legacy is not None or kept is None else None, answered)


def _prepared(file: Path, database: Path, now: datetime, force: bool) -> Path:
    """The database's real path. Raises Refused if it may not be replaced."""
    database = database.resolve()
    with backup.translated_failures("the database's folder cannot be used"):
        database.parent.mkdir(parents=True, exist_ok=True)
    replace_file.clear_up(database, now)
    refuse_newer(backup.verify(file))
    if database.exists() and not force:
        raise Refused("exists", f"there is a database at {database}; with --force it is replaced, and kept aside")
    return database


async def _legacy(database: Path) -> Legacy | None:
    """What only the replaced database knows; None if it cannot be read."""
    try:
        async with Database.open(database) as old:
            return await old.read(read_legacy)
    except (StorageError, SQLAlchemyError):
        log.warning("replaced_database_unreadable", exc_info=True)
        return None


async def bring_up(draft: Path, legacy: Legacy | None, clock: Clock, key: bytes) -> tuple[int, int]:
    """Returns the numbers of forgettings that were repeated, and of answered turns and messages."""
    async with Database.open(draft) as restored:
        await restored.exclusive(migrate)
        if legacy is None:
            return 0, 0
        answered = await restored.write(partial(take_over_answers, legacy=legacy))
        changed = await restored.write(partial(_take_over_forgettings, legacy=legacy, now=clock.now()))
        eraser = ForgettingService(restored, clock, key)
        while await eraser.erase_due():
            pass
        await restored.write(partial(_hide_the_rest, changed=changed))
        return sum(successor.state == "pending" for successor in changed), answered


def _take_over_forgettings(connection: Connection, legacy: Legacy, now: datetime) -> list[Successor]:
    changed = take_over_forgettings(connection, legacy, now)
    for successor in changed:
        if successor.state == "undone":
            show(connection, successor.forgetting)
    return changed


def _hide_the_rest(connection: Connection, changed: Sequence[Successor]) -> None:
    """Hides the targets of forgettings that are not due yet."""
    for successor in changed:
        asked = successor.forgetting
        if forgettings.forgetting_state(connection, asked.user_id, asked.id) == "pending":
            hide(connection, asked, successor.messages)


async def restore_into(
    file: Path, server: str, folder: Path, *, clock: Clock, tombstone_key: bytes, force: bool
) -> Restored:
    """Replaces the content of a server's database with a backup, after writing it into a file of `folder`.

    The caller shares the data folder. A kill at any moment leaves the old content or the new. Raises Refused when the
    database holds something and not `force`, or a process works on it; SchemaTooNew, StorageDamaged for a damaged
    backup, and StorageError.
    """
    refuse_newer(await asyncio.to_thread(backup.verify, file))
    await asyncio.to_thread(backup.private_folder, folder)
    draft = folder / ".laplaced.db.restoring"
    with acting_for_everyone():
        async with Database.open(server) as database, contextlib.AsyncExitStack() as stack:
            if begun := await database.read(current_revision) is not None:
                await stack.enter_async_context(alone(database, server))
            kept = await _keep_replaced_database(database, folder, clock.now(), force)
            await bring_up_to_date(database)
            if not begun:
                await stack.enter_async_context(alone(database, server))
            legacy = await database.read(read_legacy) if kept is not None else None
            try:
                sqlite.remove_with_log(draft)
                revision = await backup.until_stopped(lambda stopped: backup.copy(file, draft, stopped=stopped))
                forgotten, answered = await bring_up(draft, legacy, clock, tombstone_key)
                await database.write(lambda c: replace_with(c, draft))
            finally:
                sqlite.remove_with_log(draft)
    return Restored(revision, kept, forgotten, answered)


async def _keep_replaced_database(database: Database, folder: Path, now: datetime, force: bool) -> Path | None:
    """Saves the content of the database in a file, returned if there is any. Raises Refused and StorageError."""
    revision = await database.read(current_revision)
    refuse_newer(revision)
    if revision is None or (revision == head_revision() and await database.read(is_empty)):
        return None
    if not force:
        raise Refused("exists", "the database holds something; with --force it is replaced, and kept as a file")
    return (await postgres_backup.back_up_to(database, place_for_replaced(folder, now), now)).path
