"""`laplaced migrate-store`, `backup` and `restore` as their user meets them, from a file to the store under test."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Connection, create_engine, func, insert, select, update
from support.stores.store_hash import logical_hash
from support.stores.stores import where

from bot.application.database import open_database
from bot.application.doctor import examine_here
from bot.cli.main import main
from internal.config.settings import load
from internal.errors import StorageError
from internal.flows.operations.health_checks import Level
from internal.scheduling.clock import SystemClock
from internal.storage.backup.backup import back_up_here
from internal.storage.database import Database
from internal.storage.engine.data_lock import hold_folder
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.migration import migrate
from internal.storage.tables import messages, users
from internal.storage.transfer.migrate_store import draft_of, forget_move
from internal.storage.types import from_micros

WORDS = "Канарейкин разводит канареек"
SOURCE = "sqlite:///data/laplaced.db"


def talked(connection: Connection) -> None:
    row = {"user_id": 500, "role": "owner", "state": "active", "name": "Олена", "lang": "uk", "tz": "Europe/Kyiv"}
    connection.execute(insert(users).values(**row, settings={}, created_at=from_micros(1)))
    said = {"user_id": 500, "seq": 1, "id": "m1", "role": "user", "content": WORDS, "rev": 1}
    connection.execute(insert(messages).values(**said, timestamp=from_micros(2)))


def at(place: Path | str, work: Callable[[Connection], Any]) -> Any:
    """What `work` finds or does in a store of the newest schema."""

    async def opened() -> Any:
        async with Database.open(place) as database:
            await database.exclusive(migrate)
            return await database.write(work)

    with acting_for_everyone():
        return asyncio.run(opened())


def address_of(place: Path | str) -> str:
    return f"sqlite:///{place}" if isinstance(place, Path) else place


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installation whose bot does not run and heard one thing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    at(tmp_path / "data" / "laplaced.db", talked)
    return tmp_path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path | str]:
    there = where(tmp_path / "there")
    yield there
    if not isinstance(there, Path):
        at(there, forget_move)


def laplaced(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_move_tells_both_hashes(folder: Path, place: Path | str) -> None:
    """A move says how many rows went, both hashes, and what to do next, with the source too, which stays as it is."""
    wanted = at(folder / "data" / "laplaced.db", logical_hash)
    done = laplaced("migrate-store", SOURCE, address_of(place))
    assert (done.exit_code, done.stdout.count(wanted)) == (0, 2), done.output
    assert done.stdout.startswith("moved 2 rows\n")
    assert "storage.url" in done.stdout
    assert "delete it once you are sure" in done.stdout
    assert at(place, logical_hash) == wanted == at(folder / "data" / "laplaced.db", logical_hash)


def test_second_move_needs_force(folder: Path, place: Path | str) -> None:
    """What is in the target is replaced only by --force, and then kept as a file whose name is told."""
    assert laplaced("migrate-store", SOURCE, address_of(place)).exit_code == 0
    at(place, lambda c: c.execute(update(messages).values(content="другое")))
    before = at(place, logical_hash)
    refused = laplaced("migrate-store", SOURCE, address_of(place))
    assert (refused.exit_code, "--force" in refused.stderr) == (1, True)
    done = laplaced("migrate-store", "--force", SOURCE, address_of(place))
    assert done.exit_code == 0, done.output
    [kept] = [line.rsplit(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith("what was in TO")]
    assert at(folder / kept, logical_hash) == before


def test_running_bot_is_not_moved(folder: Path, place: Path | str) -> None:
    """While a process holds the file's folder the move is refused; a copy of the moment is made if it is asked for."""
    with hold_folder(folder / "data"):
        refused = laplaced("migrate-store", SOURCE, address_of(place))
        assert (refused.exit_code, "holds the data folder" in refused.stderr) == (1, True)
        done = laplaced("migrate-store", "--while-running", SOURCE, address_of(place))
    assert done.exit_code == 0, done.output
    assert at(place, lambda c: c.execute(select(messages.c.content)).scalars().all()) == [WORDS]


def test_a_moved_store_does_not_start_by_mistake(
    folder: Path, place: Path | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a bot nor a command opens it, doctor tells where it went; `reopen` lets it start all the same.

    What it was moved to starts, and moves back, whereupon that is the one that does not.
    """
    old = folder / "data" / "laplaced.db"
    assert laplaced("migrate-store", SOURCE, address_of(place)).exit_code == 0

    async def started(store: Path | str) -> None:
        async with open_database(store, folder / "backups", SystemClock()):
            pass

    with pytest.raises(StorageError, match=r"was moved to .* laplaced reopen"):
        asyncio.run(started(old))
    refused = laplaced("export", "--user", "500")
    assert (refused.exit_code, refused.stdout, "laplaced reopen" in refused.stderr) == (1, "", True)
    examined = asyncio.run(examine_here(load(None, {})))
    assert "database-moved" in [check.key for check in examined if check.level is Level.FINDING]
    elsewhere = laplaced("migrate-store", SOURCE, "sqlite:///third/laplaced.db")
    assert (elsewhere.exit_code, "--force" in elsewhere.stderr) == (1, True)
    asyncio.run(started(place))

    assert laplaced("reopen").exit_code == 0
    asyncio.run(started(old))
    again = laplaced("reopen")
    assert (again.exit_code, "not moved elsewhere" in again.stderr) == (1, True)

    assert laplaced("migrate-store", "--force", address_of(place), SOURCE).exit_code == 0
    asyncio.run(started(old))
    with pytest.raises(StorageError, match="laplaced reopen"):
        asyncio.run(started(place))
    monkeypatch.setenv("LAPLACED_STORAGE__URL", address_of(place))
    restored = laplaced("restore", "--force", str(_backup_of(old, folder)))
    assert restored.exit_code == 0, restored.output
    asyncio.run(started(place))


def _backup_of(database: Path, folder: Path) -> Path:
    return back_up_here(database, folder / "backups", SystemClock().now()).path


def test_a_copy_of_the_moment_leaves_the_source_at_work(folder: Path, place: Path | str) -> None:
    """With --while-running nothing is moved away: the source starts as before."""
    assert laplaced("migrate-store", "--while-running", SOURCE, address_of(place)).exit_code == 0
    assert laplaced("reopen").exit_code == 1
    assert laplaced("export", "--user", "500").exit_code == 0


def test_addresses_are_judged_before_anything(place: Path | str) -> None:
    """No address, one store twice, a source that is not there: one line, and nothing is made."""
    assert laplaced("migrate-store", "data/laplaced.db", address_of(place)).exit_code == 2
    same = laplaced("migrate-store", SOURCE, "sqlite:///./data/laplaced.db")
    assert (same.exit_code, "one store" in same.stderr) == (1, True)
    missing = laplaced("migrate-store", "sqlite:///data/other.db", address_of(place))
    assert (missing.exit_code, "no database" in missing.stderr) == (1, True)
    assert sorted(os.listdir("data")) == ["laplaced.db", "laplaced.lock"]


def test_refused_move_leaves_no_folder(folder: Path) -> None:
    """Folders made to be held for TO are gone again; one that was there stays, and so does what is in it."""
    refused = laplaced("migrate-store", "sqlite:///data/other.db", "sqlite:///new/deeper/laplaced.db")
    assert (refused.exit_code, "no database" in refused.stderr) == (1, True)
    assert sorted(os.listdir(folder)) == ["data"]
    (folder / "mine").mkdir()
    assert laplaced("migrate-store", "sqlite:///data/other.db", "sqlite:///mine/laplaced.db").exit_code == 1
    assert laplaced("migrate-store", SOURCE, "sqlite:///new/laplaced.db").exit_code == 0
    assert sorted(os.listdir(folder)) == ["data", "mine", "new"]


def test_half_moved_file_is_not_begun_anew(folder: Path) -> None:
    """Where a move to a file was interrupted, nothing opens an empty database in its place, and doctor tells it."""
    target = folder / "there" / "laplaced.db"
    target.parent.mkdir()
    draft_of(target).touch()

    async def started() -> None:
        async with open_database(target, folder / "backups", SystemClock()):
            raise AssertionError("it was opened")

    with pytest.raises(StorageError, match="interrupted"):
        asyncio.run(started())
    assert not target.exists()
    examined = asyncio.run(examine_here(load(None, {"LAPLACED_STORAGE__URL": f"sqlite:///{target}"})))
    assert [check.key for check in examined if check.level is Level.FINDING] == ["database-half"]
    assert laplaced("migrate-store", SOURCE, f"sqlite:///{target}").exit_code == 0
    assert sorted(os.listdir(target.parent)) == ["laplaced.db", "laplaced.lock"]


def test_backup_and_restore_over_the_store(folder: Path, place: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup of the store is a database file; restored by force, it says the same again."""
    assert laplaced("migrate-store", SOURCE, address_of(place)).exit_code == 0
    monkeypatch.setenv("LAPLACED_STORAGE__URL", address_of(place))
    wanted = at(place, logical_hash)
    made = laplaced("backup", "--to", str(folder / "monday.db"))
    assert made.exit_code == 0, made.output
    engine = create_engine(f"sqlite:///{folder / 'monday.db'}")
    with engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(messages)).scalar_one() == 1
    engine.dispose()
    at(place, lambda c: c.execute(update(messages).values(content="другое")))
    assert laplaced("restore", str(folder / "monday.db")).exit_code == 1
    done = laplaced("restore", "--force", str(folder / "monday.db"))
    assert (done.exit_code, "is kept" in done.stdout) == (0, True), done.output
    assert at(place, logical_hash) == wanted
