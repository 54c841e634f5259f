"""A database that turns out to be damaged, or cannot be written, while it is open or opened."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from internal.errors import StorageDamaged, StorageError
from internal.storage.database import Database


def fill(connection: Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE said (n INTEGER PRIMARY KEY, words TEXT)")
    connection.exec_driver_sql(
        "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000) "
        "INSERT INTO said SELECT n, hex(randomblob(200)) FROM n"
    )


def read_all(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT count(*) FROM said WHERE words LIKE '%FF'").scalar_one())


async def damaged(folder: Path) -> Path:
    """A file whose first pages are sound, so that it opens."""
    path = folder / "damaged.db"
    async with Database.open(folder / "sound.db") as database:
        await database.write(fill)
        await database.exclusive(lambda c: c.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all())
    shutil.copy(folder / "sound.db", path)
    with path.open("r+b") as file:
        file.seek(8 * 4096)
        file.write(os.urandom(path.stat().st_size - 8 * 4096))
    return path


async def test_damage_that_a_read_meets_is_told_to_him_and_to_whoever_waits_for_it(tmp_path: Path) -> None:
    """A background job would go on over a damaged file for ever; the program waits for the word, and ends."""
    async with Database.open(await damaged(tmp_path)) as database:
        waiting = asyncio.create_task(database.until_damaged())
        await asyncio.sleep(0)
        assert not waiting.done()
        with pytest.raises(StorageDamaged, match=r"damaged\.db is damaged"):
            await database.read(read_all)
        with pytest.raises(StorageDamaged, match=r"damaged\.db is damaged"):
            await waiting


async def test_damage_that_a_write_meets_is_told_too(tmp_path: Path) -> None:
    """Whatever is written beside it is not harmed by the telling."""
    async with Database.open(await damaged(tmp_path)) as database:
        with pytest.raises(StorageDamaged):
            await database.write(read_all)
        with pytest.raises(StorageDamaged):
            await database.until_damaged()


async def test_a_read_that_fails_is_an_error_of_the_storage(tmp_path: Path) -> None:
    """Whoever waits for a database that refuses can tell it from a fault of his own."""
    async with Database.open(tmp_path / "laplaced.db") as database:
        with pytest.raises(StorageError, match="no such table"):
            await database.read(read_all)


@contextlib.contextmanager
def _read_only(path: Path) -> Iterator[None]:
    if os.geteuid():
        path.chmod(0o400)
        yield
        return
    mounted = [["mount", "--bind", path, path], ["mount", "-o", "remount,bind,ro", path]]
    if any(subprocess.run(words, check=False, capture_output=True).returncode for words in mounted):
        pytest.skip("root cannot be stopped from writing where nothing can be mounted")
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


async def test_a_file_that_cannot_be_written_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    """SQLite would open it without a word, and the first message would be the first to fail."""
    path = tmp_path / "laplaced.db"
    async with Database.open(path):
        pass
    with _read_only(path), pytest.raises(StorageError, match=r"cannot open the database laplaced\.db: it is read-only"):
        async with Database.open(path):
            pass
