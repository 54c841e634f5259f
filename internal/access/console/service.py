"""Logging in and out of the console. The secrets are random, and only their hashes are stored."""

import hmac
import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection

from internal.access.console import repository
from internal.access.console.model import ConsoleSession, Opened

SESSION_PREFIX: Final = "lcs_"
"""Distinguishes a session's token from the server's own key."""

_SECRET_BYTES: Final = 32


def issue_link(connection: Connection, user_id: int, *, lifetime: timedelta, now: datetime) -> str:
    """Creates a link that logs this user in once, and returns its secret. Earlier links stay valid, because a handler
    may run again after a crash, and the link that it sent first must still work.
    """
    repository.drop_expired(connection, now)
    token = secrets.token_urlsafe(_SECRET_BYTES)
    repository.add_link(connection, _hash(token), user_id, now=now, expires_at=now + lifetime)
    return token


def is_open(connection: Connection, token: str, now: datetime) -> bool:
    """Whether a link is still valid."""
    return repository.link_user(connection, _hash(token), now) is not None


def open_by_link(connection: Connection, token: str, *, lifetime: timedelta, now: datetime) -> Opened | None:
    """Opens a session of the link's user; None if the link is unknown, used or expired."""
    user_id = repository.use_link(connection, _hash(token), now)
    return None if user_id is None else open_session(connection, user_id, lifetime=lifetime, now=now)


def open_session(
    connection: Connection, user_id: int | None, *, lifetime: timedelta, now: datetime, key: str = ""
) -> Opened:
    """Opens a session of this user, or (None) of the admin; the admin's is valid only under this server's `key`."""
    repository.drop_expired(connection, now)
    token = SESSION_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
    session = ConsoleSession(user_id, secrets.token_urlsafe(_SECRET_BYTES), now, now + lifetime)
    token_hash = _hash(token) if user_id is not None else _hash_under(key, token)
    repository.add_session(connection, token_hash, session)
    return Opened(token, session)


def find(connection: Connection, token: str, now: datetime, key: str) -> ConsoleSession | None:
    """The open session of a token; one of the admin only under the same server's key."""
    return repository.session(connection, _hash(token), _hash_under(key, token), now)


def close(connection: Connection, token: str, key: str) -> None:
    repository.drop_session(connection, _hash(token), _hash_under(key, token))


def end_all(connection: Connection, user_id: int | None) -> int:
    """Ends every session of a user, or (None) of all users and the admin, and deletes unused links.

    Returns the number of sessions.
    """
    return repository.drop_all(connection, user_id)


def _hash(token: str) -> str:
    # 256 random bits need no salt and no slow hash.
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def _hash_under(key: str, token: str) -> str:
    """The hash of a session opened by the server's key; under another key it is different."""
    if not key:
        raise ValueError("without the server's key there is no session of the admin")
    return hmac.new(key.encode("utf-8", "replace"), token.encode("utf-8", "replace"), sha256).hexdigest()
