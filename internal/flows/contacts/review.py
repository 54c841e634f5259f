"""The outcome for each card of address books: the review shown before and after an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from internal.import_formats.contact_card import DATED, CardItem, Contact
from internal.import_formats.google_contacts import is_google_csv, read_google_csv
from internal.import_formats.model import Unreadable
from internal.import_formats.vcard import Card, is_vcard, read_cards
from internal.language.facts.occasion_names import day_words
from internal.language.kinship.kinds import kin_of_label
from internal.people.model import Circle

Outcome = Literal["new", "updated", "same", "forgotten", "self", "nameless", "refused"]

TO_OWNER: Final = "X-LAPLACED-RELATION"
GONE: Final = "X-LAPLACED-GONE"
CIRCLE: Final = "X-LAPLACED-CIRCLE"
"""Properties of our own: the relation to the owner, values removed on a server, and the circle."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The outcome for one card: `reason` says how a known person was found, `adds` what is new about him.

    `perhaps` are the names of people who may be the same: the owner is asked.
    """

    name: str
    outcome: Outcome
    person_id: int | None = None
    person: str = ""
    reason: str = ""
    adds: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()


@dataclass(slots=True)
class ImportReport:
    """The review of all cards, in their order, and whether anything was stored."""

    reviewed: list[Reviewed] = field(default_factory=list)
    dry_run: bool = False

    def count(self, *outcomes: Outcome) -> int:
        return sum(one.outcome in outcomes for one in self.reviewed)


@dataclass(frozen=True, slots=True)
class BookCard:
    """A card with its address in a book on a server, if it did not come in a file."""

    card: Card
    href: str | None = None
    etag: str | None = None


def cards_of(text: str) -> list[Card]:
    """The cards of a file, a vCard or Google's CSV. Raises Unreadable."""
    if is_vcard(text):
        return read_cards(text)
    if is_google_csv(text):
        return read_google_csv(text)
    raise Unreadable("this is neither a vCard nor a CSV of Google's contacts")


def merge_cards(one: Card, other: Card) -> Card:
    """The first card with the properties that only the other has."""
    known = {(each.name, each.value) for each in one}
    single = {"VERSION", "UID", "FN", "N", "REV", "PRODID", "PHOTO", "BDAY"} & {each.name for each in one}
    return [*one, *(each for each in other if each.name not in single and (each.name, each.value) not in known)]


def is_company(contact: Contact) -> bool:
    kinds = {(one.name, one.value.strip().casefold()) for one in contact.card}
    return bool(
        kinds & {("X-ABSHOWAS", "company"), ("KIND", "org"), ("KIND", "group"), ("X-ADDRESSBOOKSERVER-KIND", "group")}
    )


def circle_of(contact: Contact) -> Circle | None:
    for one in contact.card:
        if one.name == CIRCLE:
            try:
                return Circle.parse(one.text)
            except ValueError:
                return None
    kin = kin_of_label(next((one.text for one in contact.card if one.name == TO_OWNER), "?"))
    return Circle.FAMILY if kin is not None and kin.kind in ("parent", "child", "sibling", "spouse") else None


def line_of(item: CardItem, language: str) -> str:
    label = f" {item.label}" if item.label else ""
    return f"{item.kind}{label}: {value_words(item, language) or item.uid}"


def value_words(item: CardItem, language: str) -> str:
    """The value of an item; a date in the words of a language."""
    if item.kind not in DATED:
        return item.value
    month, day, year = day_of(item)
    return day_words(month, day, language, year)


def day_of(item: CardItem) -> tuple[int, int, int | None]:
    """(month, day, year or None) of a birthday or an anniversary."""
    year, month, day = item.value.rsplit("-", 2)
    return int(month), int(day), int(year) if year.isdecimal() else None
