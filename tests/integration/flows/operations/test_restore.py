"""Restoring: the same content again, the old file kept, forgotten people stay forgotten, a kill leaves old or new."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, update
from support.paths import ROOT
from support.stores.store_hash import logical_hash, table_hashes

from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxState
from internal.errors import Refused, SchemaTooNew, StorageDamaged, StorageError
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService, ask_forget, undo
from internal.flows.operations.restore import Restored, restore
from internal.people import apply_operations, repository
from internal.people.operations import Added, ApplyContext, SourceLine
from internal.storage.backup import backup
from internal.storage.backup.carry_over import WORKED_OFF_SINCE
from internal.storage.crash_points import CRASH_VARIABLE
from internal.storage.database import Database
from internal.storage.migration import head_revision, migrate
from internal.storage.tables import messages, outbox, people, tombstones, turns, users
from internal.testing import FrozenClock

OWNER, OTHER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
KEY = b"k" * 32
RESTORE = """
import asyncio, sys
from pathlib import Path
from internal.flows.operations.restore import restore
from internal.scheduling.clock import SystemClock
asyncio.run(restore(Path(sys.argv[1]), Path(sys.argv[2]), clock=SystemClock(), tombstone_key=b"k" * 32, force=True))
"""


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "laplaced.db"


@pytest.fixture
async def made(path: Path) -> backup.Backup:
    """A database with two owners who know two people each, and its backup."""
    return await changed(path, lambda c: (migrate(c), [_know(c, user_id) for user_id in (OWNER, OTHER)]))


async def changed(path: Path, work: Callable[[Connection], object]) -> backup.Backup:
    """Changes the database and backs it up; the backup lies beside its folder."""
    async with Database.open(path) as database:
        await database.exclusive(work)
        at = NOON + timedelta(seconds=len(os.listdir(path.parent.parent)))
        return await backup.back_up(database.path, path.parent.parent / "backups", at)


async def reading(path: Path, work: Callable[[Connection], Any]) -> Any:
    async with Database.open(path) as database:
        return await database.read(work)


async def writing(path: Path, *works: Callable[[Connection], object]) -> None:
    async with Database.open(path) as database:
        for work in works:
            await database.write(work)


async def restored(made: backup.Backup, path: Path, clock: FrozenClock, *, force: bool = True) -> Restored:
    return await restore(made.path, path, clock=clock, tombstone_key=KEY, force=force)


def _know(connection: Connection, user_id: int) -> None:
    row = {"user_id": user_id, "role": "member", "state": "active", "name": "Оля", "lang": "ru", "tz": "UTC"}
    connection.execute(insert(users).values(**row, settings={}, created_at=NOON + timedelta(seconds=user_id)))
    said = {"user_id": user_id, "seq": 1, "id": f"m{user_id}", "role": "user", "content": "Привіт", "rev": 1}
    connection.execute(insert(messages).values(**said, timestamp=NOON))
    context = ApplyContext(
        episode_id="episode",
        run_id="run",
        lines={1: SourceLine(NOON, 1, f"m{user_id}")},
        snapshot_rev=repository.current_rev(connection, user_id),
        tombstone_key=KEY,
        now=NOON,
    )
    apply_operations.apply(
        connection, user_id, [Added("Канарейкин", bio="Друг."), Added("Мария", bio="Сестра.")], context
    )


def names(connection: Connection, user_id: int = OWNER) -> list[str]:
    return [person.display_name for person in repository.listing(connection, user_id)]


async def test_backup_wipe_restore_is_the_same_content(made: backup.Backup, path: Path, clock: FrozenClock) -> None:
    """After everything was deleted, the restored database says exactly what was backed up."""
    before = await reading(path, lambda c: (logical_hash(c), table_hashes(c)))
    for file in path.parent.iterdir():
        file.unlink()
    outcome = await restored(made, path, clock, force=False)
    assert outcome == Restored(head_revision(), None, 0, 0)
    assert await reading(path, lambda c: (logical_hash(c), table_hashes(c))) == before
    assert os.listdir(path.parent) == ["laplaced.db"]


async def test_existing_database_is_replaced_only_by_force(made: backup.Backup, path: Path, clock: FrozenClock) -> None:
    """Without --force nothing happens; with it the old database is kept under another name, whole."""
    await writing(path, lambda c: c.execute(delete(messages)))
    newer = await reading(path, logical_hash)
    with pytest.raises(Refused, match="--force"):
        await restored(made, path, clock, force=False)
    assert await reading(path, logical_hash) == newer
    outcome = await restored(made, path, clock)
    assert outcome.kept is not None
    assert outcome.kept.name == "laplaced-replaced-20260207T120000Z.db"
    assert await reading(outcome.kept, logical_hash) == newer
    assert await reading(path, logical_hash) == await reading(made.path, logical_hash)


async def test_log_of_the_replaced_database_is_not_lost_nor_replayed(
    made: backup.Backup, path: Path, clock: FrozenClock
) -> None:
    """What a killed bot left in its log goes with the old database, and never into the new one."""
    script = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('UPDATE messages SET content = ?', ('в журнале',)); os._exit(0)"
    )
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script, path], check=True)
    assert path.with_name("laplaced.db-wal").stat().st_size > 0
    outcome = await restored(made, path, clock)
    assert outcome.kept is not None
    said = select(messages.c.content).where(messages.c.user_id == OWNER)
    assert await reading(path, lambda c: c.execute(said).scalar_one()) == "Привіт"
    assert await reading(outcome.kept, lambda c: c.execute(said).scalar_one()) == "в журнале"


async def test_damaged_database_is_replaced_and_kept_with_its_log(
    made: backup.Backup, path: Path, clock: FrozenClock
) -> None:
    """What cannot be read is kept byte for byte; that nothing could be learnt from it is told."""
    made.path.with_name("x").write_bytes(b"garbage " * 5000)
    os.replace(made.path.with_name("x"), path)
    path.with_name("laplaced.db-wal").write_bytes(b"log")
    outcome = await restored(made, path, clock)
    assert outcome.kept is not None
    assert outcome.forgotten is None
    assert outcome.kept.read_bytes() == b"garbage " * 5000
    assert await reading(path, names) == ["Канарейкин", "Мария"]


async def test_bad_backup_changes_nothing(made: backup.Backup, path: Path, clock: FrozenClock) -> None:
    """A damaged file, another program's, a newer schema: refused before the database is touched."""
    before = await reading(path, logical_hash)
    content = made.path.read_bytes()
    made.path.write_bytes(content[: len(content) // 2])
    with pytest.raises(StorageDamaged):
        await restored(made, path, clock)
    made.path.write_bytes(b"")
    with pytest.raises(StorageError, match="no database of Laplaced"):
        await restored(made, path, clock)
    made.path.write_bytes(content)
    await writing(made.path, lambda c: c.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew):
        await restored(made, path, clock)
    assert await reading(path, logical_hash) == before
    assert os.listdir(path.parent) == ["laplaced.db"]


# Who was forgotten


async def forget(path: Path, clock: FrozenClock, person_id: int | None) -> None:
    async with Database.open(path) as database:
        await database.write(lambda c: ask_forget(c, OWNER, person_id, now=clock.now()))
        clock.advance(UNDO_WINDOW)
        assert await ForgettingService(database, clock, KEY).erase_due() == 1


async def test_person_forgotten_since_does_not_come_back(made: backup.Backup, path: Path, clock: FrozenClock) -> None:
    """Who was erased after the backup is erased from what is restored, down to the bytes, with the tombstone."""
    await forget(path, clock, 1)
    buried = await reading(path, lambda c: c.execute(select(tombstones)).all())
    clock.advance(3600)
    outcome = await restored(made, path, clock)
    assert outcome.forgotten == 1
    assert await reading(path, names) == ["Мария"]
    assert await reading(path, lambda c: names(c, OTHER)) == ["Канарейкин", "Мария"]
    assert await reading(path, lambda c: c.execute(select(tombstones)).all()) == buried
    own = "SELECT count(*) FROM people WHERE user_id = 1 AND display_name = 'Канарейкин'"
    assert await reading(path, lambda c: c.exec_driver_sql(own).scalar_one()) == 0


async def test_everything_forgotten_since_does_not_come_back(
    made: backup.Backup, path: Path, clock: FrozenClock
) -> None:
    """An owner who had everything forgotten has nothing after a restore; others have all of theirs."""
    await forget(path, clock, None)
    for _ in range(2):  # the second restore replaces the first's result, which still knows it
        outcome = await restored(made, path, clock)
        assert outcome.forgotten == 1
        assert await reading(path, names) == []
        assert await reading(path, lambda c: c.execute(select(messages.c.user_id)).scalars().all()) == [OTHER]
        clock.advance(60)


async def test_forgetting_that_waits_waits_on(made: backup.Backup, path: Path, clock: FrozenClock) -> None:
    """Who was asked to be forgotten is hidden after a restore too, until the same moment, and can be brought back."""
    async with Database.open(path) as database:
        asked = await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    await restored(made, path, clock)
    assert await reading(path, names) == ["Мария"]
    await writing(path, lambda c: undo(c, OWNER, asked.id))
    assert await reading(path, names) == ["Канарейкин", "Мария"]


async def test_undone_forgetting_stays_undone(path: Path, made: backup.Backup, clock: FrozenClock) -> None:
    """A backup made while a forgetting waited does not erase whom its owner kept after all."""
    made = await changed(path, lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    waiting = await reading(path, lambda c: c.exec_driver_sql("SELECT id FROM forgettings").scalar_one())
    await writing(path, lambda c: undo(c, OWNER, waiting))
    clock.advance(UNDO_WINDOW * 2)
    await restored(made, path, clock)
    assert await reading(path, names) == ["Канарейкин", "Мария"]


async def test_another_instances_forgettings_are_not_applied(
    made: backup.Backup, path: Path, clock: FrozenClock
) -> None:
    """A database of another origin numbers other people: its forgettings say nothing about these."""
    await forget(path, clock, 1)
    await writing(path, lambda c: c.execute(update(users).values(created_at=NOON - timedelta(days=9))))
    outcome = await restored(made, path, clock)
    assert outcome.forgotten == 0
    assert await reading(path, names) == ["Канарейкин", "Мария"]


async def test_what_was_answered_since_is_not_answered_again(
    made: backup.Backup, path: Path, clock: FrozenClock
) -> None:
    """A turn and a message that were open in the backup and done since stay done; what is open still is."""

    def owe(connection: Connection) -> None:
        turn = {"user_id": OWNER, "bot_id": 1, "chat_id": 1, "state": "running", "first_seq": 1, "last_seq": 1}
        for name in "ab":
            place = {"id": name, "lane": name}
            connection.execute(insert(turns).values(**turn, **place, opened_at=NOON, close_at=NOON))
            row = {"user_id": OWNER, "bot_id": 1, "chat_id": 1, "part": 0, "payload": {"text": "x"}, "due_at": NOON}
            connection.execute(insert(outbox).values(**row, id=name, dedupe=name, state="pending", created_at=NOON))

    made = await changed(path, owe)
    await writing(
        path,
        lambda c: c.execute(update(turns).where(turns.c.id == "a").values(state="closed")),
        lambda c: c.execute(update(outbox).where(outbox.c.id == "a").values(state="sent", tg_id=5, payload={})),
    )
    outcome = await restored(made, path, clock)
    assert outcome.answered == 2
    states = await reading(path, lambda c: c.execute(select(turns.c.id, turns.c.state).order_by(turns.c.id)).all())
    assert [tuple(row) for row in states] == [("a", "closed"), ("b", "running")]
    sent = await reading(path, lambda c: c.execute(select(outbox.c.state, outbox.c.tg_id).order_by(outbox.c.n)).all())
    assert [tuple(row) for row in sent] == [("sent", 5), ("pending", None)]


async def test_an_update_that_was_worked_off_since_is_put_aside(
    made: backup.Backup, path: Path, clock: FrozenClock
) -> None:
    """It was answered from the replaced database: it is kept as it came, for whoever wants it in the restored one."""
    made = await changed(path, lambda c: mailbox.receive(c, 1, [(n, f"raw {n}") for n in (5, 6)], NOON))

    def settle(connection: Connection) -> None:
        first = mailbox.unprocessed_updates(connection)[0]
        mailbox.mark_processed(connection, first.n, InboxState.INGESTED, user_id=OWNER)

    await writing(path, settle)
    outcome = await restored(made, path, clock)
    assert outcome.answered == 1
    assert [row.update_id for row in await reading(path, mailbox.unprocessed_updates)] == [6]
    [aside] = await reading(path, lambda c: mailbox.quarantine(c, limit=9))
    assert (aside.update_id, aside.raw, aside.error) == (5, "raw 5", WORKED_OFF_SINCE)


# Killed


@pytest.mark.parametrize("point", ["backup:during", "restore:before", "restore:after"])
async def test_killed_restore_leaves_the_old_or_the_new(
    made: backup.Backup, path: Path, clock: FrozenClock, point: str
) -> None:
    """SIGKILL while copying or around the exchange: a whole database is there, and the next restore clears up."""
    await writing(path, lambda c: c.execute(delete(people)))
    old, new = await reading(path, logical_hash), await reading(made.path, logical_hash)
    killed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", RESTORE, made.path, path],
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), CRASH_VARIABLE: point},
    )
    assert killed.returncode == -signal.SIGKILL
    assert await reading(path, logical_hash) == (new if point == "restore:after" else old)
    outcome = await restored(made, path, clock)
    assert outcome.kept is not None
    assert await reading(path, logical_hash) == new
    kept = sorted(path.parent.glob("laplaced-replaced-*.db"))
    assert sorted(path.name for path in path.parent.iterdir()) == sorted(["laplaced.db", *(k.name for k in kept)])
    assert old in [await reading(file, logical_hash) for file in kept]
