"""Files that hold people's words are closed to other users of the machine."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from internal.errors import StorageError
from internal.storage.database import Database
from internal.storage.files.permissions import close_to_others, private_database


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """The machine's own setting lets everybody read what is made."""
    before = os.umask(0o000)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def create(connection: Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS notes (word TEXT)")


async def test_new_database_is_closed_with_its_log_and_its_folder(tmp_path: Path) -> None:
    """While it is written to, every file of it is readable by its owner alone."""
    folder = tmp_path / "data"
    async with Database.open(folder / "laplaced.db") as database:
        await database.write(create)
        files = {file.name: mode(file) for file in folder.iterdir()}
    assert files == {"laplaced.db": 0o600, "laplaced.db-wal": 0o600, "laplaced.db-shm": 0o600}
    assert mode(folder) == 0o700


async def test_database_of_before_is_closed_with_the_log_of_a_crash(tmp_path: Path) -> None:
    """What an earlier start left open to everybody is closed at the next; what it says stays."""
    path, kept = tmp_path / "laplaced.db", tmp_path / "kept.db"
    async with Database.open(path) as database:
        await database.write(create)
        for ending in ("", "-wal"):  # as a killed process would leave them
            copied = kept.with_name(kept.name + ending)
            copied.write_bytes(path.with_name(path.name + ending).read_bytes())
            copied.chmod(0o644)
    async with Database.open(kept) as database:
        found = [mode(kept), mode(kept.with_name("kept.db-wal"))]
        assert await database.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM notes").scalar_one()) == 0
    assert found == [0o600, 0o600]


def test_link_to_another_disk_is_followed(tmp_path: Path) -> None:
    """The file behind the link is made closed; the link stays a link."""
    (tmp_path / "laplaced.db").symlink_to(tmp_path / "real.db")
    private_database(tmp_path / "laplaced.db")
    assert mode(tmp_path / "real.db") == 0o600
    assert (tmp_path / "laplaced.db").is_symlink()


async def test_folder_in_the_place_of_the_database_is_told(tmp_path: Path) -> None:
    """It is a nameable failure, and the folder is no file afterwards either."""
    (tmp_path / "laplaced.db").mkdir()
    with pytest.raises(StorageError, match=r"cannot open the database laplaced\.db"):
        async with Database.open(tmp_path / "laplaced.db"):
            pass


@pytest.mark.parametrize(("before", "after"), [(0o755, 0o700), (0o750, 0o700), (0o500, 0o500), (0o1777, 0o1777)])
def test_only_the_rights_of_others_are_taken(tmp_path: Path, before: int, after: int) -> None:
    """The owner's own rights stay as they are, and so does a folder that is shared on purpose."""
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(before)
    close_to_others(folder)
    assert mode(folder) == after
    folder.chmod(0o700)


def test_somebody_elses_folder_is_left_alone(tmp_path: Path) -> None:
    """The rights of another user's folder are his to give."""
    folder = Path("/")
    if os.geteuid() == 0:  # to whom the machine's own folders belong
        folder = tmp_path / "theirs"
        folder.mkdir()
        os.chown(folder, 12345, -1)
    before = mode(folder)
    close_to_others(folder)
    assert mode(folder) == before
