"""Tries the models that were chosen in `laplaced setup` and, if they answer, writes the configuration."""

import os
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.application.model_trial import TrialResult, try_models
from internal.config.edit import edited
from internal.config.settings import DEFAULT_LLM_URL, Config, load
from internal.errors import ConfigurationError, LaplacedError, ModelAccessDenied, ModelSilent
from internal.storage.files.permissions import PRIVATE_FOLDER, write_private

KEY_FILE: Final = "llm_api_key"


class SetupFailed(LaplacedError):
    """The models cannot be used; nothing was written."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The answers: `local` is a model file, else `base_url` a server."""

    base_url: str = DEFAULT_LLM_URL
    model: str = ""
    key: str = ""
    local: str = ""

    def values(self, key_file: str) -> dict[str, str]:
        address = DEFAULT_LLM_URL if self.local else self.base_url
        return {"base_url": address, "local": self.local, "model": self.model, "api_key": "", "api_key_file": key_file}


class Setup:
    """Tries a choice with the configuration that it would give, and writes that."""

    def __init__(self, path: Path, choice: Choice) -> None:
        """Raises ConfigurationError where the file cannot be changed, or the environment would win over it."""
        won = sorted(name for name in os.environ if name.upper().startswith("LAPLACED_LLM__"))
        if won:
            raise ConfigurationError(f"{', '.join(won)} in the environment would win over {path}; unset it first")
        self._path, self._choice = path.resolve(), choice
        try:
            self._text = self._path.read_text(encoding="utf-8") if self._path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"cannot read {path}: {error}") from None
        self.config = self._loaded()
        self._key_file = self.config.data_dir / KEY_FILE if choice.key else None

    def _loaded(self) -> Config:
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder, "config.yaml")
            draft.write_text(edited(self._text, "llm", self._choice.values("")), encoding="utf-8")
            key = {"LAPLACED_LLM__API_KEY": self._choice.key} if self._choice.key else {}
            return load(draft, {**os.environ, **key})

    async def tried(self) -> AsyncIterator[TrialResult]:
        """Yields how each call went. Raises SetupFailed if further calls are useless."""
        if self.config.offline_models:
            raise SetupFailed(f"{self._choice.base_url} needs a key")
        async for one in try_models(self.config):
            yield one
            if isinstance(one.error, ModelAccessDenied) or (one.agent == "responder" and one.error):
                slow = "; give it longer with agents.responder.first_token_timeout"
                raise SetupFailed(f"{one.model}: {one.error}{slow if isinstance(one.error, ModelSilent) else ''}")

    def write(self) -> list[Path]:
        """Writes the key, then the configuration, each in one step. Returns the files. Raises SetupFailed."""
        values = self._choice.values(str(self._key_file or ""))
        mode = self._path.stat().st_mode & 0o777 if self._path.exists() else 0o644
        try:
            if self._key_file is not None:
                self._key_file.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
                write_private(self._key_file, f"{self._choice.key}\n")
            write_private(self._path, edited(self._text, "llm", values))
            self._path.chmod(mode)
        except OSError as error:
            raise SetupFailed(f"cannot write {error.filename or self._path}: {error.strerror}") from None
        return [self._path] if self._key_file is None else [self._path, self._key_file]
