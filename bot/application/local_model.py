"""The model file of `llm.local`, served by a child process on loopback for as long as the bot runs."""

import contextlib
import secrets
import sys
import time
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

from bot.shared.child_process import Child, kept_alive, started_child
from internal.config.settings import Config
from internal.errors import ConfigurationError, LaplacedError
from internal.llm.gguf_server import KEY
from internal.llm.model_file import model_file

INSTALL = ".venv/bin/pip install -e '.[local]'"


class LocalModelFailed(LaplacedError):
    """The local model could not be started."""


class LocalModel(Child):
    """A running local model: `.base_url` and `.key` are for the model client."""

    name, module, failure, ready_within = "local model", "internal.llm.gguf_server", LocalModelFailed, 600.0

    def __init__(self, path: Path) -> None:
        self.key = secrets.token_urlsafe(32)
        super().__init__(environment={KEY: self.key})
        self._path = path

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def arguments(self) -> list[str]:
        """The child's arguments, with the model file."""
        return [*super().arguments(), "--model", str(self._path)]


@contextlib.asynccontextmanager
async def local_model(config: Config) -> AsyncIterator[LocalModel]:
    """Serves the model while the block runs, downloading it first if necessary; restarts it when it dies.

    Raises ConfigurationError without the extra `local`, LocalModelFailed and DownloadFailed.
    """
    if find_spec("xllamacpp") is None:
        raise ConfigurationError(f"llm.local needs the extra local: {INSTALL}")
    path = await model_file(config.llm.local, config.data_dir / "models", Bar(Path(config.llm.local).name))
    model = LocalModel(path)
    async with started_child(model):
        await model.ready()
        async with kept_alive(model):
            yield model


class Bar:
    """Shows how far a download is on stderr: a bar on a terminal, else a line for each tenth."""

    def __init__(self, name: str) -> None:
        self._name, self._shown, self._began = name, -1, time.monotonic()

    def __call__(self, there: int, whole: int) -> None:
        steps = 40 if sys.stderr.isatty() else 10
        done = int(steps * there / whole) if whole else there >> 26
        if done == self._shown:
            return
        self._shown = done
        size = f"{there / 1e6:,.0f} of {whole / 1e6:,.0f} MB" if whole else f"{there / 1e6:,.0f} MB"
        text = f"downloading {self._name}: {size}, {there / 1e6 / max(time.monotonic() - self._began, 0.1):.1f} MB/s"
        if sys.stderr.isatty():
            print(f"\r[{'#' * done:<{steps}}] {text}", end="\n" if there == whole else "", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)
