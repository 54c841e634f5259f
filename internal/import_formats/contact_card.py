"""Reads the card of an address book: names, phones, mails, relations and so on, each with its line."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Literal

from internal.import_formats.model import clean
from internal.import_formats.vcard import Card, Property, escaped

ItemKind = Literal[
    "phone", "email", "address", "organization", "title", "birthday", "anniversary", "relation", "note", "url"
]

PLAIN: Final[dict[str, ItemKind]] = {
    "TEL": "phone", "EMAIL": "email", "ORG": "organization", "TITLE": "title", "NOTE": "note", "URL": "url",
    "BDAY": "birthday", "ADR": "address", "RELATED": "relation", "X-ABRELATEDNAMES": "relation",
    "ANNIVERSARY": "anniversary", "X-ANNIVERSARY": "anniversary", "X-EVOLUTION-ANNIVERSARY": "anniversary",
    "X-MS-ANNIVERSARY": "anniversary", "X-ABDATE": "anniversary",
}  # fmt: skip
_NAMED_RELATIONS: Final = {
    "X-SPOUSE": "spouse", "X-MANAGER": "manager", "X-ASSISTANT": "assistant",
    "X-MS-SPOUSE": "spouse", "X-MS-MANAGER": "manager", "X-MS-ASSISTANT": "assistant",
}  # fmt: skip
DATED: Final = frozenset({"birthday", "anniversary"})
"""Kinds of items that are days."""
_WEDDING: Final = re.compile("anniversary|годовщин|річниц", re.I)
"""Labels of Apple's dates that are an anniversary."""
_DATE = re.compile(r"(?P<year>\d{4}|--)-?(?P<month>\d\d)-?(?P<day>\d\d)(?:[T ].*)?")
_TELEGRAM = re.compile(
    r"(?:tg|telegram|https?://t\.me|https?://telegram\.me)[:/]*(?:user\?id=|@)?(?P<name>[\w]{3,40})", re.I
)
_LONGEST: Final = 1_000
_LEAP_YEAR: Final = 2000


@dataclass(frozen=True, slots=True)
class CardItem:
    """One item of a card. `value` is clean text: a date as 1990-06-05 or --06-05; `label` is the relation's.

    `uid` is the card of the related person, if the relation has no name.
    """

    kind: ItemKind
    value: str
    label: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Contact:
    """The content of a card. `uid` is empty if the card has none; `names` are other names than the first."""

    name: str
    uid: str = ""
    names: tuple[str, ...] = ()
    telegram_id: int | None = None
    username: str | None = None
    items: tuple[CardItem, ...] = ()
    card: Card = field(default=(), compare=False)

    def values(self, kind: ItemKind) -> list[str]:
        return [item.value for item in self.items if item.kind == kind]


def contact_of(card: Card) -> Contact:
    """Reads a card. The name is empty if it has none, and no nickname, organization or mail."""
    full = _texts(card, "FN")
    nick = [one for text in _texts(card, "NICKNAME") for one in re.split(r"\s*,\s*", text)]
    items = [item for one in card for item in _items(one, card)]
    named = [*full, _from_parts(card), *nick, *(i.value for i in items if i.kind in ("organization", "email"))]
    names = [name for name in dict.fromkeys(map(clean, named)) if name]
    username, telegram_id = _telegram(card)
    others = dict.fromkeys(name for name in (*full[1:], *nick) if name and name != names[0]) if names else ()
    return Contact(
        names[0] if names else "",
        clean(next(iter(_texts(card, "UID")), "")),
        tuple(others),
        telegram_id,
        username,
        tuple(dict.fromkeys(items)),
        card,
    )


def new_card(name: str, uid: str, names: Sequence[str], items: Iterable[CardItem], username: str | None = None) -> Card:
    """A card of version 4 with this content."""
    first, _, rest = name.partition(" ")
    parts = f"{escaped(rest)};{escaped(first)};;;"
    made = [
        Property("VERSION", "4.0"),
        Property("UID", escaped(uid)),
        Property("FN", escaped(name)),
        Property("N", parts),
    ]
    made += [Property("NICKNAME", ",".join(map(escaped, names)))] if names else []
    made += [Property("IMPP", f"https://t.me/{username}", (("TYPE", "telegram"),))] if username else []
    return [*made, *(property_of(item) for item in items)]


def property_of(item: CardItem) -> Property:
    """The property of version 4 for an item, from which the same item is read."""
    match item.kind:
        case "relation":
            value = ("VALUE", "uri") if item.uid and not item.value else ("VALUE", "text")
            return Property(
                "RELATED", item.uid if value[1] == "uri" else escaped(item.value), (("TYPE", item.label), value)
            )
        case "address":
            return Property("ADR", f";;{escaped(item.value)};;;;")
        case "birthday" | "anniversary":
            return Property(
                "BDAY" if item.kind == "birthday" else "ANNIVERSARY",
                item.value.replace("-", "") if item.value[:1] != "-" else f"--{item.value[2:].replace('-', '')}",
            )
    return Property(next(name for name, kind in PLAIN.items() if kind == item.kind), escaped(item.value))


def _items(one: Property, card: Card) -> list[CardItem]:
    if one.name in _NAMED_RELATIONS:
        return [CardItem("relation", text, _NAMED_RELATIONS[one.name])] if (text := clean(one.text)) else []
    kind = PLAIN.get(one.name)
    match kind:
        case None:
            return []
        case "relation":
            return _relation(one, card)
        case "address":
            value = ", ".join(part for raw in one.parts if (part := clean(raw).replace("\n", ", ")))
        case "organization":
            value = clean(one.parts[0])
        case "anniversary" if one.name == "X-ABDATE" and not _WEDDING.search(_label(one, card)):
            value = ""
        case "birthday" | "anniversary":
            value = _day(one)
        case "phone":
            value = re.split(r";ext=", clean(one.text).removeprefix("tel:"))[0]
        case _:
            value = clean(one.text)
    return [CardItem(kind, value[:_LONGEST])] if value else []


def _relation(one: Property, card: Card) -> list[CardItem]:
    label = next(iter(sorted(one.types - {"pref", "voice", "contact"})), "")
    label = _label(one, card) or label
    value = clean(one.text)
    if value.startswith("urn:") or one.param("VALUE") == "uri":
        return [CardItem("relation", "", label, value)] if value else []
    return [CardItem("relation", value[:_LONGEST], label)] if value else []


def _label(one: Property, card: Card) -> str:
    """The label of a property, which its group has."""
    return next(
        (other.text for other in card if one.group and (other.name, other.group) == ("X-ABLABEL", one.group)), ""
    )


def _day(one: Property) -> str:
    """The day of a property; empty for an impossible one such as 31 April or 29 February 1985."""
    found = _DATE.fullmatch(one.value.strip())
    if found is None:
        return ""
    unknown = found["year"] in ("--", "0000", one.param("X-APPLE-OMIT-YEAR"))
    try:
        date(_LEAP_YEAR if unknown else int(found["year"]), int(found["month"]), int(found["day"]))
    except ValueError:
        return ""
    return f"{'-' if unknown else found['year']}-{found['month']}-{found['day']}"


def _telegram(card: Card) -> tuple[str | None, int | None]:
    """The username and the id of a Telegram account that the card names."""
    username: str | None = None
    number: int | None = None
    for one in card:
        if one.name in ("IMPP", "X-SOCIALPROFILE", "URL", "X-TELEGRAM"):
            marked = one.name == "X-TELEGRAM" or "telegram" in one.types
            text = one.text.strip()
            found = _TELEGRAM.fullmatch(text) or (
                re.fullmatch(r"(?:x-apple:)?@?(?P<name>\w{3,40})", text) if marked else None
            )
            if found is not None and found["name"].isdecimal():
                number = int(found["name"])
            elif found is not None:
                username = found["name"]
    return username, number


def _from_parts(card: Card) -> str:
    """The name from its parts: prefix, given name, further ones and family name."""
    for one in card:
        if one.name == "N":
            family, given, further, *_ = [*one.parts, "", "", ""]
            return " ".join(part for part in (given, further, family) if part.strip())
    return ""


def _texts(card: Card, name: str) -> list[str]:
    return [text for one in card if one.name == name and (text := clean(one.text))]
