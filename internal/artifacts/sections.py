"""The content of a spreadsheet by sheet and row, of a presentation by slide, and of an e-book by chapter.

kreuzberg reads spreadsheets and e-books, but loses the row in which a sheet begins; it loses slides altogether.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, Final
from xml.etree.ElementTree import Element, fromstring

from internal.artifacts.model import Part
from internal.language.text.passages import batches

SHEETS, SLIDES, CHAPTERS = frozenset({"xlsx", "xlsm"}), frozenset({"pptx", "pptm"}), frozenset({"epub"})

_IN_PART: Final = 500
"""Most characters of rows that are cited together."""
_LONGEST_TITLE: Final = 60
_FIRST_CELL: Final = re.compile(rb'<c\b[^>]*\br="[A-Z]+(\d+)"[^>/]*>\s*<(?:v|is|f)\b')
_RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def of_slides(content: bytes) -> list[Part]:
    """The words of each slide, its tables and notes, in the order of the presentation."""
    with zipfile.ZipFile(BytesIO(content)) as packed:
        return [
            Part(
                "\n".join(
                    filter(None, (_words(packed, slide), *(_words(packed, one) for one in _notes(packed, slide))))
                ),
                n,
            )
            for n, (_, slide) in enumerate(_members(packed, "ppt/presentation.xml", "sldId"), start=1)
        ]


def of_nodes(nodes: Sequence[Mapping[str, Any]], content: bytes, suffix: str) -> list[Part]:
    """The parts of a sheet by rows, or of a book by chapters; each begins with a heading of the highest rank."""
    contents = [node["content"] for node in nodes]
    top = min((one["level"] for one in contents if one["node_type"] == "heading"), default=0)
    first_rows = _first_rows(content) if suffix in SHEETS else {}
    parts: list[Part] = []
    text: list[str] = []
    n, title = 0, ""

    def close() -> None:
        if text:
            parts.append(Part("\n\n".join(text), n or None, title))
            text.clear()

    for one in contents:
        heading = one["node_type"] == "heading" and one["level"] == top
        if heading:
            close()
            n, title = n + 1, " ".join(one["text"].split())[:_LONGEST_TITLE]
        if one["node_type"] == "table":
            close()
            parts += _rows(one["grid"], n or None, title, first_rows.get(title, 1) if suffix in SHEETS else None)
        elif one.get("text") and not (heading and suffix in SHEETS):
            text.append(one["text"])
    close()
    return parts


def _rows(grid: Mapping[str, Any], n: int | None, title: str, first: int | None) -> Iterator[Part]:
    """Groups rows into parts, each with the first row, which mostly names the columns."""
    rows = [[""] * grid["cols"] for _ in range(grid["rows"])]
    for cell in grid["cells"]:
        rows[cell["row"]][cell["col"]] = " ".join(cell["content"].split()).removesuffix(" 00:00:00")
    lines = [(at, " | ".join(row)) for at, row in enumerate(rows, first or 1) if any(row)]
    head = lines[0][1] if lines else ""
    for held in batches(lines, _IN_PART, lambda line: len(line[1])):
        said, begun, ended = [line for _, line in held], held[0][0], held[-1][0]
        row = "" if first is None else str(begun) if begun == ended else f"{begun}–{ended}"
        yield Part("\n".join(said if said[0] == head else [head, *said]), n, title, row)


def _first_rows(content: bytes) -> dict[str, int]:
    """The number of the row in which each sheet begins."""
    with zipfile.ZipFile(BytesIO(content)) as packed:
        found = {
            name: _FIRST_CELL.search(packed.read(sheet)) for name, sheet in _members(packed, "xl/workbook.xml", "sheet")
        }
    return {name: int(cell[1]) for name, cell in found.items() if cell}


def _members(packed: zipfile.ZipFile, whole: str, tag: str) -> Iterator[tuple[str, str]]:
    """The name and file of each sheet or slide, in their order."""
    targets = {one.get("Id"): target for one, target in _related(packed, whole)}
    for one in _tagged(fromstring(packed.read(whole)), tag):
        if (target := targets.get(one.get(_RELATION))) in packed.namelist():
            yield " ".join(one.get("name", "").split())[:_LONGEST_TITLE], target


def _notes(packed: zipfile.ZipFile, slide: str) -> Iterator[str]:
    for one, target in _related(packed, slide):
        if one.get("Type", "").endswith("/notesSlide"):
            yield target


def _related(packed: zipfile.ZipFile, member: str) -> Iterator[tuple[Element, str]]:
    folder, _, name = member.rpartition("/")
    if (links := f"{folder}/_rels/{name}.rels") in packed.namelist():
        for one in fromstring(packed.read(links)):
            yield one, posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/")


def _words(packed: zipfile.ZipFile, member: str) -> str:
    paragraphs = (
        "".join(run.text or "" for run in _tagged(one, "t")) for one in _tagged(fromstring(packed.read(member)), "p")
    )
    return "\n".join(filter(str.strip, paragraphs))


def _tagged(within: Element, tag: str) -> Iterator[Element]:
    """Elements of this name in any namespace."""
    return within.iterfind(f".//{{*}}{tag}")
