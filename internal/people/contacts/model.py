"""Cards of address books, each belonging to one person, and the keys by which two of them are one."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from internal.language.text.spelling import name_key
from internal.storage.forgetting.tombstone_repository import hashed

FILES: Final = ""
"""The book of what came in files; the others are the addresses of collections on servers."""


@dataclass(frozen=True, slots=True)
class StoredContact:
    """A card as it was last seen in a book: its text, and where it lies on a server (`href`, `etag`)."""

    user_id: int
    book: str
    person_id: int
    uid: str
    card: str
    updated_at: datetime
    href: str | None = None
    etag: str | None = None


def phone_key(number: str, region: str | None) -> str:
    """A number in its international form (E.164), read as one of this country; only its digits where it is none."""
    import phonenumbers  # with its tables it takes 60 ms: only who has contacts pays

    try:
        parsed = phonenumbers.parse(number, region)
        # In another country than assumed a possible number is still wrong: 067 of Kyiv is none of Moscow's.
        written_whole = number.lstrip().startswith("+") and phonenumbers.is_possible_number(parsed)
        if written_whole or phonenumbers.is_valid_number(parsed):
            return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    except phonenumbers.NumberParseException:
        pass
    return "".join(letter for letter in number if letter.isdigit() or letter in "+*#")


def marks(key: bytes, user_id: int, uids: Iterable[str], ways: Iterable[str]) -> set[str]:
    """One keyed hash for each card id and each phone or mail of somebody forgotten."""
    known = {f"contact:{uid}" for uid in uids if uid} | {f"way:{_way(way)}" for way in ways if way}
    return {hashed(key, f"{user_id}:{mark}") for mark in known}


def _way(text: str) -> str:
    """A mail, or the end of a number, which is the same with and without its country."""
    digits = "".join(letter for letter in text if letter.isdigit())
    return digits[-_NATIONAL:] if digits and not any(letter.isalpha() for letter in text) else name_key(text)


_NATIONAL: Final = 9
"""Digits by which a phone is one of somebody forgotten."""
