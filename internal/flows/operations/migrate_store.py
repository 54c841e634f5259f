"""Moves an installation's whole store to another place or engine, while no process works on either.

A file is written beside its place and gets its name when its content equals the source's; a server's database is marked
as half a store until then, so that a partly moved store is never opened.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import make_url

from internal.errors import LeaseLost, Refused, StorageError
from internal.scheduling.leases import Leases
from internal.scheduling.run import MOVING, NAME_LENGTH
from internal.storage.backup import backup, postgres_backup, replace_file
from internal.storage.database import Database
from internal.storage.engine import sqlite
from internal.storage.engine.data_lock import LOCK_FILE, hold_folder, hold_for
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import bring_up_to_date, current_revision
from internal.storage.transfer import migrate_store as transfer_migrate_store
from internal.storage.transfer.migrate_store import CopyResult, Progress
from internal.storage.transfer.row_copy import is_empty

_NO_DATABASE: Final = "there is no database at"

_HELD: Final = timedelta(seconds=30)
"""How long a killed command keeps a server's store locked, and the limit for an outage during a move."""


@dataclass(frozen=True, slots=True)
class Move:
    """The result of a move. `kept` is where the target's former content is now, or None."""

    moved: CopyResult
    kept: Path | None


async def migrate_store(
    source: Path | str,
    target: Path | str,
    *,
    now: datetime,
    folder: Path,
    progress: Progress,
    force: bool = False,
    while_running: bool = False,
) -> Move:
    """Moves the content of the source into the target; each is a database file or a server's address.

    The former content of a server's database is kept as a file in `folder`, that of a file beside it. The source is
    marked afterwards, so that no process uses it by mistake, unless `while_running`: then it is copied as it is at this
    moment, even under a bot. Raises StorageLocked and Refused("running") while a process works on a store,
    Refused("same"), Refused("moved") for a marked source unless `force`, and what `transfer_migrate_store.move` raises.
    """
    if name_of(source) == name_of(target):
        raise Refused("same", "the source and the target are one store")
    with contextlib.ExitStack() as held, acting_for_everyone():
        await asyncio.to_thread(_need_folder, source)
        owned = [target] if while_running else [source, target]
        folders = {store.resolve().parent: store.parent for store in owned if isinstance(store, Path)}
        for whole, where in sorted(folders.items()):
            held.callback(_clear_away, [one for one in (whole, *whole.parents) if not one.exists()])
            held.enter_context(hold_folder(where))
        async with _opened(source) as origin, alone(origin, source) if not while_running else nullcontext():
            moved = await origin.read(transfer_migrate_store.moved_away)
            if moved is not None and not force:
                raise Refused("moved", f"the source {moved}; with --force it is moved once more, as it was then")
            if isinstance(target, Path):
                move = await _into_file(origin, name_of(source), Path(name_of(target)), now, progress, force)
            else:
                move = await _into_server(origin, name_of(source), target, now, progress, force, folder)
            if not move.moved.differing and not while_running:
                await origin.write(lambda c: transfer_migrate_store.mark_moved(c, name_of(target), now))
            return move


async def reopen(store: Path | str, data_dir: Path) -> str:
    """Makes a store that was moved elsewhere usable again. Returns where and when it was moved.

    Raises Refused("not_moved"), StorageLocked and StorageError.
    """
    with hold_for(store, data_dir), acting_for_everyone():
        async with _opened(store) as database:
            await database.read(transfer_migrate_store.refuse_half)
            moved = await database.read(transfer_migrate_store.moved_away)
            if moved is None:
                raise Refused("not_moved", f"{name_of(store)} was not moved elsewhere: nothing keeps it from starting")
            await database.write(transfer_migrate_store.forget_move)
            return moved


@contextlib.asynccontextmanager
async def alone(database: Database, store: Path | str) -> AsyncIterator[None]:
    """Keeps other processes from working on the store within the block, as their changes would be lost.

    A file's folder is locked for that; a server without tables needs no lock. Raises Refused("running"), and
    StorageError if the server was out of reach for so long that a process may have started.
    """
    if not database.shared or await database.read(current_revision) is None:
        yield
        return
    leases = Leases(database, secrets.token_hex(NAME_LENGTH // 2))
    if not await leases.take(MOVING, _HELD):
        ended = f"one that was killed counts for {_HELD.seconds} s"
        raise Refused("running", f"another command moves or replaces {name_of(store)} ({ended})")
    try:
        async with leases.kept(MOVING, _HELD):
            await _refuse_workers(leases, store)
            yield
    except LeaseLost:
        raise StorageError(f"{name_of(store)} was out of reach for too long; run the same command again") from None


async def _refuse_workers(leases: Leases, store: Path | str) -> None:
    holders = set((await leases.standing("")).values()) - {leases.holder}
    if holders:
        who = f"{len(holders)} process{'es work' if len(holders) > 1 else ' works'}"
        raise Refused("running", f"{who} on {name_of(store)}; stop every laplaced run and laplaced worker first")


def name_of(store: Path | str) -> str:
    """The place of a store for people to read, without the password."""
    if isinstance(store, Path):
        return str(store.expanduser().resolve())
    address = make_url(store)
    return f"{address.host or 'localhost'}:{address.port or 5432}/{address.database}"


def place_for_replaced(folder: Path, now: datetime) -> Path:
    """The file for the content of a server's database that is replaced."""
    return replace_file.place_for_replaced(folder / "laplaced.db", now)


def _need_folder(store: Path | str) -> None:
    """Raises if the folder of a target does not exist: a mistyped one must not be created."""
    if isinstance(store, Path) and not store.parent.exists():
        raise StorageError(f"{_NO_DATABASE} {store}")


@contextlib.asynccontextmanager
async def _opened(store: Path | str) -> AsyncIterator[Database]:
    if isinstance(store, Path) and not await asyncio.to_thread(store.exists):
        raise StorageError(f"{_NO_DATABASE} {store}")
    async with Database.open(store) as database:
        yield database


async def _into_server(
    origin: Database, name: str, server: str, now: datetime, progress: Progress, force: bool, folder: Path
) -> Move:
    kept: list[Path] = []
    async with Database.open(server) as database:

        async def keep() -> None:
            await asyncio.to_thread(backup.private_folder, folder)
            kept.append((await postgres_backup.back_up_to(database, place_for_replaced(folder, now), now)).path)

        if await database.read(current_revision) is None:
            await transfer_migrate_store.need_source(origin)  # first: if nothing is moved, nothing is created
            await bring_up_to_date(database)
        async with alone(database, server):
            moved = await transfer_migrate_store.copy_store(
                origin, database, name=name, progress=progress, force=force, keep=keep
            )
    return Move(moved, next(iter(kept), None))


async def _into_file(origin: Database, name: str, path: Path, now: datetime, progress: Progress, force: bool) -> Move:
    await asyncio.to_thread(replace_file.clear_up, path, now)
    if not force and await asyncio.to_thread(path.exists):
        async with Database.open(path) as there:
            revision = await there.read(current_revision)
            if revision is not None and not await there.read(is_empty):
                raise Refused(
                    "not_empty", f"there is a database at {path}; with --force it is replaced, and kept aside"
                )
    draft = transfer_migrate_store.draft_of(path)
    await asyncio.to_thread(_drop, transfer_migrate_store.drafts_of(path), draft)
    begun = False
    try:
        async with Database.open(draft) as database:
            try:
                moved = await transfer_migrate_store.copy_store(
                    origin, database, name=name, progress=progress, force=True
                )
            finally:
                begun = await database.read(transfer_migrate_store.is_half)
    except BaseException:
        if not begun:  # the next start would take it for an interrupted move
            sqlite.remove_with_log(draft)
        raise
    if moved.differing:
        return Move(moved, None)
    await asyncio.to_thread(backup.closed_up, draft)
    return Move(moved, await asyncio.to_thread(replace_file.put_in_place, draft, path, now))


def _clear_away(made: Sequence[Path]) -> None:
    """Removes folders, innermost first, that were created for the lock and are still empty."""
    with contextlib.suppress(OSError):
        if made and [file.name for file in made[0].iterdir()] == [LOCK_FILE]:
            (made[0] / LOCK_FILE).unlink()
        for folder in made:
            folder.rmdir()


def _drop(drafts: Iterable[Path], wanted: Path) -> None:
    """Deletes drafts with another version's schema, which cannot be continued."""
    for draft in drafts:
        if draft != wanted:
            sqlite.remove_with_log(draft)
