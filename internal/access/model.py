"""Who may talk to the bot, and what each user set for himself."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

Language = Literal["ru", "uk", "en"]
LANGUAGES: tuple[Language, ...] = ("ru", "uk", "en")


class Role(StrEnum):
    OWNER = "owner"
    """Runs the bot: admits and removes users."""
    MEMBER = "member"
    """Has a memory of his own; sees nobody else's."""


class UserState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    """Blocked the bot (403): nothing is sent or scheduled until he writes again."""
    REMOVED = "removed"
    """The owner took the admission back; his data stays until it is forgotten."""


@dataclass(frozen=True, slots=True)
class User:
    """`tz` is an IANA name; `settings` holds small state such as `awaiting` (what the next message answers)."""

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


def nearest_language(code: str | None) -> Language:
    """The supported language for a Telegram `language_code` such as `uk`, `en-GB` or None (English)."""
    prefix = (code or "").split("-")[0].lower()
    for language in LANGUAGES:
        if prefix == language:
            return language
    return "ru" if prefix in {"be", "kk"} else "en"
