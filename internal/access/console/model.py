"""A session of the console."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """`user_id` None is the admin, logged in with the server's key; other users see only what is their own.

    `csrf` must come with every call that changes something.
    """

    user_id: int | None
    csrf: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Opened:
    """A new session and its token, which only its holder knows: the database keeps the hash."""

    token: str
    session: ConsoleSession
