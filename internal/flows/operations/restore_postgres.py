"""Restores a backup into a server's database, with later forgettings done again, in one transaction."""

import asyncio
import contextlib
from datetime import datetime
from pathlib import Path

from internal.errors import Refused
from internal.flows.operations.migrate_store import alone, place_for_replaced
from internal.flows.operations.restore import Restored, bring_up
from internal.scheduling.clock import Clock
from internal.storage.backup import backup, postgres_backup
from internal.storage.backup.carry_over import read_legacy
from internal.storage.backup.replace_server import replace_with
from internal.storage.database import Database
from internal.storage.engine import sqlite
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import bring_up_to_date, current_revision, head_revision, refuse_newer
from internal.storage.transfer.row_copy import is_empty


async def restore_into(
    file: Path, server: str, folder: Path, *, clock: Clock, tombstone_key: bytes, force: bool
) -> Restored:
    """Replaces the content of a server's database with a backup, after writing it into a file of `folder`.

    The caller shares the data folder. A kill at any moment leaves the old content or the new. Raises Refused when the
    database holds something and not `force`, or when somebody works on it; SchemaTooNew, StorageDamaged for a damaged
    backup, and StorageError.
    """
    refuse_newer(await asyncio.to_thread(backup.verify, file))
    await asyncio.to_thread(backup.private_folder, folder)
    draft = folder / ".laplaced.db.restoring"
    with acting_for_everyone():
        async with Database.open(server) as database, contextlib.AsyncExitStack() as stack:
            if begun := await database.read(current_revision) is not None:
                await stack.enter_async_context(alone(database, server))
            kept = await _kept(database, folder, clock.now(), force)
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


async def _kept(database: Database, folder: Path, now: datetime, force: bool) -> Path | None:
    """The file with the content of the database, None if it has none. Raises Refused and StorageError."""
    revision = await database.read(current_revision)
    refuse_newer(revision)
    if revision is None or (revision == head_revision() and await database.read(is_empty)):
        return None
    if not force:
        raise Refused("exists", "the database holds something; with --force it is replaced, and kept as a file")
    return (await postgres_backup.back_up_to(database, place_for_replaced(folder, now), now)).path
