"""Starts the console's process with the first visitor, and again whenever it ends."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.console.process import CALLER_KEY
from bot.shared.child_process import FIRST_PAUSE, LONGEST_PAUSE, STEADY, Child
from internal.errors import LaplacedError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConsoleSetup:
    """The console's address and settings.

    `listener` is the bot's own socket, which outlives the process: visitors in between wait. With `caller_key` the
    server at `rest` believes the console where a visitor comes from.
    """

    listener: socket.socket
    rest: str
    storage: Path
    allowed_hosts: Sequence[str] = ()
    trusted_proxies: Sequence[str] = ()
    secure: bool = False
    caller_key: str = ""


class ConsoleProcess(Child):
    """The console's child process. It takes seconds to load and 100 MB, so it waits for the first visitor."""

    name, module, failure = "console", "bot.console.process", LaplacedError

    def __init__(self, setup: ConsoleSetup) -> None:
        super().__init__(environment={CALLER_KEY: setup.caller_key}, passed=[setup.listener.fileno()])
        self._setup = setup

    async def keep(self) -> None:
        """Starts the process with the next visitor whenever it does not run, until cancelled."""
        pause = FIRST_PAUSE
        while True:
            await self._knock()
            began = asyncio.get_running_loop().time()
            await self.begin()
            log.error("console ended with code %s; it is started again with the next visitor", await self.exited())
            lasted = asyncio.get_running_loop().time() - began
            pause = FIRST_PAUSE if lasted > STEADY else min(pause * 2, LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _knock(self) -> None:
        loop, knocked = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._setup.listener, knocked.set)
        try:
            await knocked.wait()
        finally:
            loop.remove_reader(self._setup.listener)

    def arguments(self) -> list[str]:
        """The child's arguments; its address is a socket, as the console has no port."""
        setup = self._setup
        hosts = [word for host in setup.allowed_hosts for word in ("--allow", host)]
        hosts += [word for proxy in setup.trusted_proxies for word in ("--trust", proxy)]
        return [
            "--listener", str(setup.listener.fileno()), "--rest", setup.rest, "--storage", str(setup.storage),
            "--parent", str(os.getpid()), *(["--secure"] if setup.secure else []), *hosts,
        ]  # fmt: skip


@contextlib.asynccontextmanager
async def console_at(setup: ConsoleSetup) -> AsyncIterator[ConsoleProcess]:
    """Runs the console while the block runs."""
    console = ConsoleProcess(setup)
    keeper = asyncio.create_task(console.keep(), name="console")
    try:
        yield console
    finally:
        keeper.cancel()
        await asyncio.wait([keeper])
        await console.stop()
