"""Backups while the database is written: one moment, verified, bounded in number, and nothing left of a failed one."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert
from support.paths import ROOT
from support.patience import PATIENCE_S
from support.stores.store_hash import logical_hash

from internal.errors import Refused, StorageDamaged, StorageError
from internal.storage.backup import backup
from internal.storage.crash_points import CRASH_VARIABLE
from internal.storage.database import Database
from internal.storage.migration import head_revision
from internal.storage.tables import events

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
BACK_UP = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from internal.errors import StorageError
from internal.storage.backup.backup import back_up_here
try:
    back_up_here(Path(sys.argv[1]), Path(sys.argv[2]), datetime(2026, 2, 7, 12, tzinfo=UTC))
except StorageError as error:
    print(error)
"""


def fill(connection: Connection, count: int, text: str = "слово " * 200) -> None:
    rows = [
        {
            "id": os.urandom(8).hex(),
            "user_id": None,
            "timestamp": NOON,
            "event_type": "x",
            "source": "s",
            "payload": {"text": text},
        }
        for _ in range(count)
    ]
    connection.execute(insert(events), rows)


def count(path: Path) -> int:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])
    finally:
        connection.close()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for is another thread's work on the disk
            await asyncio.sleep(0.001)


async def test_backup_holds_what_the_database_says(database: Database, tmp_path: Path) -> None:
    """A backup is one private file named by its time and schema, and says exactly what the database says."""
    await database.write(lambda c: fill(c, 500))
    made = await backup.back_up(database.path, tmp_path / "backups", NOON)
    assert made.path.name == f"laplaced-20260207T120000Z-{head_revision()}.db"
    assert os.listdir(tmp_path / "backups") == [made.path.name]
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert made == backup.Backup(made.path, NOON, head_revision(), made.path.stat().st_size)
    assert backup.listing(tmp_path / "backups") == [made]
    wanted = await database.read(logical_hash)
    async with Database.open(made.path) as opened:
        assert await opened.read(logical_hash) == wanted
        await opened.write(lambda c: fill(c, 1))
        assert await opened.read(logical_hash) != wanted


async def test_backup_is_of_one_moment_while_others_write(database: Database, tmp_path: Path) -> None:
    """Writers go on during the copy, neither is the copy begun again by them, and each event is there with its twin."""
    await database.write(lambda c: fill(c, 30_000))
    written, done = 0, asyncio.Event()

    async def keep_writing() -> None:
        nonlocal written
        while not done.is_set():
            await database.write(lambda c: fill(c, 2))
            written += 2

    writing = asyncio.create_task(keep_writing())
    try:
        made = await asyncio.wait_for(backup.back_up(database.path, tmp_path / "backups", NOON), PATIENCE_S)
    finally:
        done.set()
        await writing
    assert written > 20
    assert 30_000 <= count(made.path) < 30_000 + written
    assert count(made.path) % 2 == 0


async def test_longest_wait_of_a_writer_is_short(database: Database, tmp_path: Path) -> None:
    """While 60 MB are copied, no single write waits as long as the copy takes."""
    await database.write(lambda c: fill(c, 25_000))
    loop, waits = asyncio.get_running_loop(), []
    began = loop.time()
    copying = asyncio.create_task(backup.back_up(database.path, tmp_path / "backups", NOON))
    while not copying.done():
        before = loop.time()
        await database.write(lambda c: fill(c, 1))
        waits.append(loop.time() - before)
    await copying
    assert len(waits) > 5
    assert max(waits) < (loop.time() - began) / 2


async def test_newest_backups_stay(database: Database, tmp_path: Path) -> None:
    """Beyond the number kept the oldest goes; a file of another name is nobody's business."""
    folder = tmp_path / "backups"
    for day in range(4):
        await backup.back_up(database.path, folder, NOON + timedelta(days=day), keep=3)
        (folder / "notes.db").touch()
    assert [made.at for made in backup.listing(folder)] == [NOON + timedelta(days=day) for day in (3, 2, 1)]
    assert (folder / "notes.db").exists()


async def test_backup_after_the_clock_was_set_back_stays(database: Database, tmp_path: Path) -> None:
    """The one just made is never taken for the oldest."""
    folder = tmp_path / "backups"
    for day in (10, 11, 1):
        made = await backup.back_up(database.path, folder, NOON + timedelta(days=day), keep=2)
    assert made.path.exists()


async def test_backup_to_a_file_overwrites_nothing(database: Database, tmp_path: Path) -> None:
    """A chosen file is written once; a second time is refused and leaves it as it is."""
    target = tmp_path / "mine.db"
    assert (await backup.back_up_to(database.path, target, NOON)).path == target
    before = target.read_bytes()
    with pytest.raises(Refused, match="overwrites nothing"):
        await backup.back_up_to(database.path, target, NOON)
    assert target.read_bytes() == before
    assert [name for name in os.listdir(tmp_path) if not name.startswith("laplaced")] == ["mine.db"]


async def test_backup_of_a_damaged_database_does_not_count(database: Database, tmp_path: Path) -> None:
    """A copy of a damaged page is found by the verification: told, and not kept."""
    await database.write(lambda c: fill(c, 3000))
    await database.exclusive(lambda c: c.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one())
    broken = tmp_path / "broken.db"
    content = bytearray(database.path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 40_000] = os.urandom(40_000)
    broken.write_bytes(content)
    with pytest.raises(StorageDamaged, match=r"damaged|malformed"):
        await backup.back_up(broken, tmp_path / "backups", NOON)
    assert os.listdir(tmp_path / "backups") == []


@pytest.mark.parametrize("content", [b"", b"dear diary " * 1000])
def test_file_that_is_no_database_is_told(tmp_path: Path, content: bytes) -> None:
    """Neither an empty file nor a diary passes for a backup."""
    (tmp_path / "x.db").write_bytes(content)
    with pytest.raises(StorageError, match=r"x\.db (is no database of Laplaced|cannot be read as a database)"):
        backup.verify(tmp_path / "x.db")
    with pytest.raises(StorageError, match="there is no file"):
        backup.verify(tmp_path / "y.db")


def test_another_programs_database_is_told(tmp_path: Path) -> None:
    """A sound SQLite file of somebody else is not taken."""
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("CREATE TABLE notes (word TEXT)")
    connection.close()
    with pytest.raises(StorageError, match="no database of Laplaced"):
        backup.verify(tmp_path / "x.db")


async def test_verifying_changes_nothing(database: Database, tmp_path: Path) -> None:
    """A backup is read only: no byte of it changes, and nothing is left beside it."""
    made = await backup.back_up(database.path, tmp_path / "backups", NOON)
    before = made.path.read_bytes()
    assert backup.verify(made.path) == head_revision()
    assert (made.path.read_bytes(), os.listdir(tmp_path / "backups")) == (before, [made.path.name])


async def test_cancelled_backup_leaves_nothing(database: Database, tmp_path: Path) -> None:
    """Who stops waiting stops the copy, and the half of it is deleted."""
    await database.write(lambda c: fill(c, 30_000))
    folder = tmp_path / "backups"
    copying = asyncio.create_task(backup.back_up(database.path, folder, NOON))
    await until(lambda: list(folder.glob(".laplaced-*")))
    copying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await copying
    await until(lambda: not os.listdir(folder))


async def test_full_disk_fails_the_backup_and_nothing_else(database: Database, tmp_path: Path) -> None:
    """When the file cannot grow the backup is refused in words, its half is deleted, and the database goes on."""
    await database.write(lambda c: fill(c, 3000))

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    told = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", BACK_UP, database.path, tmp_path / "backups"],
        check=True, capture_output=True, text=True, preexec_fn=small_disk, env=_environment(),
    )  # fmt: skip
    assert "cannot be copied" in told.stdout
    assert os.listdir(tmp_path / "backups") == []
    await database.write(lambda c: fill(c, 1))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
async def test_disk_that_really_is_full(database: Database, tmp_path: Path) -> None:
    """A disk with less room than the database and a reserve is not even begun to be filled."""
    await database.write(lambda c: fill(c, 3000))
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]
    if (await asyncio.to_thread(subprocess.run, mount, check=False, capture_output=True)).returncode:
        pytest.skip("nothing may be mounted here")
    try:
        with pytest.raises(StorageError, match="no room in"):
            await backup.back_up(database.path, disk, NOON)
        assert os.listdir(disk) == []
    finally:
        await asyncio.to_thread(subprocess.run, ["umount", disk], check=True)


@pytest.mark.parametrize("moment", ["during:1", "during:2", "before", "after"])
async def test_killed_backup_harms_nothing(database: Database, tmp_path: Path, moment: str) -> None:
    """SIGKILL during the copy or around its last step: no half backup counts, and the next one clears up."""
    await database.write(lambda c: fill(c, 6000))
    environment = _environment() | {CRASH_VARIABLE: f"backup:{moment}"}
    killed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", BACK_UP, database.path, tmp_path / "backups"],
        check=False, capture_output=True, env=environment,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    finished = backup.listing(tmp_path / "backups")
    assert len(finished) == (moment == "after")
    assert [backup.verify(made.path) for made in finished] == [head_revision()] * len(finished)
    assert await database.read(lambda c: c.exec_driver_sql("PRAGMA quick_check").scalar_one()) == "ok"
    await backup.back_up(database.path, tmp_path / "backups", NOON + timedelta(hours=1))
    assert len(os.listdir(tmp_path / "backups")) == 1 + len(finished)


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}
