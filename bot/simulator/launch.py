"""Starts and supervises the local Telegram as a child process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from bot.shared.child_process import Child, kept_alive, started_child
from internal.config.settings import Config
from internal.errors import LaplacedError

# Opens only the child on loopback.
DEFAULT_TOKEN = "4242424242:local-telegram-has-no-secrets"


class LocalTelegramFailed(LaplacedError):
    """The local Telegram could not be started."""


class LocalTelegram(Child):
    """A running local Telegram: `.url` (for `TelegramAPIServer.from_base` and the browser) and `.token`."""

    name, module, failure = "local Telegram", "bot.simulator.local_telegram", LocalTelegramFailed

    def __init__(
        self, data_dir: Path, *, port: int, token: str, bot_name: str, host: str, setup: str | None = None
    ) -> None:
        """`setup` is the configuration file whose models may be chosen in the browser (empty: the default)."""
        super().__init__(port)
        self._setup = [] if setup is None else ["--setup", setup] if setup else ["--setup"]
        self.token = token
        self._data_dir, self._bot_name, self._host = data_dir, bot_name, host

    def arguments(self) -> list[str]:
        """The child's arguments: its address, data and bot."""
        return [
            *super().arguments(), "--host", self._host, "--data-dir", str(self._data_dir),
            "--token", self.token, "--bot-name", self._bot_name, *self._setup,
        ]  # fmt: skip


@asynccontextmanager
async def start_local_telegram(
    data_dir: Path, *, port: int = 0, token: str = DEFAULT_TOKEN, bot_name: str = "Laplaced",
    host: str = "127.0.0.1", keep_alive: bool = False,
) -> AsyncIterator[LocalTelegram]:  # fmt: skip
    """Runs the local Telegram on `port` (0 = a free one), with its data in `data_dir`, while the block runs.

    With `keep_alive` a child that ends by itself is started again. Raises LocalTelegramFailed when the port is taken,
    the folder is in use, or it is not ready within 30 s.
    """
    handle = LocalTelegram(data_dir, port=port, token=token, bot_name=bot_name, host=host)
    async with started_child(handle):
        await handle.ready()
        async with kept_alive(handle) if keep_alive else nullcontext():
            yield handle


def of_config(config: Config, setup: str | None = None) -> LocalTelegram:
    """The local Telegram that replaces the real one, not started yet; with `setup` only while no model is chosen."""
    return LocalTelegram(
        config.data_dir / "local-telegram",
        port=config.telegram.local.port,
        token=DEFAULT_TOKEN,
        bot_name=config.persona.name,
        host="127.0.0.1",
        setup=setup if config.offline_models else None,
    )
