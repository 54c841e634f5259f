"""Users: their state and settings."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

Language = Literal["ru", "uk", "en"]
LANGUAGES: tuple[Language, ...] = ("ru", "uk", "en")

CALLED = "called"
"""Key in a user's settings: the names by which the user asked to be called; the last one counts."""


class Role(StrEnum):
    OWNER = "owner"
    """Runs the bot: admits and removes users."""
    MEMBER = "member"
    """Has an own memory and sees no other."""


class UserState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    """Blocked the bot (403): nothing is sent or scheduled until the user writes again."""
    REMOVED = "removed"
    """The bot owner withdrew the admission; the user's data stays until it is forgotten."""


@dataclass(frozen=True, slots=True)
class User:
    """A user. `tz` is an IANA name; `settings` holds small state such as `awaiting` (what the next message answers)."""

    user_id: int
    role: Role
    state: UserState
    name: str
    username: str | None
    lang: Language
    tz: str
    tz_asked: bool
    created_at: datetime
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def called(self) -> str:
        """The name by which the user wants to be called, else Telegram's."""
        return str((self.settings.get(CALLED) or [self.name])[-1])


@dataclass(frozen=True, slots=True)
class Author:
    """The author of an update with Telegram's data. `language_code` is an IETF tag or None."""

    user_id: int
    name: str
    username: str | None = None
    language_code: str | None = None


@dataclass(frozen=True, slots=True)
class AwaitedAnswer:
    """The question that the next message answers: its `kind`, and `details` of its subject."""

    kind: str
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Allowed:
    """The user may be answered."""


@dataclass(frozen=True, slots=True)
class TooFast:
    """More messages a minute than `limit`; the next one is accepted in `retry_after_s` seconds (1..60)."""

    limit: int
    retry_after_s: int


@dataclass(frozen=True, slots=True)
class DailyCostReached:
    """Today's model calls cost `spent_usd` of `limit_usd`; `until` (aware, UTC) is the user's next midnight."""

    spent_usd: float
    limit_usd: float
    until: datetime


Verdict = Allowed | TooFast | DailyCostReached


def nearest_language(code: str | None) -> Language:
    """The supported language for a Telegram `language_code` such as `uk`, `en-GB` or None (English)."""
    prefix = (code or "").split("-")[0].lower()
    for language in LANGUAGES:
        if prefix == language:
            return language
    return "ru" if prefix in {"be", "kk"} else "en"
