"""One process owns a data folder, and its keys stay private."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from internal.errors import StorageError, StorageLocked
from internal.storage.engine import data_lock
from internal.storage.engine.data_lock import Holder, held, hold_all, hold_folder, holder, share
from internal.storage.files import keys as key_files
from internal.storage.files.permissions import PRIVATE_FOLDER

HOLD_UNTIL_KILLED = """
import sys, time
from pathlib import Path
from internal.storage.engine.data_lock import hold_folder
with hold_folder(Path(sys.argv[1])) as lock:
    lock.announce("http://127.0.0.1:1")
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_second_process_is_refused_with_the_holders_pid(folder: Path) -> None:
    """Who comes second learns which process holds the folder and where it answers."""
    with subprocess.Popen([sys.executable, "-c", HOLD_UNTIL_KILLED, folder], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(StorageLocked, match=f"process {first.pid} holds the data folder"), hold_folder(folder):
            pass
        assert holder(folder) == Holder(first.pid, "http://127.0.0.1:1")
        assert held(folder)
        first.send_signal(signal.SIGKILL)


def test_killed_holder_leaves_no_lock(folder: Path) -> None:
    """After kill -9 the folder is free at once, and the note of the dead process is replaced."""
    with subprocess.Popen([sys.executable, "-c", HOLD_UNTIL_KILLED, folder], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.send_signal(signal.SIGKILL)
    assert not held(folder)
    assert holder(folder) == Holder(first.pid, "http://127.0.0.1:1")
    with hold_folder(folder):
        assert holder(folder) == Holder(os.getpid(), None)


def test_second_owner_in_the_same_process_is_refused_too(folder: Path) -> None:
    """The lock does not mistake two owners in one process for one, and the refused one takes nothing away."""
    with hold_folder(folder):
        for _ in range(2):
            with pytest.raises(StorageLocked), hold_folder(folder):
                pass
        assert holder(folder) == Holder(os.getpid(), None)


def test_folder_is_free_after_the_block(folder: Path) -> None:
    """Leaving the block, by an error too, gives the folder back and takes the note away."""
    with pytest.raises(ZeroDivisionError), hold_folder(folder):
        raise ZeroDivisionError
    assert holder(folder) is None
    assert not held(folder)


def test_asking_takes_nothing(folder: Path) -> None:
    """Looking whether a folder is held neither makes it nor keeps it from the next owner."""
    assert not held(folder)
    assert not folder.exists()
    with hold_folder(folder):
        assert held(folder)
        assert holder(folder) == Holder(os.getpid(), None)


def test_folder_is_private(folder: Path) -> None:
    """A new data folder, deep ones too, is closed to other users of the machine."""
    with hold_folder(folder / "deep"):
        assert stat.S_IMODE((folder / "deep").stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in (folder / "deep").iterdir()} == {0o600}


def test_data_folder_that_was_open_is_closed(tmp_path: Path) -> None:
    """A volume that was mounted open to everybody is closed; the database's own folder may be anybody's and stays."""
    data, database = tmp_path / "data", tmp_path / "elsewhere"
    for folder in (data, database):
        folder.mkdir()
        folder.chmod(0o755)
    with hold_all(data, database):
        assert [stat.S_IMODE(folder.stat().st_mode) for folder in (data, database)] == [0o700, 0o755]
        assert {stat.S_IMODE(file.stat().st_mode) for file in database.iterdir()} == {0o600}


def test_folder_that_cannot_be_one_is_told(tmp_path: Path) -> None:
    """A file in the folder's place is a nameable failure."""
    (tmp_path / "data").write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot use the data folder"), hold_folder(tmp_path / "data"):
        pass


def test_full_disk_is_told(folder: Path) -> None:
    """Who cannot leave his note is told why, leaves nothing behind, and holds nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with hold_folder(folder):
        pass
    before = sorted(folder.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # as if not a byte were left
    try:
        with pytest.raises(StorageError, match=r"cannot use the data folder .*data: "), hold_folder(folder):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not held(folder)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": null, "url": null}', '{"pid": 1}'])
def test_unreadable_note_is_no_holder(folder: Path, text: str) -> None:
    """A note that makes no sense is as good as none."""
    folder.mkdir()
    (folder / data_lock.HOLDER_FILE).write_text(text, encoding="utf-8")
    assert holder(folder) is None


def test_key_is_made_once_and_kept_private(folder: Path) -> None:
    """The same key is given for ever; nobody else on the machine can read it."""
    with hold_folder(folder):
        first = key_files.ensure_key(folder, "server_api_key")
        assert (
            key_files.ensure_key(folder, "server_api_key") == first == key_files.existing_key(folder, "server_api_key")
        )
    assert len(first) == 43
    assert stat.S_IMODE((folder / "server_api_key").stat().st_mode) == 0o600


def test_every_key_is_another(folder: Path) -> None:
    """Different names have different keys, and a missing one is None to who may not make it."""
    with hold_folder(folder):
        assert key_files.existing_key(folder, "hmac_key") is None
        assert key_files.ensure_key(folder, "hmac_key") != key_files.ensure_key(folder, "webhook_secret")


def test_empty_key_file_is_filled(folder: Path) -> None:
    """A file that a crash left empty is no key: an empty key would open the server to everybody."""
    with hold_folder(folder):
        (folder / "hmac_key").write_text("\n", encoding="utf-8")
        assert key_files.ensure_key(folder, "hmac_key")


def test_key_that_cannot_be_read_is_told(folder: Path) -> None:
    """A folder in the key's place is a nameable failure."""
    (folder / "hmac_key").mkdir(parents=True)
    with pytest.raises(StorageError, match="cannot keep the key hmac_key"):
        key_files.ensure_key(folder, "hmac_key")


def test_processes_of_a_server_share_the_folder(folder: Path) -> None:
    """The first that serves commands is found; when it ends, the next takes its place."""
    with share(folder) as first, share(folder) as second:
        assert stat.S_IMODE(folder.stat().st_mode) == PRIVATE_FOLDER
        assert not held(folder)
        first.announce("http://127.0.0.1:1")
        second.announce("http://127.0.0.1:2")
        assert (held(folder), holder(folder)) == (True, Holder(os.getpid(), "http://127.0.0.1:1"))
        first._withdraw()
        assert holder(folder) is None
        second.renew()
        assert (held(folder), holder(folder)) == (True, Holder(os.getpid(), "http://127.0.0.1:2"))
    assert not held(folder)
    assert holder(folder) is None


def test_a_process_that_serves_nothing_is_not_found(folder: Path) -> None:
    """A worker shares the folder without a word."""
    with share(folder) as worker:
        worker.announce(None)
        worker.renew()
        assert not held(folder)


def test_key_that_many_make_at_once_is_one(folder: Path) -> None:
    """Processes that start together agree on a key."""
    folder.mkdir()
    with ThreadPoolExecutor(8) as starting:
        made = set(starting.map(lambda _: key_files.ensure_key(folder, "hmac_key"), range(32)))
    assert len(made) == 1
    assert made == {key_files.existing_key(folder, "hmac_key")}
