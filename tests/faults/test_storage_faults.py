"""The disk is full, the file locked, read-only or broken: what was said waits, and the operator is told what to do."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import shlex
import shutil
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from support.faults.fault_record import proving
from support.faults.fault_stage import OFFLINE, Stage, added, quiet, under_faults
from support.long import LONG
from support.product.running_product import ARCHIVIST, RESPONDER, at_rest, content, until

from internal.storage.engine.sqlite import BUSY_TIMEOUT_MS

pytestmark = pytest.mark.asyncio(loop_scope="module")

DISK_MB = 80
LOCKED_S = 60 if LONG else BUSY_TIMEOUT_MS / 1000 + 1.5
"""Longer than a statement waits for a lock, so that work really fails meanwhile."""

LARGEST_FILE = 64 * 1024

MESSAGES = 12 if LONG else 5
LONG_TEXT = "A long story about Sofia. " * 100


# -- disks -------------------------------------------------------------------------------------------------------------


def mount(*words: str) -> bool:
    """Whether the kernel did it: only root may, and not in every container."""
    return subprocess.run(["mount", *words], check=False, capture_output=True).returncode == 0


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A disk of its own under the folder; False where none can be mounted."""
    folder.mkdir(mode=0o700)
    mounted = mount("-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=700", "tmpfs", str(folder))
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[None]:
    """Nobody can write there: a read-only mount for root, whom no mode stops; modes for others."""
    if os.geteuid():
        mode = path.stat().st_mode
        path.chmod(mode & ~0o222)
        yield
        path.chmod(mode)
        return
    if not (mount("--bind", str(path), str(path)) and mount("-o", "remount,bind,ro", str(path))):
        pytest.skip("root cannot be stopped from writing where nothing can be mounted")
    try:
        yield
    finally:
        subprocess.run(["umount", str(path)], check=True)


@contextlib.contextmanager
def full(folder: Path) -> Iterator[None]:
    """Not a byte is left on the folder's disk."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size) == size:
                    pass
    try:
        yield
    finally:
        ballast.unlink()


@contextlib.contextmanager
def no_growth(stage: Stage) -> Iterator[None]:
    """No file of the process may grow, as if its quota were used up: neither its database nor its log."""
    process = stage.bot.process
    assert process is not None
    before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (LARGEST_FILE, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)


async def readiness(stage: Stage) -> tuple[int, list[str]]:
    answer = await stage.call("GET", "/readyz")
    return answer.status_code, answer.json().get("failing", [])


async def unready(stage: Stage) -> bool:
    status, failing = await readiness(stage)
    return status == 503 and "database" in failing


async def ready(stage: Stage) -> bool:
    return (await readiness(stage))[0] == 200


async def spoken_through(stage: Stage, fault: contextlib.AbstractContextManager[None], seconds: float) -> None:
    """People talk while nothing can be written; afterwards all of it is there once, in order, and answered."""
    people = [await stage.newcomer() for _ in range(5 if LONG else 3)]
    said = {user: [f"{number} {LONG_TEXT}" for number in range(MESSAGES)] for user in people}
    with fault:
        for number in range(MESSAGES):
            for user in people:
                await stage.people.say(user, said[user][number])
        await until(lambda: unready(stage), within=seconds + 30)
        await asyncio.sleep(seconds)
        assert stage.bot.process is not None
        assert stage.bot.process.returncode is None
    await until(lambda: ready(stage))
    query = "SELECT content FROM messages WHERE user_id = ? AND role = 'user' ORDER BY seq"
    for user in people:
        wanted = [(text.strip(),) for text in said[user]]
        await until(lambda user=user, wanted=wanted: stage.bot.rows(query, user) == wanted)
        await stage.settled(user)
        assert set(await stage.seen(user)) == {OFFLINE}
    answered = "SELECT count(*) FROM turns WHERE user_id = ? AND state != 'closed'"
    assert [stage.bot.rows(answered, user) for user in people] == [[(0,)]] * len(people)


async def test_full_disk_loses_nothing(stage: Stage, disk: bool) -> None:
    """Nothing is confirmed that is not stored; the bot lives, is not ready, and goes on once there is room.

    Backups are refused before it comes to that, since the running bot needs the room more.
    """
    if not disk:
        pytest.skip("no disk can be mounted here; the next test does without one")
    with proving("storage", "the disk is full", "it lives, is not ready, loses and doubles nothing"):
        await spoken_through(stage, full(stage.bot.data_dir), 2.0)
    with proving("storage", "a backup without room for it", "refused with the reason, nothing left behind"):
        ballast = stage.bot.data_dir / "ballast"
        ballast.write_bytes(b"x" * ((DISK_MB - 40) << 20))
        code, _, err = await stage.laplaced("backup")
        ballast.unlink()
        assert (code, err.count("\n")) == (1, 1)
        assert err.startswith("laplaced: no room in ")
        assert list((stage.bot.data_dir / "backups").glob("*")) == []


async def test_a_file_that_cannot_grow_loses_nothing(stage: Stage) -> None:
    """An I/O error at each write is survived as a full disk is."""
    with proving("storage", "every write that needs room fails", "it lives, is not ready, loses and doubles nothing"):
        await spoken_through(stage, no_growth(stage), 1.0)


@contextlib.contextmanager
def locked(database: Path) -> Iterator[None]:
    """Another program holds the write lock."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None, timeout=30)) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")


async def test_a_database_locked_by_another_program_is_waited_for(stage: Stage) -> None:
    """Longer than a statement waits: not ready meanwhile; what was said is stored and answered once afterwards."""
    with proving("storage", "another program holds the write lock", "waited for; nothing lost, nothing doubled"):
        user = await stage.newcomer()
        assert await stage.ask(user, "Before") == OFFLINE
        with locked(stage.bot.data_dir / "laplaced.db"):
            begun = time.monotonic()
            await stage.people.say(user, "Meanwhile")
            await until(lambda: unready(stage))
            await asyncio.sleep(max(0.0, LOCKED_S - (time.monotonic() - begun)))
        await until(lambda: ready(stage))
        assert await stage.ask(user, "After") == OFFLINE
        await stage.settled(user)
        stored = stage.bot.rows("SELECT content FROM messages WHERE user_id = ? AND role = 'user' ORDER BY seq", user)
        assert stored == [("Before",), ("Meanwhile",), ("After",)]


async def test_backup_wipe_restore_is_the_same_content(stage: Stage, tmp_path: Path) -> None:
    """All that these faults left is backed up by the running bot, deleted, restored: the same to the last row."""
    with proving("storage", "backup, wipe, restore", "the same logical content hash, through the real commands"):
        saved = tmp_path / "saved.db"
        for user in [row[0] for row in stage.bot.rows("SELECT DISTINCT user_id FROM messages")]:
            await stage.settled(user)
        await at_rest(stage.bot.data_dir)
        code, _, _ = await stage.laplaced("backup", "--to", str(saved))
        assert code == 0
        assert await stage.bot.stop() == 0
        before = await content(stage.bot.data_dir)
        for file in stage.bot.data_dir.glob("laplaced.db*"):
            file.unlink()
        code, _, _ = await stage.laplaced("restore", str(saved))
        assert code == 0
        assert await content(stage.bot.data_dir) == before
        assert (await stage.laplaced("backup"))[0] == 0


def overwritten(database: Path) -> None:
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(database.stat().st_size - 4096))


def without_header(database: Path) -> None:
    with database.open("r+b") as file:
        file.write(b"This is no database at all.")


def cut_in_half(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def emptied(database: Path) -> None:
    os.truncate(database, 0)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "its pages are overwritten": overwritten,
    "it is empty, though there are backups": emptied,
    "its header is overwritten": without_header,
    "it is cut in half": cut_in_half,
}


@pytest.mark.parametrize("name", DAMAGES if LONG else [*DAMAGES][:1])
async def test_broken_database_is_told_with_the_command_that_helps(stage: Stage, tmp_path: Path, name: str) -> None:
    """The start ends with 1 and one line that names the newest backup; the command in that line mends it."""
    with proving("storage", f"the database file is broken: {name}", "exit code 1, one line, the restore command works"):
        data = tmp_path / "data"
        shutil.copytree(stage.bot.data_dir, data)
        before = await content(data)
        DAMAGES[name](data / "laplaced.db")
        code, _, err = await stage.laplaced("run", LAPLACED_DATA_DIR=str(data))
        said = err.splitlines()[-1]
        assert code == 1
        assert said.startswith(f"laplaced: the database {data / 'laplaced.db'} is ")
        command = shlex.split(said.split("to restore it: laplaced ")[1])
        assert (await stage.laplaced(*command, LAPLACED_DATA_DIR=str(data)))[0] == 0
        assert await content(data) == before


@pytest.mark.parametrize(
    ("name", "wanted"), [("laplaced.db", "open the database laplaced.db: "), ("", "use the data folder ")]
)
async def test_read_only_is_told_in_one_line(stage: Stage, tmp_path: Path, name: str, wanted: str) -> None:
    """A start on a database or a folder that cannot be written ends with 1 and names it; nothing is changed."""
    with proving("storage", f"a read-only {'database' if name else 'folder'}", "exit code 1, one line that names it"):
        data = tmp_path / "data"
        shutil.copytree(stage.bot.data_dir, data)
        with read_only(data / name):
            code, _, err = await stage.laplaced("run", LAPLACED_DATA_DIR=str(data))
        assert code == 1
        assert err.splitlines()[-1].startswith(f"laplaced: cannot {wanted}")


async def test_damage_under_the_running_bot_ends_it(stage: Stage) -> None:
    """A page that breaks while the bot runs: it ends with 1 and the command that helps, rather than go on half."""
    with proving("storage", "the file breaks under the running bot", "exit code 1, one line, the restore command"):
        await stage.bot.start()
        user = await stage.newcomer()
        assert await stage.ask(user, "Before") == OFFLINE
        database = stage.bot.data_dir / "laplaced.db"
        with contextlib.closing(sqlite3.connect(database)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        overwritten(database)
        await stage.people.say(user, "Meanwhile")
        assert await stage.bot.ended() == 1
        assert "to restore it: laplaced restore" in stage.bot.log.read_text().splitlines()[-1]


# -- the product -------------------------------------------------------------------------------------------------------


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def folder(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Path, bool]]:
    folder = tmp_path_factory.mktemp("storage")
    with small_disk(folder / "data") as mounted:
        yield folder, mounted


@pytest.fixture(scope="module")
def disk(folder: tuple[Path, bool]) -> bool:
    """Whether the product has a small disk of its own."""
    return folder[1]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(folder: tuple[Path, bool]) -> AsyncIterator[Stage]:
    async with under_faults(folder[0]) as running:
        running.model.script(ARCHIVIST, added("Sofia"))
        running.model.always(RESPONDER, OFFLINE)
        quiet(running.model)
        await running.bot.start()
        yield running
