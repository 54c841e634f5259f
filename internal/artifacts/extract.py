"""Extracts the text of a document, with its pages, in a process of its own, which a hostile file may end.

The module imports nothing heavy, because the process is started for each file.
"""

import contextlib
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import accumulate
from typing import Any, Final

from internal.artifacts.model import Part

MEMORY: Final = 2 << 30
"""Bytes of address space of the process. The library takes 0.4 GB of it; 300 pages with pictures some 0.3 GB."""

MOST_CHARACTERS: Final = 2_000_000
"""Most characters read of a text; the rest is left out."""

MOST_UNPACKED: Final = 200 << 20
"""Most bytes to which a packed format may unpack."""

MOST_PACKED: Final = 100
"""Most files of an archive that are read."""

_OFFICE: Final = frozenset({"docx", "xlsx", "pptx", "docm", "xlsm", "pptm"})
_OLE: Final = b"\xd0\xcf\x11\xe0"
"""The first bytes of a locked Office file: the modern formats are archives, and only a locked one is an OLE file."""

_NO_DOCUMENT: Final = ("image/", "audio/", "video/", "application/zip", "application/x-", "application/gzip")
_PLAIN: Final = frozenset({"application/json", "application/xml", "application/yaml", "application/toml"})
_CARD: Final = re.compile(r"(?i)^(BEGIN|END|VERSION|PRODID|UID|PHOTO|LOGO|KEY|SOUND|DTSTAMP|SEQUENCE|CALSCALE|REV)[;:]")
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Extracted:
    """Pieces of text with their place, where the format has places; or the reason why there is none."""

    parts: Sequence[Part] = ()
    pages: int | None = None
    reason: str | None = None


def extract(content: bytes, name: str, most_pages: int) -> Extracted:
    """The text of the first `most_pages` pages of a file."""
    _limit_memory()
    suffix = name.rpartition(".")[2].casefold()
    if content.startswith(_OLE) and suffix in _OFFICE:
        return Extracted(reason="encrypted")
    if _unpacks_to_too_much(content):
        return Extracted(reason="large")
    if suffix == "zip":
        return _packed(content, most_pages)
    kind = _format_of(content, name)
    if kind is None or kind in _PLAIN or (kind.startswith("text/") and kind != "text/html"):
        return _as_text(content, suffix)
    if kind.startswith(_NO_DOCUMENT):
        return Extracted(reason="unknown")
    return _document(content, kind, suffix, most_pages)


def _as_text(content: bytes, suffix: str) -> Extracted:
    text = _plain(content)
    if text is None:
        return Extracted(reason="unknown")
    return Extracted([Part(_lines_of_card(text) if suffix in ("vcf", "ics") else text)])


def _packed(content: bytes, most_pages: int) -> Extracted:
    """The documents in an archive, each piece with the name of its document; archives in it stay closed."""
    parts: list[Part] = []
    reasons = []
    try:
        with zipfile.ZipFile(BytesIO(content)) as packed:
            for one in packed.infolist()[:MOST_PACKED]:
                if one.is_dir() or one.filename.casefold().endswith(".zip"):
                    continue
                if one.flag_bits & 1:
                    return Extracted(reason="encrypted")
                found = extract(packed.read(one), one.filename, most_pages)
                reasons += [found.reason] * bool(found.reason)
                parts += [replace(part, title=part.title or one.filename) for part in found.parts if part.text]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return Extracted(reason="damaged")
    return Extracted(list(_within(parts))) if parts else Extracted(reason=next(iter(reasons), "unknown"))


def _document(content: bytes, kind: str, suffix: str, most_pages: int) -> Extracted:
    import kreuzberg

    from internal.artifacts import sections

    config = kreuzberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        pages=kreuzberg.PageConfig(extract_pages=True),
        include_document_structure=suffix in sections.SHEETS | sections.CHAPTERS,
        postprocessor=kreuzberg.PostProcessorConfig(enabled=False),
    )
    try:
        found = kreuzberg.extract_bytes_sync(content, kind, config)
    except Exception as error:  # the library's errors are of several kinds, and only their words differ
        said = str(error).casefold()
        locked = "password" in said or "encrypt" in said
        return Extracted(reason="encrypted" if locked else "large" if "limit exceeded" in said else "damaged")
    sections_found: Sequence[Part] = ()
    with contextlib.suppress(Exception):  # hostile or odd: its text is returned without places
        if suffix in sections.SLIDES:
            sections_found = sections.of_slides(content)[:most_pages]
        elif found.document:
            sections_found = sections.of_nodes(found.document["nodes"], content, suffix)
    if sections_found := [replace(part, text=text) for part in _within(sections_found) if (text := _tidy(part.text))]:
        return Extracted(sections_found)
    pages: list[Any] = list(found.pages or [])
    with_text = [Part(_tidy(page["content"]), int(page["page_number"])) for page in pages[:most_pages]]
    if len(pages) > 1 and any(part.text for part in with_text):
        return Extracted([part for part in with_text if part.text], len(pages))
    return Extracted([Part(_tidy(found.content)[:MOST_CHARACTERS])], len(pages) if kind == "application/pdf" else None)


def _within(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts that begin within the first MOST_CHARACTERS."""
    ends = accumulate(len(part.text) for part in parts)
    return (part for part, end in zip(parts, ends, strict=True) if end - len(part.text) < MOST_CHARACTERS)


def _tidy(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\0", "").strip()


def _format_of(content: bytes, name: str) -> str | None:
    """The format by its bytes, else by its name; None if it can only be plain text."""
    import kreuzberg

    for guess, given in ((kreuzberg.detect_mime_type, content), (kreuzberg.detect_mime_type_from_path, name)):
        with contextlib.suppress(Exception):
            found: str = guess(given)  # type: ignore[arg-type]
            return None if found == "application/octet-stream" else found
    return None


def _plain(content: bytes) -> str | None:
    """Decodes a text in any encoding. Returns None if the bytes are no text."""
    from resiliparse.parse.encoding import detect_encoding

    for encoding in ("utf-8-sig", detect_encoding(content) or "latin-1"):
        with contextlib.suppress(UnicodeDecodeError, LookupError):
            text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else encoding)
            return None if _CONTROL.search(text) else text[:MOST_CHARACTERS]
    return None


def _lines_of_card(text: str) -> str:
    """A contact card or calendar without the lines that only programs read."""
    lines = (line.strip() for line in _FOLD.sub("", text).splitlines())
    return "\n".join(line for line in lines if line and not _CARD.match(line))


def _unpacks_to_too_much(content: bytes) -> bool:
    if not content.startswith(b"PK"):
        return False
    try:
        with zipfile.ZipFile(BytesIO(content)) as packed:
            return sum(one.file_size for one in packed.infolist()) > MOST_UNPACKED
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no limits, a container may refuse them
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
