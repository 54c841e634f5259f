"""Reads Google's CSV of contacts, old and new, as cards: a column without a property of its own keeps its name."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Final

from internal.import_formats.model import Unreadable
from internal.import_formats.vcard import Card, Property, escaped

_SEVERAL: Final = " ::: "
_NUMBERED = re.compile(r"(?P<what>[\w -]+?) (?P<n>\d+) - (?P<part>[\w ]+)")
_PROPERTIES: Final = {"E-mail": "EMAIL", "Phone": "TEL", "Website": "URL"}
_NAME_PARTS: Final = (
    ("Last Name", "Family Name"),
    ("First Name", "Given Name"),
    ("Middle Name", "Additional Name"),
    ("Name Prefix",),
    ("Name Suffix",),
)
_TAKEN: Final = {
    "Name",
    "Nickname",
    "Birthday",
    "Notes",
    "Organization Name",
    "Organization Title",
    "Organization Department",
}


def is_google_csv(text: str) -> bool:
    """Whether the first line is the head of such a file."""
    head = text.lstrip("\ufeff").partition("\n")[0]
    return ("Given Name" in head or "First Name" in head) and (
        "E-mail 1" in head or "Phone 1" in head or "Birthday" in head
    )


def read_google_csv(text: str) -> list[Card]:
    """A card for each row. Raises Unreadable for a file of another kind, or without a row."""
    try:
        rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff")), strict=False))
    except csv.Error as error:
        raise Unreadable(f"the CSV cannot be read: {error}") from None
    cards: list[Card] = [list(_properties(row)) for row in rows]
    cards = [card for card in cards if len(card) > 1]
    if not cards:
        raise Unreadable("there is no contact in it")
    return cards


def _properties(row: Mapping[str | None, str | None]) -> Iterator[Property]:
    cells = {key: value.strip() for key, value in row.items() if key and isinstance(value, str) and value.strip()}
    yield Property("VERSION", "4.0")
    parts = [next((cells[name] for name in names if name in cells), "") for names in _NAME_PARTS]
    family, given, further, *_ = parts
    if full := cells.get("Name") or " ".join(part for part in (given, further, family) if part):
        yield Property("FN", escaped(full))
    if any(parts):
        yield Property("N", ";".join(map(escaped, parts)))
    for column, name in (("Nickname", "NICKNAME"), ("Notes", "NOTE"), ("Organization Title", "TITLE")):
        if column in cells:
            yield Property(name, escaped(cells[column]))
    if "Birthday" in cells:
        yield Property("BDAY", cells["Birthday"].replace(" ", ""))
    if "Organization Name" in cells:
        yield Property(
            "ORG", ";".join(escaped(cells[c]) for c in ("Organization Name", "Organization Department") if c in cells)
        )
    yield from _numbered(cells)
    names = {name for several in _NAME_PARTS for name in several}
    for column, value in cells.items():
        if column not in names | _TAKEN and _NUMBERED.fullmatch(column) is None:
            yield Property("X-GOOGLE-FIELD", escaped(value), (("LABEL", column),))


def _numbered(cells: Mapping[str, str]) -> Iterator[Property]:
    """The properties from numbered columns, such as "Phone 2 - Value" with "Phone 2 - Label"."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for column, value in cells.items():
        if (found := _NUMBERED.fullmatch(column)) is not None:
            groups.setdefault((found["what"], found["n"]), {})[found["part"]] = value
    for (what, _), group in groups.items():
        label = (group.get("Label") or group.get("Type") or "").lstrip("* ").strip()
        typed = (("TYPE", label),) if label else ()
        if what == "Address":
            text = group.get("Formatted") or ", ".join(v for part, v in group.items() if part not in ("Label", "Type"))
            yield Property("ADR", f";;{escaped(text)};;;;", typed)
        elif what == "Organization":
            yield from (
                Property(name, escaped(group[part]))
                for part, name in (("Name", "ORG"), ("Title", "TITLE"))
                if part in group
            )
        elif "Value" in group:
            for value in group["Value"].split(_SEVERAL):
                if what == "Relation":
                    yield Property("RELATED", escaped(value), (*typed, ("VALUE", "text")))
                elif what in _PROPERTIES:
                    yield Property(_PROPERTIES[what], escaped(value), typed)
                else:
                    yield Property("X-GOOGLE-FIELD", escaped(value), (("LABEL", f"{what}: {label}"),))
