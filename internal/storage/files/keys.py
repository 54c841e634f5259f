"""Keys of this installation, one file each in the data folder, readable by its owner alone.

Laplaced generates all keys except the model provider's, which `laplaced setup` asks for.
"""

import secrets
from pathlib import Path
from typing import Literal

from filelock import FileLock

from internal.errors import StorageError
from internal.storage.files.permissions import PRIVATE_FILE, write_private

KeyName = Literal["server_api_key", "hmac_key", "webhook_secret", "llm_api_key"]

LOCK_FILE = "keys.lock"

BYTES = 32
"""256 bits: it cannot be guessed, and it fits the 256 characters of a webhook secret."""


def ensure_key(data_dir: Path, name: KeyName) -> str:
    """The key of that name: 43 letters, digits, - and _. Generated on first use, once even if several processes start.

    Raises StorageError when it can neither be read nor written.
    """
    try:
        existing = existing_key(data_dir, name)
        if existing is not None:
            return existing
        with FileLock(data_dir / LOCK_FILE, mode=PRIVATE_FILE, fallback_to_soft=False):
            return existing_key(data_dir, name) or _make(data_dir / name)
    except OSError as error:
        raise StorageError(f"cannot keep the key {name} in {data_dir}: {error.strerror}") from error


def existing_key(data_dir: Path, name: KeyName) -> str | None:
    """The key of that name, or None if there is none yet. An empty file, left by an old crash, counts as none."""
    try:
        return (data_dir / name).read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None


def _make(path: Path) -> str:
    key = secrets.token_urlsafe(BYTES)
    write_private(path, f"{key}\n")
    return key
