"""Text with entities as safe HTML: every character of a message is escaped, every tag is made here."""

from html import escape
from typing import Any

from bot.shared.rich_text import rich_text
from bot.simulator.entities import Entity, utf16_length, utf16_slice

_SIMPLE = {
    "bold": "b", "italic": "i", "underline": "u", "strikethrough": "s", "blockquote": "blockquote",
}  # fmt: skip
_BLOCKS = frozenset({"pre", "blockquote", "expandable_blockquote"})
_SAFE_SCHEMES = ("http://", "https://", "mailto:", "tel:")


def html_of(text: str, entities: list[Entity]) -> str:
    """`text` as HTML. Entities may nest and overlap; one that does not fit the text is clipped."""
    return _range(text, 0, utf16_length(text), sorted(entities, key=_position))


def rich_html(message: dict[str, Any]) -> str:
    """A RichMessage in JSON as HTML: a table for a table, a paragraph for each other line."""
    return "".join(map(_block, message.get("blocks", [])))


def _block(block: dict[str, Any]) -> str:
    if block.get("type") != "table":
        return "".join(f"<p>{escape(line)}</p>" for line in rich_text(block).split("\n") if line)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in block.get("cells", []))
    return f"<table>{rows}</table>"


def _cell(cell: dict[str, Any]) -> str:
    tag = "th" if cell.get("is_header") else "td"
    return f"<{tag}>{escape(rich_text(cell))}</{tag}>"


def _range(text: str, start: int, end: int, entities: list[Entity]) -> str:
    parts: list[str] = []
    queue = list(entities)
    at = start
    while queue:
        entity = queue.pop(0)
        first, last = max(int(entity["offset"]), at), min(int(entity["offset"]) + int(entity["length"]), end)
        if first >= last:
            continue
        inner, later = _split(queue, last)
        parts.append(escape(utf16_slice(text, at, first)))
        parts.append(_wrapped(entity, utf16_slice(text, first, last), _range(text, first, last, inner)))
        # A block breaks the line itself: the newline after it would be an empty line.
        ends_line = entity["type"] in _BLOCKS and utf16_slice(text, last, min(last + 1, end)) == "\n"
        at, queue = last + ends_line, later
    parts.append(escape(utf16_slice(text, at, end)))
    return "".join(parts)


def _split(entities: list[Entity], end: int) -> tuple[list[Entity], list[Entity]]:
    """The entities up to `end`, and those after it; one that crosses `end` is in both."""
    inner = [entity for entity in entities if entity["offset"] < end]
    return inner, [entity for entity in entities if entity["offset"] + entity["length"] > end]


def _wrapped(entity: Entity, plain: str, body: str) -> str:  # noqa: PLR0911 - one line for each type reads best
    kind = entity["type"]
    match kind:
        case "code":
            return f"<code>{escape(plain)}</code>"
        case "pre":
            return _preformatted(plain, str(entity.get("language") or ""))
        case "spoiler":
            return f'<label class="spoiler"><input type="checkbox" aria-label="spoiler"><span>{body}</span></label>'
        case "expandable_blockquote":
            return f'<blockquote class="expandable" tabindex="0">{body}</blockquote>'
        case "text_link" | "url" | "email":
            return _link(_address(kind, entity, plain), body)
        case "bot_command":
            return f'<a class="bot-command" role="button" tabindex="0" data-command="{escape(plain)}">{body}</a>'
        case "mention" | "text_mention" | "hashtag" | "cashtag" | "phone_number":
            return f'<span class="tag">{body}</span>'
    tag = _SIMPLE.get(kind)
    return f"<{tag}>{body}</{tag}>" if tag else body


def _preformatted(plain: str, language: str) -> str:
    caption = f'<span class="language">{escape(language)}</span>' if language else ""
    return f"<pre>{caption}<code>{escape(plain)}</code></pre>"


def _address(kind: str, entity: dict[str, Any], plain: str) -> str:
    if kind == "email":
        return f"mailto:{plain}"
    address = str(entity.get("url") or plain)
    return address if ":" in address else f"https://{address}"


def _link(address: str, body: str) -> str:
    """A link that opens in a new tab; an address of an unsafe kind (javascript:, data:, ...) is shown as text."""
    if not address.lower().startswith(_SAFE_SCHEMES):
        return f'<span class="tag">{body}</span>'
    return f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">{body}</a>'


def _position(entity: Entity) -> tuple[int, int]:
    return int(entity["offset"]), -int(entity["length"])
