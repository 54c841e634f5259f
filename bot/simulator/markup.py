"""`parse_mode`: turns HTML and both Markdowns into plain text with entities, and refuses what Telegram refuses."""

import html
import re
from dataclasses import dataclass, field

from bot.simulator.entities import Entity, utf16_length
from bot.simulator.server.errors import ApiRefusal, bad_request

_HTML_TAGS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler",
    "span": "spoiler", "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}  # fmt: skip
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)((?:\s+[\w-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?)*)\s*/?>")
_ATTRIBUTE = re.compile(r"([\w-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")

_RESERVED = "_*[]()~`>#+-=|{}.!"
_PAIRED = {"*": "bold", "_": "italic", "__": "underline", "~": "strikethrough", "||": "spoiler"}


def parse(text: str, parse_mode: str | None) -> tuple[str, list[Entity]]:
    """Plain text and its entities. `parse_mode` is empty, `HTML`, `MarkdownV2` or the old `Markdown` in any case.

    Raises Telegram's 400 for markup that does not parse.
    """
    match (parse_mode or "").lower():
        case "":
            return text, []
        case "html":
            return _Html(text).parse()
        case "markdownv2":
            return _MarkdownV2(text).parse()
        case "markdown":
            return _old_markdown(text)
    raise bad_request("unsupported parse_mode")


_OLD = re.compile(
    r"\\(?P<escaped>[_*`\[])|```(?P<pre>.*?)```|`(?P<code>[^`]*)`|\*(?P<bold>[^*]*)\*|_(?P<italic>[^_]*)_"
    r"|\[(?P<text_link>[^\]]*)\](?:\((?P<url>[^)]*)\))?|(?P<open>[_*`\[])|(?P<plain>[^_*`\[\\]+|\\)",
    re.DOTALL,
)


def _old_markdown(text: str) -> tuple[str, list[Entity]]:
    """The Markdown from before 2019: entities are not nested, and nothing is escaped inside one."""
    out = _Output()
    for match in _OLD.finditer(text):
        kind, start = str(match.lastgroup), out.length
        if kind == "open":
            raise _fault(f"Can't find end of the entity starting at byte offset {_bytes(text, match.start())}")
        kind = "text_link" if kind == "url" else kind
        language = re.match(r"(\S+)\n", match["pre"] or "")
        body = match[kind][language.end() :] if language else match[kind]
        out.add(body.removeprefix("\n") if kind == "pre" else body)
        more = {"url": match["url"] or body} if kind == "text_link" else {"language": language[1]} if language else {}
        if kind not in {"plain", "escaped"} and (kind != "text_link" or ":" in more["url"] or "." in more["url"]):
            out.close(kind, start, **more)
    return out.result()


def _bytes(text: str, at: int) -> int:
    """The position of a character in bytes, as Telegram counts it in its error messages."""
    return len(text[:at].encode())


def _fault(reason: str) -> ApiRefusal:
    return bad_request(f"can't parse entities: {reason}")


@dataclass
class _Output:
    """Plain text so far, its UTF-16 length and the finished entities."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    entities: list[Entity] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.length += utf16_length(text)

    def close(self, kind: str, start: int, **more: str) -> None:
        self.entities.append({"type": kind, "offset": start, "length": self.length - start, **more})

    def result(self) -> tuple[str, list[Entity]]:
        ordered = sorted(self.entities, key=lambda entity: (entity["offset"], -entity["length"]))
        return "".join(self.parts), [entity for entity in ordered if entity["length"]]


class _Html:
    def __init__(self, text: str) -> None:
        self._text = text
        self._out = _Output()
        self._open: list[tuple[str, int, dict[str, str]]] = []

    def parse(self) -> tuple[str, list[Entity]]:
        at, text = 0, self._text
        for match in _TAG.finditer(text):
            self._plain(text[at : match.start()], at)
            at, start_byte = match.end(), _bytes(text, match.start())
            if match[1]:
                self._end_tag(match[2].lower(), start_byte)
            else:
                self._start_tag(match[2].lower(), _attributes(match[3]), start_byte)
        self._plain(text[at:], at)
        if self._open:
            raise _fault(f'Can\'t find end tag corresponding to start tag "{self._open[-1][0]}"')
        return self._out.result()

    def _plain(self, text: str, start: int) -> None:
        if "<" in text:
            at = text.index("<")
            name, start_byte = re.match(r"<(/?[\w-]*)", text[at:]), _bytes(self._text, start + at)
            raise _fault(f'Unsupported start tag "{name[1] if name else ""}" at byte offset {start_byte}')
        self._out.add(html.unescape(text))

    def _start_tag(self, tag: str, attributes: dict[str, str], offset: int) -> None:
        if tag == "span" and attributes.get("class") != "tg-spoiler":
            raise _fault('Tag "span" must have class "tg-spoiler"')
        if tag not in _HTML_TAGS:
            raise _fault(f'Unsupported start tag "{tag}" at byte offset {offset}')
        self._open.append((tag, self._out.length, attributes))

    def _end_tag(self, tag: str, start_byte: int) -> None:
        if not self._open:
            raise _fault(f"Unexpected end tag at byte offset {start_byte}")
        name, start, attributes = self._open.pop()
        if name != tag:
            raise _fault(f'Unmatched end tag at byte offset {start_byte}, expected "</{name}>", found "</{tag}>"')
        kind = _HTML_TAGS[tag]
        if kind == "code" and self._open and self._open[-1][0] == "pre":
            self._open[-1][2]["language"] = attributes.get("class", "").removeprefix("language-")
        elif kind == "text_link":
            self._link(start, attributes.get("href", ""))
        elif kind == "blockquote" and "expandable" in attributes:
            self._out.close("expandable_blockquote", start)
        elif kind == "pre" and attributes.get("language"):
            self._out.close("pre", start, language=attributes["language"])
        elif kind == "custom_emoji":
            self._out.close(kind, start, custom_emoji_id=attributes.get("emoji-id", ""))
        else:
            self._out.close(kind, start)

    def _link(self, start: int, url: str) -> None:
        if url:  # Telegram drops a link without an address and keeps its text
            self._out.close("text_link", start, url=url)


def _attributes(text: str) -> dict[str, str]:
    return {
        match[1].lower(): html.unescape(match[2] or match[3] or match[4] or "") for match in _ATTRIBUTE.finditer(text)
    }


class _MarkdownV2:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._out = _Output()
        self._open: list[tuple[str, int, int]] = []
        self._quote: tuple[int, bool] | None = None

    def parse(self) -> tuple[str, list[Entity]]:
        while self._at < len(self._text):
            if not (self._quote_start() or self._escaped() or self._code() or self._pair() or self._link_end()):
                self._plain()
        self._end_quote()
        if self._open:
            raise self._unclosed()
        return self._out.result()

    def _unclosed(self) -> ApiRefusal:
        marker, _, start_byte = self._open[-1]
        kind = _PAIRED.get(marker, "textUrl")
        return _fault(f"Can't find end of {kind[0].upper()}{kind[1:]} entity at byte offset {start_byte}")

    def _starts(self, marker: str) -> bool:
        return self._text.startswith(marker, self._at)

    def _line_start(self) -> bool:
        return self._at == 0 or self._text[self._at - 1] == "\n"

    def _quote_start(self) -> bool:
        marker = "**>" if self._starts("**>") else ">" if self._starts(">") else ""
        if not self._line_start():
            return False
        if marker:
            if self._quote is None or marker == "**>":
                self._end_quote()
                self._quote = (self._out.length, False)
            self._at += len(marker)
            return True
        self._end_quote()
        return False

    def _end_quote(self) -> None:
        if self._quote is not None:
            start, expandable = self._quote
            self._out.close("expandable_blockquote" if expandable else "blockquote", start)
            self._quote = None

    def _escaped(self) -> bool:
        following = self._text[self._at + 1 : self._at + 2]
        if not self._starts("\\") or not following or ord(following) > 126:
            return False
        self._out.add(following)
        self._at += 2
        return True

    def _code(self) -> bool:
        marker = "```" if self._starts("```") else "`" if self._starts("`") else ""
        if not marker:
            return False
        match = re.compile(r"((?:\\.|[^\\])*?)" + marker, re.DOTALL).match(self._text, self._at + len(marker))
        if match is None:
            kind = "Pre" if marker == "```" else "Code"
            raise _fault(f"Can't find end of {kind} entity at byte offset {_bytes(self._text, self._at)}")
        self._at = match.end()
        start, body = self._out.length, re.sub(r"\\([\\`])", r"\1", match[1])
        language = re.match(r"(\S+)\n", body) if marker == "```" else None
        self._out.add(body[language.end() :] if language else body.removeprefix("\n") if marker == "```" else body)
        more = {"language": language[1]} if language else {}
        self._out.close("pre" if marker == "```" else "code", start, **more)
        return True

    def _pair(self) -> bool:
        marker = next((marker for marker in ("||", "__", "*", "_", "~") if self._starts(marker)), "")
        if marker == "||" and self._quote is not None and self._ends_expandable_quote():
            self._quote = (self._quote[0], True)
            self._at += 2
            return True
        if not marker:
            return False
        start_byte = _bytes(self._text, self._at)
        self._at += len(marker)
        if self._open and self._open[-1][0] == marker:
            _, start, _ = self._open.pop()
            self._out.close(_PAIRED[marker], start)
        elif any(opened == marker for opened, *_ in self._open):
            raise self._unclosed()
        else:
            self._open.append((marker, self._out.length, start_byte))
        return True

    def _ends_expandable_quote(self) -> bool:
        at_line_end = self._text[self._at + 2 : self._at + 3] in {"", "\n"}
        return at_line_end and not any(opened == "||" for opened, *_ in self._open)

    def _link_end(self) -> bool:
        if self._starts("[") or self._starts("!["):
            self._open.append(("[", self._out.length, _bytes(self._text, self._at)))
            self._at += 2 if self._starts("![") else 1
            return True
        if not self._starts("]") or not self._open or self._open[-1][0] != "[":
            return False
        match = re.compile(r"\]\(((?:\\.|[^\\)])*)\)").match(self._text, self._at)
        if match is None:
            raise _fault(f"Can't find end of a URL at byte offset {_bytes(self._text, self._at)}")
        _, start, _ = self._open.pop()
        self._at = match.end()
        self._out.close("text_link", start, url=re.sub(r"\\(.)", r"\1", match[1]))
        return True

    def _plain(self) -> None:
        character = self._text[self._at]
        if character in _RESERVED:
            raise _fault(f"Character '{character}' is reserved and must be escaped with the preceding '\\'")
        self._out.add(character)
        self._at += 1
