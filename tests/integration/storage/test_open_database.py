"""Opening the database at a start: a backup before a migration, damage told, the rest of a killed restore ended."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection
from support.stores.store_hash import logical_hash

import migrations
from bot.application.database import LAST_BACKUP, last_backup, open_database
from internal.access.repository import write_setting
from internal.errors import StorageDamaged, StorageError
from internal.storage.backup import backup
from internal.storage.database import Database
from internal.storage.migration import current_revision, head_revision
from internal.testing import FrozenClock

NEWER = """
from alembic import op
revision = "9000"
down_revision = "{head}"
def upgrade():
    op.execute("CREATE TABLE of_the_future (word TEXT)")
def downgrade():
    raise NotImplementedError
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "laplaced.db"


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
async def stored(path: Path, backups: Path, clock: FrozenClock) -> str:
    """A database of today's program with something in it; its logical hash."""
    async with open_database(path, backups, clock) as database:
        await database.write(lambda c: write_setting(c, "kept", "row"))
        return await database.read(logical_hash)


@pytest.fixture
def newer_program(stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of tomorrow, which brings one more migration."""
    folder = tmp_path / "migrations"
    shutil.copytree(Path(migrations.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "9000_future.py").write_text(NEWER.format(head=head_revision()), encoding="utf-8")
    monkeypatch.setattr(migrations, "__file__", str(folder / "__init__.py"))


def put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def spoil(path: Path, page: int) -> None:
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(content)


def future(connection: Connection) -> bool:
    return connection.exec_driver_sql("SELECT count(*) FROM sqlite_master WHERE name = 'of_the_future'").scalar() == 1


async def test_new_database_needs_no_backup(stored: str, backups: Path) -> None:
    """Neither the first start nor a start without a migration makes one."""
    assert backup.listing(backups) == []


async def test_backup_comes_before_a_migration(
    stored: str, newer_program: None, path: Path, backups: Path, clock: FrozenClock
) -> None:
    """The database is migrated, and what it was stands beside it under its old schema revision."""
    async with open_database(path, backups, clock) as database:
        assert await database.read(future)
        assert await database.read(current_revision) == "9000"
    (made,) = backup.listing(backups)
    assert made.revision != "9000"
    async with Database.open(made.path) as old:
        assert not await old.read(future)
        assert await old.read(logical_hash) == stored
    clock.advance(60)
    async with open_database(path, backups, clock):
        assert backup.listing(backups) == [made]


async def test_migration_waits_for_its_backup(
    stored: str, newer_program: None, path: Path, backups: Path, clock: FrozenClock
) -> None:
    """When the backup cannot be written the start is refused and the database stays as it was."""
    put(backups, b"a file where the folder should be")
    with pytest.raises(StorageError, match="not brought to the new schema, since its backup failed"):
        async with open_database(path, backups, clock):
            pass
    async with Database.open(path) as database:
        assert not await database.read(future)
        assert await database.read(logical_hash) == stored


async def test_emptied_file_is_not_taken_for_a_new_database(
    stored: str, path: Path, backups: Path, clock: FrozenClock
) -> None:
    """An empty file beside backups is damage; without backups it is a first start that was killed early."""
    async with open_database(path, backups, clock) as database:
        await backup.back_up(database.path, backups, clock.now())
    put(path, b"")
    with pytest.raises(StorageDamaged, match="empty, though there are backups"):
        async with open_database(path, backups, clock):
            pass
    shutil.rmtree(backups)
    async with open_database(path, backups, clock) as database:
        assert await database.read(current_revision) == head_revision()


async def test_damage_met_while_running_is_told_too(stored: str, path: Path, backups: Path, clock: FrozenClock) -> None:
    """Whatever read is the first to meet a damaged page, the end is the same sentence."""
    async with Database.open(path) as database:
        root = "SELECT rootpage FROM sqlite_master WHERE name = 'messages'"
        page = await database.read(lambda c: int(c.exec_driver_sql(root).scalar_one()))
    spoil(path, page)
    with pytest.raises(StorageDamaged, match=r"is damaged \(database disk image is malformed\)"):
        async with open_database(path, backups, clock) as database:
            await database.read(logical_hash)


async def test_killed_restore_is_ended_at_the_next_start(
    stored: str, path: Path, backups: Path, clock: FrozenClock
) -> None:
    """Its half-made copy goes, and a second name of the database that was to be replaced."""
    os.link(path, path.with_name(".laplaced.db.replaced"))
    path.with_name(".laplaced.db.restoring").touch()
    async with open_database(path, backups, clock) as database:
        assert await database.read(logical_hash) == stored
    assert os.listdir(path.parent) == ["laplaced.db"]


async def test_last_backup_is_known_after_a_restart(stored: str, path: Path, backups: Path, clock: FrozenClock) -> None:
    """The newest in the folder, or a younger one that was written elsewhere."""
    async with open_database(path, backups, clock) as database:
        assert await last_backup(database, backups) is None
        await backup.back_up(database.path, backups, clock.now())
        assert await last_backup(database, backups) == clock.now()
        later = datetime(2026, 3, 1, tzinfo=UTC)
        await database.write(lambda c: write_setting(c, LAST_BACKUP, later.isoformat()))
        assert await last_backup(database, backups) == later
