"""Reads and writes vCards 2.1, 3 and 4 as rows of properties, without loss: RFC 6350, RFC 2426, RFC 6868.

`contact_card` reads the content of a card; unknown properties stay unchanged.
"""

import quopri
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from internal.import_formats.model import Unreadable

FOLDED: Final = 75
"""Most octets of a line, without its end."""

_LINE = re.compile(
    r"(?:(?P<group>[\w-]+)\.)?(?P<name>[\w-]+)(?P<params>(?:;(?:\"[^\"]*\"|[^\":])*)?):(?P<value>.*)", re.DOTALL
)
_PARAM = re.compile(r';\s*(?P<name>[\w-]+)(?:=(?P<value>(?:"[^"]*"|[^";])*))?')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CARET = {"^n": "\n", "^'": '"', "^^": "^"}
_ENCODINGS: Final = ("utf-8-sig", "cp1251", "latin-1")


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a card: `value` is escaped as in the file, `params` are in the file's order, without quotes."""

    name: str
    value: str
    params: tuple[tuple[str, str], ...] = ()
    group: str = ""

    @property
    def text(self) -> str:
        return unescaped(self.value)

    @property
    def parts(self) -> list[str]:
        """The components of a structured value, such as a name."""
        return [unescaped(part) for part in _split(self.value, ";")]

    @property
    def types(self) -> set[str]:
        return {one.lower() for name, value in self.params if name == "TYPE" for one in value.split(",")}

    def param(self, name: str) -> str | None:
        return next((value for key, value in self.params if key == name), None)


Card = Sequence[Property]
"""The properties between BEGIN and END, VERSION included."""


def decoded(content: bytes) -> str:
    """The text of a file in UTF-8, UTF-16 or an old Cyrillic or Western encoding."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    for encoding in _ENCODINGS:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("utf-8", "replace")


def is_vcard(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n")[:11].upper() == "BEGIN:VCARD"


def read_cards(text: str) -> list[Card]:
    """The cards of a file; lines that belong to no card are left out. Raises Unreadable if it has no card."""
    cards: list[Card] = []
    current: list[Property] | None = None
    for line in _unfolded(text):
        match line.strip().upper():
            case "BEGIN:VCARD":
                current = []
            case "END:VCARD" if current is not None:
                cards.append(current)
                current = None
            case _ if current is not None and (found := _property(line)) is not None:
                current.append(found)
    if not cards:
        raise Unreadable("there is no vCard in it")
    return cards


def write_cards(cards: Iterable[Card]) -> str:
    """The text of a file with these cards; those of version 2.1 are written as version 3."""
    return "".join(
        _folded(line) for card in cards for line in ("BEGIN:VCARD", *map(_line, _current(card)), "END:VCARD")
    )


def escaped(text: str) -> str:
    """Escapes a text as a value: commas, semicolons, line breaks and backslashes stand for themselves."""
    escapes = text.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")
    return escapes.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\\n")


def unescaped(value: str) -> str:
    return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], value)


def _unfolded(text: str) -> Iterator[str]:
    """The lines with folded ones joined: by a space before, or in quoted-printable by a = behind."""
    whole = ""
    for line in re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")):
        if whole.endswith("=") and "QUOTED-PRINTABLE" in whole.partition(":")[0].upper():
            whole = whole[:-1] + line
        elif whole and line[:1] in (" ", "\t"):
            whole += line[1:]
        else:
            yield from [whole] if whole else []
            whole = line
    yield from [whole] if whole else []


def _property(line: str) -> Property | None:
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    params = tuple(_param(one) for one in _PARAM.finditer(found["params"] or ""))
    read = Property(found["name"].upper(), found["value"], params, found["group"] or "")
    encoding = (read.param("ENCODING") or "").upper()
    if encoding != "QUOTED-PRINTABLE":
        return read
    words = quopri.decodestring(read.value.encode("utf-8", "replace"))
    try:
        text = words.decode(read.param("CHARSET") or "utf-8", "replace")
    except LookupError:
        text = words.decode("utf-8", "replace")
    kept = tuple(one for one in params if one[0] not in ("ENCODING", "CHARSET"))
    return replace(read, value=re.sub(r"\r\n|\r|\n", r"\\n", text), params=kept)


def _param(found: re.Match[str]) -> tuple[str, str]:
    """A parameter; one without a name, as in version 2.1, is a type or an encoding."""
    name, value = found["name"].upper(), found["value"]
    if value is None:
        return ("ENCODING", name) if name in ("QUOTED-PRINTABLE", "BASE64", "8BIT") else ("TYPE", found["name"])
    bare = value.replace('"', "")
    return name, re.sub(r"\^[n'^]", lambda one: _CARET[one[0]], bare)


def _split(value: str, separator: str) -> list[str]:
    return re.split(rf"(?<!\\){separator}", value)


def _current(card: Card) -> Iterator[Property]:
    """The properties with VERSION first; 2.1 becomes 3, whose commas are escaped."""
    version = next((one.value for one in card if one.name == "VERSION"), "4.0")
    old = version.startswith("2")
    yield Property("VERSION", "3.0" if old else version)
    for one in card:
        if one.name != "VERSION":
            yield _of_version_3(one) if old else one


def _of_version_3(one: Property) -> Property:
    if (one.param("ENCODING") or "").upper() != "BASE64":
        return replace(one, value=re.sub(r"(?<!\\),", r"\\,", one.value))
    return replace(one, params=tuple((key, "b" if key == "ENCODING" else value) for key, value in one.params))


def _line(one: Property) -> str:
    params = "".join(f";{name}={_quoted(value)}" for name, value in one.params)
    return f"{one.group}.{one.name}{params}:{one.value}" if one.group else f"{one.name}{params}:{one.value}"


def _quoted(value: str) -> str:
    carets = value.replace("^", "^^").replace("\n", "^n").replace('"', "^'")
    return f'"{carets}"' if re.search(r"[:;,]", carets) and not re.fullmatch(r"[\w,-]+", carets) else carets


def _folded(line: str) -> str:
    """The line in pieces of at most FOLDED octets, cut between characters."""
    pieces, piece, size = [], "", 0
    for letter in line:
        width = len(letter.encode("utf-8", "surrogatepass"))
        if size + width > FOLDED:
            pieces.append(piece)
            piece, size = "", 1
        piece, size = piece + letter, size + width
    return "\r\n ".join([*pieces, piece]) + "\r\n"
