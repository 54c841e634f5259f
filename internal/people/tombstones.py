"""What remains of a forgotten person: keyed hashes of names and ids, so that older messages do not bring him back."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from internal.people.naming import keys_of


def marks(
    key: bytes, user_id: int, names: Iterable[str], username: str | None = None, telegram_id: int | None = None
) -> set[str]:
    """One keyed hash for each name, username and Telegram id by which this owner could mean the person."""
    known = {f"name:{name}" for name in keys_of(names)}
    known |= {f"username:{name}" for name in keys_of([username or ""])}
    if telegram_id is not None:
        known.add(f"telegram:{telegram_id}")
    return {hmac.new(key, f"{user_id}:{mark}".encode(), hashlib.sha256).hexdigest() for mark in known}
