"""Converts Markdown to text with Telegram entities, in parts that Telegram accepts.

Telegram counts in UTF-16 units: 4096 a message, and entity offsets too. A cut inside an entity or a surrogate pair is
refused, one inside a grapheme tears an emoji or a letter from its accent.
"""

import re
from dataclasses import replace
from itertools import pairwise

import pyromark
from telegramify_markdown import RenderConfig, convert, utf16_len
from telegramify_markdown.converter import STANDARD_OPTIONS

from bot.telegram.split import LIMIT, EntitySpan, split
from internal.dialogue.mailbox.model import Rendered

__all__ = ["LIMIT", "Rendered", "draft", "escape", "render", "render_plain", "utf16_len"]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARKS = re.compile(r"[\\`*_{}\[\]#+\-.!|>~<&$=]")
_REFERENCES = {"\\": "&#92;", "[": "&#91;", "]": "&#93;"}
"""References for characters after a backslash: the converter would take brackets for the start of a LaTeX formula."""

_LINK_SCHEMES = ("http://", "https://", "tg://", "mailto:", "tel:")


def render(markdown: str) -> list[Rendered]:
    """The messages that show this Markdown; none if it has nothing visible."""
    clean = _clean(markdown)
    parts = _parts(*_convert(clean)) or render_plain(markdown)
    return [replace(parts[0], rich=_literal(clean))] if len(parts) == 1 and _has_table(clean) else parts


def render_plain(text: str) -> list[Rendered]:
    """The messages that show this text unchanged: the fallback when Telegram refuses entities."""
    return _parts(_clean(text), [])


def draft(markdown: str) -> Rendered | None:
    """Renders Markdown that is still being written: the growing message, or None before its first word.

    Open marks are closed, and a mark whose meaning may still change is held back, so that
    the shown text only grows.
    """
    text, spans = _convert(_settled(_clean(markdown)))
    parts = _parts(text, spans)
    return parts[-1] if parts else None


def escape(text: str) -> str:
    """Text made safe inside Markdown: it is shown unchanged, on one line."""
    one_line = " ".join(_clean(text).split())
    return _MARKS.sub(lambda mark: _REFERENCES.get(mark[0]) or f"\\{mark[0]}", one_line)


def _parts(text: str, spans: list[EntitySpan]) -> list[Rendered]:
    return [
        Rendered(
            part, [{"type": span.type, "offset": span.offset, "length": span.length, **span.extra} for span in its]
        )
        for part, its in split(text, spans)
    ]


def _has_table(markdown: str) -> bool:
    if "|" not in markdown:
        return False
    events = pyromark.events(markdown, options=STANDARD_OPTIONS)
    return any(isinstance(event, dict) and "Table" in str(event.get("Start")) for event in events)


def _clean(text: str) -> str:
    """The text without characters that no message can contain: control characters and halves of surrogate pairs."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub("", whole.replace("\r\n", "\n").replace("\r", "\n"))


def _symbols() -> RenderConfig:
    config = RenderConfig.isolated()
    symbol = config.markdown_symbol
    symbol.heading_level_1 = symbol.heading_level_2 = symbol.heading_level_3 = symbol.heading_level_4 = ""
    symbol.unordered_list_item = "•"
    symbol.task_uncompleted = "☐"
    symbol.horizontal_rule = "———"
    symbol.image = ""
    return config


_CONFIG = _symbols()


def _convert(markdown: str) -> tuple[str, list[EntitySpan]]:
    text, entities = convert(_literal(markdown), config=_CONFIG)
    spans = []
    for entity in entities:
        described = entity.to_dict()
        url = described.get("url")
        if url is None or url.startswith(_LINK_SCHEMES):
            spans.append(EntitySpan(described.pop("type"), described.pop("offset"), described.pop("length"), described))
    return text, spans


def _literal(markdown: str) -> str:
    """Escapes marks that are the author's text: HTML, which the converter drops, and prices read as formulas."""
    if "<" not in markdown and "$" not in markdown:
        return markdown
    while offsets := _misread(markdown):
        source = markdown.encode()
        bounds = [0, *sorted(offsets), len(source)]
        markdown = b"\\".join(source[a:b] for a, b in pairwise(bounds)).decode()
    return markdown


def _misread(markdown: str) -> set[int]:
    """Byte offsets of the marks to escape. An escaped mark is not found again, so that escaping ends."""
    source = markdown.encode()
    offsets: set[int] = set()
    for payload, span in pyromark.events_with_range(markdown, options=STANDARD_OPTIONS):
        if not isinstance(payload, dict):
            continue
        start, end = span["start"], span["end"]
        if "InlineHtml" in payload or "Html" in payload:
            offsets |= {start + match.start() for match in re.finditer(b"<", source[start:end])}
        elif "InlineMath" in payload and _is_price(payload["InlineMath"], source[:start]):
            offsets |= {start, end - 1}
    return offsets


def _is_price(formula: str, before: bytes) -> bool:
    """Whether a formula is two prices, like `5$, потом 7$`: a sum precedes the mark, or words stand between the two."""
    return before[-1:].isdigit() or re.search(r"[^\W\d_a-zA-Z]|[a-zA-Z]+ [a-zA-Z]{2,}", formula) is not None


_HELD_LINE = re.compile(r"(?:^|\n)[ \t]*(?:[-=#>*+_~|`]+|\d{1,9}[.)]?)?[ \t]*$")
_HELD_LINK = re.compile(r"!?\[([^\[\]\n]*)(?:\](?:\([^()\s]*)?)?$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_HELD_FENCE = re.compile(r"\n[ \t]*(?:`{1,2}|~{1,2})?$")
_INLINE = re.compile(r"\\.|`+|\*\*|\*|~~|\|\||__|_", re.DOTALL)


def _settled(markdown: str) -> str:
    """The Markdown so far, without an end that the next letters may change, and with open marks closed."""
    fences = list(_FENCE.finditer(markdown))
    if len(fences) % 2:
        return _HELD_FENCE.sub("", markdown)
    begin = markdown.rfind("\n\n") + 2 if "\n\n" in markdown else 0
    begin = max(begin, fences[-1].end() if fences else 0)
    last = _without_tail(markdown[begin:])
    return f"{markdown[:begin]}{last}{_closers(last)}"


def _without_tail(block: str) -> str:
    if block.startswith("|") and block.count("\n") < 2:
        return ""  # a table is not recognised before the line below its header
    block = _HELD_LINE.sub("", block)
    block = _HELD_LINK.sub(r"\1", block)
    return block.rstrip("*_~|`\\ \t")


def _closers(block: str) -> str:
    """The marks that close the open ones at the end of a block, innermost first."""
    stack: list[str] = []
    for match in _INLINE.finditer(block):
        mark = match[0]
        if mark.startswith("\\"):
            continue
        code = stack[-1] if stack and stack[-1].startswith("`") else None
        if code is not None:
            if mark == code:
                stack.pop()
        elif mark in stack and _may_close(block, match):
            del stack[len(stack) - 1 - stack[::-1].index(mark) :]
        elif _may_open(block, match):
            stack.append(mark)
    return "".join(reversed(stack))


def _may_open(block: str, match: re.Match[str]) -> bool:
    after = block[match.end() : match.end() + 1]
    before = block[match.start() - 1 : match.start()] if match.start() else ""
    return bool(after) and not after.isspace() and not (match[0].startswith("_") and before.isalnum())


def _may_close(block: str, match: re.Match[str]) -> bool:
    before = block[match.start() - 1 : match.start()] if match.start() else " "
    after = block[match.end() : match.end() + 1]
    return not before.isspace() and not (match[0].startswith("_") and after.isalnum())
