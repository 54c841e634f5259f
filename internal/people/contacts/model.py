"""Cards of address books, each belonging to one person, and the keys by which two cards are equal."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from internal.language.text.spelling import name_key
from internal.storage.forgetting.tombstone_repository import hashed

FILES: Final = ""
"""The book of imported files; other books are the addresses of collections on servers."""


@dataclass(frozen=True, slots=True)
class StoredContact:
    """A card as last seen in a book: its text, and its place on a server (`href`, `etag`)."""

    user_id: int
    book: str
    person_id: int
    uid: str
    card: str
    updated_at: datetime
    href: str | None = None
    etag: str | None = None


def phone_key(number: str, region: str | None) -> str:
    """A number in international form (E.164), read as one of this country; only its digits if it is no number."""
    import phonenumbers  # takes 60 ms with its tables, only needed for contacts

    try:
        parsed = phonenumbers.parse(number, region)
        # A possible number may belong to another country than assumed: 067 of Kyiv does not exist in Moscow.
        written_whole = number.lstrip().startswith("+") and phonenumbers.is_possible_number(parsed)
        if written_whole or phonenumbers.is_valid_number(parsed):
            return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    except phonenumbers.NumberParseException:
        pass
    return "".join(letter for letter in number if letter.isdigit() or letter in "+*#")


def marks(key: bytes, user_id: int, uids: Iterable[str], ways: Iterable[str]) -> set[str]:
    """The keyed hashes of each card id and each phone or mail address of a forgotten person."""
    known = {f"contact:{uid}" for uid in uids if uid} | {f"way:{_way(way)}" for way in ways if way}
    return {hashed(key, f"{user_id}:{mark}") for mark in known}


def _way(text: str) -> str:
    """A mail address, or the end of a phone number, which does not depend on the country code."""
    digits = "".join(letter for letter in text if letter.isdigit())
    return digits[-_NATIONAL:] if digits and not any(letter.isalpha() for letter in text) else name_key(text)


_NATIONAL: Final = 9
"""The last digits of a phone that are compared with those of forgotten people."""
