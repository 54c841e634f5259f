"""A session of the console."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A login session. `user_id` None is the admin, logged in with the server's key; others see only their own data.

    Every call that changes something must contain `csrf`.
    """

    user_id: int | None
    csrf: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Opened:
    """A new session and its token, which only its holder knows: the database has the hash."""

    token: str
    session: ConsoleSession
