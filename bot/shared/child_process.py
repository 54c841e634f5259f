"""Processes that the bot starts: their supervision, their logs and their end."""

import asyncio
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar

from internal.errors import LaplacedError

log = logging.getLogger(__name__)

LINE_BREAK = "\u2028"
"""Replaces line breaks inside a record, so that a reader of a child's stderr gets one record a line."""

LONGEST_RECORD = 2**20
"""The most characters of a record: a traceback of a deep recursion has some hundred thousand."""

_PARENT_CHECK = 0.3
_STOP_WITHIN = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY = 60.0
"""Seconds after which a process counts as having worked: if it ends, its successor starts without a pause."""


class LineFormatter(logging.Formatter):
    """Formats a record as one line, tracebacks included; on a terminal with its line breaks."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if sys.stderr.isatty() else text.replace("\n", LINE_BREAK)


def log_as(name: str) -> None:
    """Logs warnings and worse of this process to stderr, one record a line."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(f"{name}: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


async def stop_with(parent: int, stop: Callable[[], None]) -> None:
    """Calls `stop` once the parent has died."""
    while os.getppid() == parent:  # noqa: ASYNC110 - no event tells that a parent died, on every Unix alike
        await asyncio.sleep(_PARENT_CHECK)
    stop()


class Child:
    """A process of our own that serves on loopback. It prints `READY URL` once it answers, and ends with its parent.

    A subclass says what it is called in messages, its module and its own error.
    """

    name: ClassVar[str]
    module: ClassVar[str]
    failure: ClassVar[type[LaplacedError]]
    ready_within: ClassVar[float] = 30.0

    def __init__(self, port: int = 0, environment: Mapping[str, str] | None = None, passed: Sequence[int] = ()) -> None:
        """`passed` are open files that the child inherits."""
        self.url = ""
        self._passed = passed
        self._port, self._environment = port, {**os.environ, **(environment or {})}
        self._process: asyncio.subprocess.Process | None = None
        self._complaints: deque[str] = deque(maxlen=20)
        self._reader: asyncio.Task[None] | None = None

    def arguments(self) -> list[str]:
        """The arguments of the module; a subclass adds its own."""
        return ["--port", str(self._port), "--parent", str(os.getpid())]

    @property
    def pid(self) -> int | None:
        """The id of the running process, or None."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def start(self) -> None:
        """Starts the child and waits until it answers. Raises `failure` with the child's last messages."""
        await self.begin()
        await self.ready()

    async def begin(self) -> None:
        """Starts the child; await `ready` before sending it requests."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", self.module, *self.arguments(), env=self._environment,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_RECORD,
            pass_fds=self._passed,
            start_new_session=True,  # Ctrl-C in the terminal is for the bot, which then stops its child
        )  # fmt: skip
        self._reader = asyncio.create_task(self._relay(self._process))

    async def ready(self) -> None:
        """Waits until a started child answers. Raises `failure` with its last messages."""
        assert self._process is not None
        self.url = await self._ready(self._process)
        self._port = int(self.url.rsplit(":", 1)[1])

    async def _ready(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdout is not None
        try:
            async with asyncio.timeout(self.ready_within):
                line = (await process.stdout.readline()).decode()
        except TimeoutError:
            await self.kill()
            raise self.failure(f"the {self.name} was not ready within {self.ready_within:.0f} s") from None
        if line.startswith("READY "):
            return line.removeprefix("READY ").strip()
        await self._ended(process)
        raise self.failure(self._complaints[-1] if self._complaints else None)

    async def _relay(self, process: asyncio.subprocess.Process) -> None:
        """Copies the child's stderr to the log and keeps its last lines for an error message."""
        assert process.stderr is not None
        async for line in process.stderr:
            text = line.decode(errors="replace").rstrip().replace(LINE_BREAK, "\n")
            self._complaints.append(text)
            log.warning("%s", text)

    async def _ended(self, process: asyncio.subprocess.Process) -> int:
        code = await process.wait()
        if self._reader is not None:
            await self._reader
        return code

    async def exited(self) -> int:
        """Waits until the child ends and returns its exit code."""
        assert self._process is not None
        return await self._ended(self._process)

    async def stop(self) -> None:
        """Ends the child in order, or by force after some seconds. Stopping twice does nothing."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_WITHIN):
                await self._ended(process)
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """Kills the child with SIGKILL, like a crash."""
        process = self._process
        if process is not None and process.returncode is None:
            process.kill()
            await self._ended(process)

    async def restart(self) -> None:
        """Starts the child again on the same port and data; stops it first if it runs."""
        await self.stop()
        await self.start()

    async def keep_alive(self) -> None:
        """Starts the child again whenever it ends, with growing pauses, until cancelled."""
        pause = FIRST_PAUSE
        while True:
            began = asyncio.get_running_loop().time()
            log.error("%s ended with code %s; it is started again", self.name.lower(), await self.exited())
            pause = FIRST_PAUSE if asyncio.get_running_loop().time() - began > STEADY else min(pause * 2, LONGEST_PAUSE)
            await asyncio.sleep(pause)
            try:
                await self.start()
            except self.failure as error:
                log.warning("%s", error)


@asynccontextmanager
async def started_child(handle: Child) -> AsyncIterator[None]:
    """Starts the child and stops it after the block, without waiting until it is ready."""
    try:
        await handle.begin()
        yield
    finally:
        await handle.stop()


@asynccontextmanager
async def kept_alive(handle: Child) -> AsyncIterator[None]:
    """Restarts the child while the block runs, whenever it ends by itself."""
    supervisor = asyncio.create_task(handle.keep_alive())
    try:
        yield
    finally:
        supervisor.cancel()
        await asyncio.wait([supervisor])
