"""Which commands a group may use, and for which members. Commands about private things stay in the private chat."""

from enum import Enum, auto
from typing import Final

_ALL: Final = frozenset({
    "start", "help", "people", "person", "facts", "why", "asof", "goals", "decisions", "questions", "preferences",
    "instructions", "memories", "tasks", "cancel", "groups", "share", "correct", "birthdays", "",
})  # fmt: skip
_ADMINS: Final = frozenset({"language", "timezone", "archive", "forget", "status"})
ME: Final = frozenset({"me", "меня", "мене", "обо мне", "про мене", "about me"})
"""Words after /forget by which a member means himself."""


class Permit(Enum):
    ALL = auto()
    ADMINS = auto()
    """Only the administrators of the group."""
    PRIVATE = auto()
    """No member: it shows or changes private things."""


def permit_of(command: str, words: str = "") -> Permit:
    if command in _ALL or (command == "forget" and means_oneself(words)):
        return Permit.ALL
    return Permit.ADMINS if command in _ADMINS else Permit.PRIVATE


def means_oneself(words: str) -> bool:
    return " ".join(words.casefold().split()).rstrip(".!") in ME
