"""Starts the console's process with the first visitor, and again whenever it ends."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.console.process import CALLER_KEY
from bot.shared.child_process import LINE_BREAK, LONGEST_RECORD

log = logging.getLogger(__name__)

_STOP_WITHIN = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_STEADY = 60.0
"""Seconds after which a process that ends has worked, so that its successor need not wait."""


@dataclass(frozen=True, slots=True)
class Place:
    """The console's address and settings.

    `listener` is the bot's own socket, which outlives the process: visitors in between wait. `caller_key` proves to the
    server at `rest` that it is the console who says where a visitor comes from.
    """

    listener: socket.socket
    rest: str
    storage: Path
    allowed_hosts: Sequence[str] = ()
    trusted_proxies: Sequence[str] = ()
    secure: bool = False
    caller_key: str = ""


class ConsoleProcess:
    """The console's child process. It takes seconds to load and 100 MB, so it waits for the first visitor."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The id of the running process; None before the first visitor and between two processes."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def keep(self) -> None:
        """Runs until cancelled."""
        pause = _FIRST_PAUSE
        while True:
            await self._knock()
            began = asyncio.get_running_loop().time()
            self._process = await self._start()
            code = await self._ended(self._process)
            log.error("console ended with code %s; it is started again with the next visitor", code)
            lasted = asyncio.get_running_loop().time() - began
            pause = _FIRST_PAUSE if lasted > _STEADY else min(pause * 2, _LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def stop(self) -> None:
        """Ends the process, by force after some seconds."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_WITHIN):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _knock(self) -> None:
        loop, knocked = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._place.listener, knocked.set)
        try:
            await knocked.wait()
        finally:
            loop.remove_reader(self._place.listener)

    async def _start(self) -> asyncio.subprocess.Process:
        place = self._place
        hosts = [word for host in place.allowed_hosts for word in ("--allow", host)]
        hosts += [word for proxy in place.trusted_proxies for word in ("--trust", proxy)]
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot.console.process", "--listener", str(place.listener.fileno()),
            "--rest", place.rest, "--storage", str(place.storage), "--parent", str(os.getpid()),
            *(["--secure"] if place.secure else []), *hosts,
            stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, limit=LONGEST_RECORD,
            pass_fds=[place.listener.fileno()], env={**os.environ, CALLER_KEY: place.caller_key},
            start_new_session=True,  # Ctrl-C in the terminal is for the bot, which then stops its child
        )  # fmt: skip

    @staticmethod
    async def _ended(process: asyncio.subprocess.Process) -> int:
        """Copies the child's stderr to the log until it ends."""
        assert process.stderr is not None
        async for line in process.stderr:
            log.warning("%s", line.decode(errors="replace").rstrip().replace(LINE_BREAK, "\n"))
        return await process.wait()


@contextlib.asynccontextmanager
async def console_at(place: Place) -> AsyncIterator[ConsoleProcess]:
    """The console answers for the time of the block."""
    console = ConsoleProcess(place)
    keeping = asyncio.create_task(console.keep(), name="console")
    try:
        yield console
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
        await console.stop()
