"""What remains of a forgotten person: keyed hashes of names and ids, so that older messages do not bring him back."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from internal.people.naming import keys_of

KEY_BYTES = 32


def load_key(path: Path) -> bytes:
    """The key of this installation, made on first use with mode 0600; without it the hashes could be guessed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
    return path.read_bytes()


def marks(
    key: bytes, user_id: int, names: Iterable[str], username: str | None = None, telegram_id: int | None = None
) -> set[str]:
    """One keyed hash for each name, username and Telegram id by which this owner could mean the person."""
    known = {f"name:{name}" for name in keys_of(names)}
    known |= {f"username:{name}" for name in keys_of([username or ""])}
    if telegram_id is not None:
        known.add(f"telegram:{telegram_id}")
    return {hmac.new(key, f"{user_id}:{mark}".encode(), hashlib.sha256).hexdigest() for mark in known}
