"""What remains of what was forgotten of people: keyed hashes, so that older messages do not bring it back."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection

from internal.people import suggestion_repository
from internal.people.bio import folded_words
from internal.people.naming import keys_of


def marks(
    key: bytes, user_id: int, names: Iterable[str], username: str | None = None, telegram_id: int | None = None
) -> set[str]:
    """One keyed hash for each name, username and Telegram id by which this owner could mean the person."""
    known = {f"name:{name}" for name in keys_of(names)}
    known |= {f"username:{name}" for name in keys_of([username or ""])}
    if telegram_id is not None:
        known.add(f"telegram:{telegram_id}")
    return {_hashed(key, user_id, mark) for mark in known}


def sentence_mark(key: bytes, user_id: int, sentence: str) -> str:
    """The keyed hash of a sentence of a profile, by its words alone."""
    return _hashed(key, user_id, f"sentence:{folded_words(sentence)}")


def bury_sentences(connection: Connection, user_id: int, told: Iterable[str], key: bytes, at: datetime) -> None:
    """Lines up to `at` do not bring these sentences back into profiles, not in these words."""
    suggestion_repository.bury(connection, user_id, {sentence_mark(key, user_id, one) for one in told}, at)


def _hashed(key: bytes, user_id: int, mark: str) -> str:
    return hmac.new(key, f"{user_id}:{mark}".encode(), hashlib.sha256).hexdigest()
