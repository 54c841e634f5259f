"""Programs of the product as processes: by fork from one that has imported them, or fresh from the interpreter."""

from __future__ import annotations

import asyncio
import atexit
import os
import socket
import subprocess
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol

from support.paths import ROOT
from support.product.forked_process import (
    ADDRESSES,
    FRESH,
    LANGUAGE,
    LONGEST_LINE,
    RUN,
    TELEGRAM,
    ForkedProcess,
    Starter,
)

from bot.shared.child_process import kept_alive, started_child
from bot.simulator.launch import DEFAULT_TOKEN, LocalTelegram

BOT = "bot"
COMPILED = "support.product.compiled_patterns"
IMPORTED = {
    BOT: (
        "bot.runtime.bot",
        "bot.application.operations",
        "bot.application.doctor",
        "support.product.preloaded",
        COMPILED,
    ),
    LANGUAGE: (LANGUAGE, "support.product.preloaded_language", COMPILED),
    TELEGRAM: ("uvicorn", "bot.simulator.server.server", "nicegui", "bot.simulator.page.chat_page"),
}
"""By program, what makes its start long. Not the program itself: that is executed again in each copy."""
BEFORE_PYTHON = {"PYTHONPATH": str(ROOT)}
"""What acts while an interpreter starts: a copy of a running one heeds no more than a `sitecustomize` before it."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""numpy would start a thread for each processor when it is imported, and a fork would lose them."""
NO_DICTIONARIES = {"LAPLACED_RAG__RETRIEVAL__DICTIONARIES": ""}
"""A test does the same whatever dictionaries are installed."""
IMPORTS_WITHIN_S, COMPLETED_WITHIN_S = 120.0, 60.0


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
    environment = NO_DICTIONARIES | dict(environment)
    only_here = environment.get("PYTHONPATH", "").endswith(BEFORE_PYTHON["PYTHONPATH"])
    if not fresh and only_here and "LD_PRELOAD" not in environment:
        return await ForkedProcess.start(
            starter(program), program, arguments, environment, folder, stdout=stdout or PIPE, stderr=stderr or PIPE
        )
    return await FRESH(
        *(sys.executable, "-m", program, *arguments),
        env=dict(environment),
        cwd=folder,
        stdin=DEVNULL,
        stdout=stdout or PIPE,
        stderr=stderr or PIPE,
        limit=LONGEST_LINE,
    )


def begin_starters(run: str) -> None:
    """Has all starters import what they need before the workers of that run ask for them."""
    os.environ[RUN] = run
    for program in IMPORTED:
        if (begun := _begin(program)) is not None:
            atexit.unregister(begun.wait)  # it ends with the last worker, or now if there was none
            atexit.register(_ended, begun)


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()


def command_by_fork(program: str, *arguments: str) -> list[str]:
    """A command that starts the program by fork, for those who start processes themselves."""
    starter(program)
    stub = str(Path(__file__).with_name("forked_command.py"))
    return [sys.executable, "-S", "-E", stub, _address(program).removeprefix("\0"), program, *arguments]


@cache
def starter(program: str) -> Starter:
    """What starts copies of a program: the workers of a run share it while one of them lives.

    Waits for its imports when it is asked for the first time, and lets the event loop wait as well. The language
    process of a bot is a copy too: its starter imports beside that of the bot.
    """
    if program == BOT:
        _begin(LANGUAGE)
    while True:
        begun = _begin(program)
        try:
            found = Starter.at(_address(program), IMPORTS_WITHIN_S)
        except (ConnectionError, ValueError):  # the last driver before us left, and the starter with it
            if begun is not None and (status := begun.wait()):
                raise ChildProcessError(f"the starter of {program} ended with {status}") from None
        else:
            atexit.register(found.socket.close)
            if program == BOT:
                starter(LANGUAGE)
            return found


def _address(program: str) -> str:
    """No file, so nothing to clear away."""
    return f"\0laplaced-tests/{os.environ.get(RUN, os.getpid())}/{program}"


def _begin(program: str) -> subprocess.Popen[bytes] | None:
    """Starts the starter of a program; None if another worker did."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        try:
            door.bind(_address(program))
        except OSError:
            return None
        door.listen()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LAPLACED_")}
        others = {ADDRESSES + other: _address(other).removeprefix("\0") for other in IMPORTED}
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fork_starter.py")), *IMPORTED[program]],
            stdin=door.fileno(),
            env=environment | BEFORE_PYTHON | ONE_THREAD | others | {"NICEGUI_STORAGE_PATH": tempfile.gettempdir()},
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
        arguments = [*self.arguments(), "--parent", str(starter(TELEGRAM).pid)]
        process: Any = await started(TELEGRAM, arguments, os.environ | BEFORE_PYTHON, ROOT)  # as much as is used of it
        self._process = process
        self._reader = asyncio.create_task(self._relay(process))


@asynccontextmanager
async def local_telegram(
    folder: Path, token: str = DEFAULT_TOKEN, *, port: int = 0, keep_alive: bool = False
) -> AsyncIterator[LocalTelegram]:
    """A local Telegram, its data in the folder, for the time of the block; on a free port unless one is named."""
    telegram = ForkedTelegram(folder, port=port, token=token, bot_name="Laplaced", host="127.0.0.1")
    async with started_child(telegram):
        await telegram.ready()
        async with kept_alive(telegram) if keep_alive else nullcontext():
            yield telegram
