"""Forgets what came from address books: cards, their episodes, and by keyed hashes that they do not come back."""

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.contacts import repository
from internal.contacts.model import StoredContact, marks
from internal.import_formats.contact_card import contact_of
from internal.import_formats.vcard import Card, is_vcard, read_cards, write_cards
from internal.knowledge import episode_repository as episodes
from internal.knowledge import fact_repository
from internal.language.text.spelling import name_key
from internal.people import suggestion_repository
from internal.people.model import Person

_WAYS: Final = frozenset({"HAS_PHONE", "HAS_EMAIL"})
"""Facts by which a forgotten person would be found again in an address book."""

_WORD = re.compile(r"[^\W_]+")
_TELLING: Final = 7
"""Digits by which two numbers are one."""

EPISODE: Final = "contact"
"""How the `dedupe` of an episode begins that holds what a card says of a person."""


def episode_key(person_id: int, content: str) -> str:
    return f"{EPISODE}/{person_id}/{content}"


def forget_cards(
    connection: Connection, user_id: int, forgotten: Collection[Person], key: bytes, at: datetime
) -> list[str]:
    """Drops the cards of forgotten people and keeps hashes of their ids, phones and mails.

    Returns the ids of the episodes that hold what those cards said, for the caller to erase.
    """
    held = fact_repository.at_nodes(connection, user_id, [person.entity_id for person in forgotten])
    targets = [one.fact.target for one in held if one.fact.name in _WAYS]
    ways = list(fact_repository.names_of(connection, user_id, targets).values())
    ids, uids = {person.id for person in forgotten}, list[str]()
    for one in repository.listing(connection, user_id):
        if one.person_id in ids:
            uids.append(one.uid)
            items = contact_of(_card(one)).items
            ways += [item.value for item in items if item.kind in ("phone", "email")]
    suggestion_repository.mark_forgotten(connection, user_id, marks(key, user_id, uids, ways), at)
    repository.drop(connection, user_id, ids)
    without_values(connection, user_id, [name for person in forgotten for name in person.names])
    return [id for one in ids for id in episodes.ids_of_dedupe(connection, user_id, episode_key(one, ""))]


def without_values(connection: Connection, user_id: int, said: Iterable[str]) -> None:
    """Takes out of stored cards the lines that hold an erased value, a phone in any spelling."""
    gone = {name_key(text) for text in said}
    for one in repository.listing(connection, user_id):
        card = _card(one)
        kept = [line for line in card if line.name in ("FN", "N", "VERSION") or not _says(line.text, gone)]
        if not card:
            repository.drop(connection, user_id, [one.person_id])
        elif len(kept) < len(card):
            repository.put(connection, replace(one, card=write_cards([kept])))


def _card(stored: StoredContact) -> Card:
    """The stored card; empty for a text that is none any more."""
    return read_cards(stored.card)[0] if is_vcard(stored.card) else ()


def _says(text: str, gone: Collection[str]) -> bool:
    words = f" {' '.join(_WORD.findall(name_key(text)))} "
    return any(f" {' '.join(_WORD.findall(one))} " in words or _same_number(text, one) for one in gone if one)


def _same_number(one: str, other: str) -> bool:
    """Whether two texts are one phone number, with its country or without."""
    digits = ["".join(letter for letter in text if letter.isdigit()).lstrip("0") for text in (one, other)]
    shorter, longer = sorted(digits, key=len)
    bare = not any(letter.isalpha() for letter in one + other)
    return bare and len(shorter) >= _TELLING and longer.endswith(shorter)
