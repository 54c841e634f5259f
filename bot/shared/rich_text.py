"""The text of a rich message: its blocks line by line, if they have words."""

from typing import Any, Final

_QUOTED: Final = ("blockquote", "expandable_blockquote", "pullquote")


def rich_text(message: Any) -> str:
    """The text of a RichMessage in JSON; quotations begin with "> ". Unknown blocks give their `text`, if any."""
    return "\n".join(_lines(message))


def _lines(block: Any) -> list[str]:
    if not isinstance(block, dict):
        return []
    lines = [_inline(block.get(key)) for key in ("summary", "text", "expression")]
    lines += [" | ".join(_inline(cell) for cell in row) for row in _list(block.get("cells")) if isinstance(row, list)]
    for inner in (*_list(block.get("blocks")), *_list(block.get("items"))):
        first, *others = _lines(inner) or [""]
        label = inner.get("label") if isinstance(inner, dict) else None
        lines += [f"{label} {first}" if label and first else first, *others]
    lines += [_inline(block.get(key)) for key in ("caption", "credit")]
    found = [line for line in lines if line.strip()]
    return [f"> {line}" for line in found] if block.get("type") in _QUOTED else found


def _inline(text: Any) -> str:
    match text:
        case str():
            return text
        case list():
            return "".join(map(_inline, text))
        case {"text": inner, "credit": credit}:
            return f"{_inline(inner)} ({_inline(credit)})"
        case {"text": inner} | {"button": inner}:
            return _inline(inner)
        case {"alternative_text": str(words)} | {"expression": str(words)}:
            return words
    return ""


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []
