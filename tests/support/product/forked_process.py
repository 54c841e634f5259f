"""Processes that are copies of a starter (fork_starter.py), as asyncio has its own: for tests and within the copies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

TELEGRAM, LANGUAGE = "bot.simulator.local_telegram", "internal.language.worker.process"
"""Programs that start as children of others."""
RUN: Final = "PYTEST_XDIST_TESTRUNUID"
"""The variable that the workers of a run of tests have in common."""
ADDRESSES: Final = "FORK_STARTERS"
"""The variable that tells a starter where those of the other programs listen: the program's name is added."""
LONGEST_LINE: Final = 2**20
LAST_WORDS_S: Final = 1.0

FRESH: Final = asyncio.create_subprocess_exec
"""Starts every process from the interpreter, whatever `start_children_by_fork` did."""

Stream = IO[bytes] | int | None
"""What asyncio takes for a stream of a process: a file, PIPE, DEVNULL, or None for our own."""


@dataclass(frozen=True, slots=True)
class Starter:
    """A connection to a process that has imported what a program needs: the copies end with it."""

    pid: int
    socket: socket.socket

    @classmethod
    def at(cls, address: str, within_s: float) -> Starter:
        """Waits for the imports of one that just began. ConnectionError: there is none; ValueError: it ends."""
        ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(within_s)
        try:
            ours.connect(address)
            return cls(int(ours.recv(16)), ours)
        except BaseException:
            ours.close()
            raise


class ForkedProcess:
    """A process that is a copy of a starter; belongs to the event loop in which it was started."""

    def __init__(self, pid: int, news: Pipe, stdin: asyncio.StreamWriter | None, out: Pipe | None, err: Pipe | None):
        self.pid, self.stdin = pid, stdin
        self.stdout = out.reader if out else None
        self.stderr = err.reader if err else None
        self._end = asyncio.create_task(self._ended(news, *(pipe for pipe in (out, err) if pipe)))

    @classmethod
    async def start(
        cls, starter: Starter, program: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path, *,
        stdin: Stream = DEVNULL, stdout: Stream = PIPE, stderr: Stream = PIPE,
    ) -> ForkedProcess:  # fmt: skip
        """Raises ChildProcessError if the starter is gone."""
        news, told = await Pipe.open()
        read, writer = await _written(stdin)
        out, written = await _read(stdout, 1)
        err, complained = await _read(stderr, 2)
        streams = [read, written, complained, told]
        order = {"environment": dict(environment), "folder": str(folder), "module": program, "arguments": [*arguments]}
        try:
            socket.send_fds(starter.socket, [json.dumps(order).encode()], streams)
        except OSError as error:
            raise ChildProcessError(f"the starter of {program} is gone") from error
        finally:
            for descriptor in streams:
                os.close(descriptor)
        return cls(int((await _told(news))["pid"]), news, writer, out, err)

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
        if self.stdin is not None:
            self.stdin.close()
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


async def _read(stream: Stream, ours: int) -> tuple[Pipe | None, int]:
    """What we read of a stream that the process writes, if anything, and the descriptor it writes to."""
    if stream == PIPE:
        return await Pipe.open()
    return None, _descriptor(stream, ours, os.O_WRONLY)


async def _written(stream: Stream) -> tuple[int, asyncio.StreamWriter | None]:
    """The descriptor from which the process reads, and what we write to it, if anything."""
    if stream != PIPE:
        return _descriptor(stream, 0, os.O_RDONLY), None
    readable, writable = os.pipe()
    loop, file = asyncio.get_running_loop(), os.fdopen(writable, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
    return readable, asyncio.StreamWriter(transport, protocol, None, loop)


def _descriptor(stream: Stream, ours: int, mode: int) -> int:
    if stream == DEVNULL:
        return os.open(os.devnull, mode)
    return os.dup(ours if stream is None else stream if isinstance(stream, int) else stream.fileno())


async def _told(news: Pipe) -> dict[str, Any]:
    if not (line := await news.reader.readline()):
        raise ChildProcessError("the process that starts others by fork is gone")
    told: dict[str, Any] = json.loads(line)
    return told


def start_children_by_fork(starter: Callable[[str], Starter | None], root: str) -> None:
    """From here on this process starts programs that have a starter by fork, as `asyncio.create_subprocess_exec`.

    `starter` gives that of a program, if there is one. What else an interpreter heeds than the PYTHONPATH of now, which
    leads the copies to `root` alone, and a folder before it, takes a fresh one.
    """
    ours = os.environ.get("PYTHONPATH", "")

    async def start(*command: Any, **given: Any) -> Any:
        environment = dict(given.get("env") or os.environ)
        known = command[:2] == (sys.executable, "-m") and command[2] in (TELEGRAM, LANGUAGE)
        path = environment.get("PYTHONPATH", "")
        if not known or not (path.endswith(ours) if ours else path == "") or "LD_PRELOAD" in environment:
            return await FRESH(*command, **given)
        if (found := starter(command[2])) is None:
            return await FRESH(*command, **given)
        arguments = list(command[3:])
        if "--parent" in arguments:  # whose end ends it: the starter sees to ours
            arguments[arguments.index("--parent") + 1] = str(found.pid)
        environment["PYTHONPATH"] = path.removesuffix(ours) + root
        streams = {name: given.get(name) for name in ("stdin", "stdout", "stderr")}
        return await ForkedProcess.start(found, command[2], arguments, environment, Path.cwd(), **streams)

    asyncio.create_subprocess_exec = start
