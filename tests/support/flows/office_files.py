"""Files as office programs and publishers write them, as small as they can be: sheets, slides, chapters."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_XHTML = "http://www.w3.org/1999/xhtml"
_EPUB = "http://www.idpf.org/2007/opf"


def workbook(sheets: Mapping[str, tuple[int, Sequence[Sequence[str]]]]) -> bytes:
    """Each sheet by its name, with the number of its first row."""
    named = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
    files = {"xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}"><sheets>{named}</sheets></workbook>'}
    for n, (first, rows) in enumerate(sheets.values(), 1):
        lines = "".join(
            f'<row r="{at}">{"".join(_cell(f"{chr(66 + c)}{at}", text) for c, text in enumerate(row))}</row>'
            for at, row in enumerate(rows, first)
        )
        files[f"xl/worksheets/sheet{n}.xml"] = f'<worksheet xmlns="{_SHEET}"><sheetData>{lines}</sheetData></worksheet>'
    targets = {f"r{n}": f"worksheets/sheet{n}.xml" for n in range(1, len(sheets) + 1)}
    return _packed("xl", "workbook", "spreadsheetml.sheet.main", targets, "worksheet", files)


def presentation(*slides: str) -> bytes:
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    names = f'xmlns:p="{_SLIDE}" xmlns:a="{_DRAWING}" xmlns:r="{_OFFICE}"'
    files = {"ppt/presentation.xml": f"<p:presentation {names}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"}
    for n, text in enumerate(slides, 1):
        body = f"<p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody>"
        shape = f"<p:cSld><p:spTree><p:sp>{body}</p:sp></p:spTree></p:cSld>"
        files[f"ppt/slides/slide{n}.xml"] = f"<p:sld {names}>{shape}</p:sld>"
    targets = {f"r{n}": f"slides/slide{n}.xml" for n in range(1, len(slides) + 1)}
    return _packed("ppt", "presentation", "presentationml.presentation.main", targets, "slide", files)


def book(chapters: Mapping[str, str]) -> bytes:
    items = "".join(
        f'<item id="c{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "b.opf": f'<package xmlns="{_EPUB}" version="3.0"><manifest>{items}</manifest><spine>{spine}</spine></package>',
    }
    for n, (title, text) in enumerate(chapters.items()):
        files[f"{n}.xhtml"] = f'<html xmlns="{_XHTML}"><body><h1>{title}</h1><p>{text}</p></body></html>'
    return archive(files)


def _cell(at: str, text: str) -> str:
    return f'<c r="{at}" t="inlineStr"><is><t>{text}</t></is></c>'


def _packed(
    folder: str, main: str, kind: str, targets: Mapping[str, str], relation: str, files: Mapping[str, str]
) -> bytes:
    """A package of Office: what is in it, and what belongs to what."""
    prefix = "application/vnd.openxmlformats-officedocument."
    whole = f'<Override PartName="/{folder}/{main}.xml" ContentType="{prefix}{kind}+xml"/>'
    types = f'<Default Extension="rels" ContentType="application/xml"/>{whole}'
    return archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{types}</Types>',
            "_rels/.rels": _relations({"r0": f"{folder}/{main}.xml"}, "officeDocument"),
            f"{folder}/_rels/{main}.xml.rels": _relations(targets, relation),
            **files,
        }
    )


def _relations(targets: Mapping[str, str], kind: str) -> str:
    each = "".join(f'<Relationship Id="{id_}" Type="{_OFFICE}/{kind}" Target="{to}"/>' for id_, to in targets.items())
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{each}</Relationships>'


def archive(files: Mapping[str, str | bytes]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return packed.getvalue()
