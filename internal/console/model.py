"""A session of the console."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """`user_id` None is the admin, who logged in with the server's key; anybody else sees what is his own.

    `csrf` must come with every call that changes something.
    """

    user_id: int | None
    csrf: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Opened:
    """A session just opened, and the token that only its holder knows: the database keeps its hash."""

    token: str
    session: ConsoleSession
