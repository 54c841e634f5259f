"""Starts and supervises the local Telegram as a child process."""

import asyncio
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from bot.shared.child_process import LINE_BREAK, LONGEST_RECORD
from internal.config import Config
from internal.errors import LaplacedError

log = logging.getLogger(__name__)

# Opens nothing but the child on loopback.
DEFAULT_TOKEN = "4242424242:local-telegram-has-no-secrets"
_READY_WITHIN = 30.0
_STOP_WITHIN = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class LocalTelegramFailed(LaplacedError):
    """The local Telegram could not be started."""


class LocalTelegram:
    """A running local Telegram: `.url` (for `TelegramAPIServer.from_base` and the browser) and `.token`."""

    def __init__(self, data_dir: Path, *, port: int, token: str, bot_name: str, host: str) -> None:
        self.token = token
        self.url = ""
        self._data_dir = data_dir
        self._port = port
        self._bot_name = bot_name
        self._host = host
        self._process: asyncio.subprocess.Process | None = None
        self._complaints: deque[str] = deque(maxlen=20)
        self._reader: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        """Starts the child and waits until it answers; raises LocalTelegramFailed with what the child said."""
        await self.begin()
        await self.ready()

    async def begin(self) -> None:
        """Starts the child; `ready` is to be awaited before anything is asked of it."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot.simulator.local_telegram", *self._arguments(),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_RECORD,
            start_new_session=True,  # Ctrl-C in the terminal is for the bot, which then stops its child
        )  # fmt: skip
        self._reader = asyncio.create_task(self._relay(self._process))

    async def ready(self) -> None:
        """Waits until the child that was begun answers; raises LocalTelegramFailed with what it said."""
        assert self._process is not None
        self.url = await self._ready(self._process)
        self._port = int(self.url.rsplit(":", 1)[1])

    def _arguments(self) -> list[str]:
        return [
            "--host", self._host, "--port", str(self._port), "--data-dir", str(self._data_dir),
            "--token", self.token, "--bot-name", self._bot_name, "--parent", str(os.getpid()),
        ]  # fmt: skip

    async def _ready(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_READY_WITHIN):
                line = (await process.stdout.readline()).decode()
        except TimeoutError:
            await self.kill()
            raise LocalTelegramFailed(f"the local Telegram was not ready within {_READY_WITHIN:.0f} s") from None
        if line.startswith("READY "):
            return line.removeprefix("READY ").strip()
        await self._ended(process)
        raise LocalTelegramFailed(self._complaints[-1] if self._complaints else None)

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
        """Waits until the child ends; its exit code."""
        assert self._process is not None
        return await self._ended(self._process)

    async def stop(self) -> None:
        """Ends the child in order, by force after some seconds. Stopping twice does nothing."""
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
        """SIGKILL, as a crash."""
        process = self._process
        if process is not None and process.returncode is None:
            process.kill()
            await self._ended(process)

    async def restart(self) -> None:
        """Starts it again on the same port and data, stopping it first if it runs."""
        await self.stop()
        await self.start()

    async def keep_alive(self) -> None:
        """Starts the child again whenever it ends, with growing pauses, until cancelled."""
        pause = _FIRST_PAUSE
        while True:
            began = asyncio.get_running_loop().time()
            log.error("local telegram ended with code %s; it is started again", await self.exited())
            pause = _FIRST_PAUSE if asyncio.get_running_loop().time() - began > 60 else min(pause * 2, _LONGEST_PAUSE)
            await asyncio.sleep(pause)
            try:
                await self.start()
            except LocalTelegramFailed as error:
                log.warning("%s", error)


@asynccontextmanager
async def start_local_telegram(
    data_dir: Path, *, port: int = 0, token: str = DEFAULT_TOKEN, bot_name: str = "Laplaced",
    host: str = "127.0.0.1", keep_alive: bool = False,
) -> AsyncIterator[LocalTelegram]:  # fmt: skip
    """Runs the local Telegram on `port` (0 = a free one), its data in `data_dir`, for the time of the block.

    With `keep_alive` a child that ends by itself is started again. Raises LocalTelegramFailed when the port is taken,
    the folder is in use, or it is not ready within 30 s.
    """
    handle = LocalTelegram(data_dir, port=port, token=token, bot_name=bot_name, host=host)
    async with begun(handle):
        await handle.ready()
        async with kept_alive(handle) if keep_alive else nullcontext():
            yield handle


@asynccontextmanager
async def begun(handle: LocalTelegram) -> AsyncIterator[None]:
    """Starts the child for the time of the block, without waiting until it is ready."""
    try:
        await handle.begin()
        yield
    finally:
        await handle.stop()


@asynccontextmanager
async def kept_alive(handle: LocalTelegram) -> AsyncIterator[None]:
    """Restarts the child whenever it ends by itself, for the time of the block."""
    supervisor = asyncio.create_task(handle.keep_alive())
    try:
        yield
    finally:
        supervisor.cancel()
        await asyncio.wait([supervisor])


def of_config(config: Config) -> LocalTelegram:
    """The local Telegram that replaces the real one; not started yet."""
    return LocalTelegram(
        config.data_dir / "local-telegram",
        port=config.telegram.local.port,
        token=DEFAULT_TOKEN,
        bot_name=config.persona.name,
        host="127.0.0.1",
    )
