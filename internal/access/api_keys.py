"""Named keys for REST and MCP: of one owner or of all, for everything or for reading only.

A file of the data folder holds their hashes, so that a backup neither contains them nor restores a revoked one. A
change by any process takes effect at the next call.
"""

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from internal.errors import NotFound, Refused, StorageError
from internal.storage.files.keys import LOCK_FILE
from internal.storage.files.permissions import PRIVATE_FILE, PRIVATE_FOLDER, write_private

PREFIX: Final = "lck_"
"""Distinguishes a named key from the server's own and from a session's token."""

FILE: Final = "api_keys.json"

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A named key. `user_id` None: for all owners. `hash` is that of the secret, which only its holder knows."""

    name: str
    user_id: int | None
    read_only: bool
    created_at: datetime
    hash: str


class ApiKeys:
    """The named keys of a data folder, read from its file at each call. Raises StorageError if it cannot be used."""

    def __init__(self, data_dir: Path) -> None:
        self._folder, self._path = data_dir, data_dir / FILE
        self._read_at: tuple[int, int, int] | None = None
        self._by_hash: dict[str, ApiKey] = {}

    def find(self, secret: str) -> ApiKey | None:
        """The key with this secret; None if there is none or it was revoked."""
        return self._known().get(_hash(secret)) if secret.startswith(PREFIX) else None

    def all(self) -> list[ApiKey]:
        return sorted(self._known().values(), key=lambda key: key.created_at)

    def add(self, name: str, user_id: int | None, *, read_only: bool, now: datetime) -> str:
        """Creates a key and returns its secret. Raises Refused for an invalid name or one that is taken."""
        if not _NAME.fullmatch(name):
            raise Refused("name", "the name of a key has up to 64 letters, digits, dots, - and _")
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        new = ApiKey(name, user_id, read_only, now, _hash(secret))

        def with_it(keys: list[ApiKey]) -> list[ApiKey]:
            if any(key.name == name for key in keys):
                raise Refused("exists", f"there is a key {name} already; revoke it first")
            return [*keys, new]

        self._change(with_it)
        return secret

    def revoke(self, name: str) -> None:
        """Deletes a key. Raises NotFound."""

        def without_it(keys: list[ApiKey]) -> list[ApiKey]:
            kept = [key for key in keys if key.name != name]
            if len(kept) == len(keys):
                raise NotFound(f"there is no key {name}")
            return kept

        self._change(without_it)

    def _known(self) -> dict[str, ApiKey]:
        try:
            found = self._path.stat()
            version = (found.st_ino, found.st_mtime_ns, found.st_size)
            if version != self._read_at:
                rows = json.loads(self._path.read_text(encoding="utf-8"))
                self._by_hash, self._read_at = {key.hash: key for key in map(_key, rows)}, version
        except FileNotFoundError:
            self._by_hash, self._read_at = {}, None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StorageError(f"the named keys in {self._path} cannot be read: {type(error).__name__}") from error
        return self._by_hash

    def _change(self, change: Callable[[list[ApiKey]], list[ApiKey]]) -> None:
        try:
            self._folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            with FileLock(self._folder / LOCK_FILE, mode=PRIVATE_FILE, fallback_to_soft=False):
                rows = [asdict(key) | {"created_at": key.created_at.isoformat()} for key in change(self.all())]
                write_private(self._path, json.dumps(rows, indent=2))
        except OSError as error:
            raise StorageError(f"cannot write {self._path}: {error.strerror}") from error


def _key(row: dict[str, Any]) -> ApiKey:
    return ApiKey(**row | {"created_at": datetime.fromisoformat(row["created_at"])})


def _hash(secret: str) -> str:
    # 256 random bits need no salt and no slow hash.
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
