"""Programs of the product as processes: by fork from one that has imported them, or fresh from the interpreter."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol

from support.paths import ROOT

from bot.shared.child_process import begun, kept_alive
from bot.simulator.launch import DEFAULT_TOKEN, LocalTelegram

BOT, TELEGRAM = "bot", "bot.simulator.local_telegram"
IMPORTED = {
    BOT: ("bot.runtime.bot", "bot.application.operations", "bot.application.doctor", "preloaded"),
    TELEGRAM: ("uvicorn", "bot.simulator.server.server", "nicegui", "bot.simulator.page.chat_page"),
}
"""By program, what makes its start long. Not the program itself: that is executed anew in each copy."""
RUN = "PYTEST_XDIST_TESTRUNUID"
"""The variable that the workers of a run of tests have in common."""
BEFORE_PYTHON = {"PYTHONPATH": str(ROOT)}
"""What acts while an interpreter starts: a copy of a running one heeds no more than a `sitecustomize` before it."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""numpy would start a thread for each processor when it is imported, and a fork would lose them."""
LONGEST_LINE = 2**20
IMPORTS_WITHIN_S, COMPLETED_WITHIN_S, LAST_WORDS_S = 120.0, 60.0, 1.0


class Process(Protocol):
    """What asyncio's own process and a forked one have in common."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    @property
    def stdout(self) -> asyncio.StreamReader | None: ...
    @property
    def stderr(self) -> asyncio.StreamReader | None: ...
    async def wait(self) -> int: ...
    async def communicate(self) -> tuple[bytes, bytes]: ...
    def send_signal(self, signal: int) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


async def started(
    program: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path, *,
    stdout: IO[bytes] | None = None, stderr: IO[bytes] | None = None, fresh: bool = False,
) -> Process:  # fmt: skip
    """`python -m program arguments` in the folder; what it says and complains of is a pipe unless a file is given.

    By fork, unless it has to be `fresh` or the environment holds what only a fresh interpreter heeds.
    """
    only_here = environment.get("PYTHONPATH", "").endswith(BEFORE_PYTHON["PYTHONPATH"])
    if not fresh and only_here and "LD_PRELOAD" not in environment:
        return await ForkedProcess.start(Starter.of(program), program, arguments, environment, folder, stdout, stderr)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", program, *arguments),
        env=dict(environment),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=stdout or asyncio.subprocess.PIPE,
        stderr=stderr or asyncio.subprocess.PIPE,
        limit=LONGEST_LINE,
    )


class ForkedProcess:
    """A process that is a copy of a starter; belongs to the event loop in which it was started."""

    def __init__(self, pid: int, news: Pipe, out: Pipe | None, err: Pipe | None) -> None:
        self.pid = pid
        self.stdout = out.reader if out else None
        self.stderr = err.reader if err else None
        self._end = asyncio.create_task(self._ended(news, *(pipe for pipe in (out, err) if pipe)))

    @classmethod
    async def start(
        cls,
        starter: Starter,
        program: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        stdout: IO[bytes] | None,
        stderr: IO[bytes] | None,
    ) -> ForkedProcess:
        """Raises ChildProcessError if the starter is gone."""
        news, told = await Pipe.open()
        out, written = (None, os.dup(stdout.fileno())) if stdout else await Pipe.open()
        err, complained = (None, os.dup(stderr.fileno())) if stderr else await Pipe.open()
        streams = [os.open(os.devnull, os.O_RDONLY), written, complained, told]
        order = {"environment": dict(environment), "folder": str(folder), "module": program, "arguments": [*arguments]}
        try:
            socket.send_fds(starter.socket, [json.dumps(order).encode()], streams)
        finally:
            for descriptor in streams:
                os.close(descriptor)
        return cls(int((await _told(news))["pid"]), news, out, err)

    @property
    def returncode(self) -> int | None:
        return self._end.result() if self._end.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._end)

    async def communicate(self) -> tuple[bytes, bytes]:
        assert self.stdout is not None
        assert self.stderr is not None
        out, err = await asyncio.gather(self.stdout.read(), self.stderr.read())
        await self.wait()
        return out, err

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def _ended(self, news: Pipe, *streams: Pipe) -> int:
        status = int((await _told(news))["ended"])
        for pipe in (news, *streams):
            await pipe.end()
        return status


class Pipe(asyncio.StreamReaderProtocol):
    """The end of a pipe that is read here."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader(limit=LONGEST_LINE)
        self._drained = asyncio.Event()
        super().__init__(self.reader)

    @classmethod
    async def open(cls) -> tuple[Pipe, int]:
        """And the descriptor of the end that is written elsewhere."""
        readable, writable = os.pipe()
        file = os.fdopen(readable, "rb", buffering=0)
        pipe = (await asyncio.get_running_loop().connect_read_pipe(cls, file))[1]
        return pipe, writable

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport_here = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._drained.set()
        super().connection_lost(exc)

    async def end(self) -> None:
        """Everything that was written is with the reader; what a grandchild may still write is not waited for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                await self._drained.wait()
        self._transport_here.close()
        await self._drained.wait()


async def _told(news: Pipe) -> dict[str, Any]:
    if not (line := await news.reader.readline()):
        raise ChildProcessError("the process that starts others by fork is gone")
    told: dict[str, Any] = json.loads(line)
    return told


@dataclass(frozen=True, slots=True)
class Starter:
    """A process that has imported what a program needs; the workers of a run share it while one of them lives."""

    pid: int
    socket: socket.socket

    @classmethod
    @cache
    def of(cls, program: str) -> Starter:
        """Waits for the imports when it is asked for the first time, and lets the event loop wait as well."""
        address = f"\0laplaced-tests/{os.environ.get(RUN, os.getpid())}/{program}"  # no file, so nothing to clear away
        while True:
            begun = _begin(program, address)
            ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.settimeout(IMPORTS_WITHIN_S)
            try:
                ours.connect(address)
                pid = int(ours.recv(16))
            except (ConnectionError, ValueError):  # the last driver before us left, and the starter with it
                ours.close()
                if begun is not None and (status := begun.wait()):
                    raise ChildProcessError(f"the starter of {program} ended with {status}") from None
            else:
                atexit.register(ours.close)
                return cls(pid, ours)


def _begin(program: str, address: str) -> subprocess.Popen[bytes] | None:
    """Starts a starter that listens at the address; None if another worker did."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        try:
            door.bind(address)
        except OSError:
            return None
        door.listen()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LAPLACED_")}
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fork_starter.py")), *IMPORTED[program]],
            stdin=door.fileno(),
            env=environment | BEFORE_PYTHON | ONE_THREAD | {"NICEGUI_STORAGE_PATH": tempfile.gettempdir()},
            start_new_session=True,  # Ctrl-C in the terminal is for the driver, with whose end the socket ends
        )
    atexit.register(process.wait)
    return process


def completed(
    program: str, words: Sequence[str], environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """`python -m program words` in the folder until it ends, for tests without an event loop; killed after a minute."""

    async def run() -> subprocess.CompletedProcess[str]:
        process = await started(program, words, environment, folder)
        try:
            out, err = await asyncio.wait_for(process.communicate(), COMPLETED_WITHIN_S)
        finally:
            process.kill()
        return subprocess.CompletedProcess([program, *words], await process.wait(), out.decode(), err.decode())

    return asyncio.run(run())


class ForkedTelegram(LocalTelegram):
    """The local Telegram by fork, at every start."""

    async def begin(self) -> None:
        arguments = [*self.arguments(), "--parent", str(Starter.of(TELEGRAM).pid)]
        process: Any = await started(TELEGRAM, arguments, os.environ | BEFORE_PYTHON, ROOT)  # as much as is used of it
        self._process = process
        self._reader = asyncio.create_task(self._relay(process))


@asynccontextmanager
async def local_telegram(
    folder: Path, token: str = DEFAULT_TOKEN, *, port: int = 0, keep_alive: bool = False
) -> AsyncIterator[LocalTelegram]:
    """A local Telegram, its data in the folder, for the time of the block; on a free port unless one is named."""
    telegram = ForkedTelegram(folder, port=port, token=token, bot_name="Laplaced", host="127.0.0.1")
    async with begun(telegram):
        await telegram.ready()
        async with kept_alive(telegram) if keep_alive else nullcontext():
            yield telegram
