"""Removes the prompt's own blocks and raw JSON from a responder's reply.

Text that leaks into one reply leaks through the history into every later one. Code stays: people ask about it.
"""

import json
import re
from typing import Any

import regex

from internal.agents.markdown_code import Code
from internal.agents.responder.written_calls import LONGEST_MARK, MARK, first_mark
from internal.errors import ModelReplyInvalid
from internal.language.text.block_tags import BLOCK_TAGS

_NAMES = "|".join(BLOCK_TAGS)
_TAG = regex.compile(rf"<\s{{0,3}}(/?)\s{{0,3}}({_NAMES})(?:\s[^<>]{{0,80}})?(/?)>", regex.IGNORECASE)
_LONGEST_TAG = 120

_FENCED = re.compile(r"```\s*(?:json\w*)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)
_MAY_BE_JSON = regex.compile(
    r"\s*(?:```\s*(?:json\w*)?\s*(?:\{|\[\s*\{)[^`]*(?:```\s*)?|(?:\{|\[\s*\{).*)", regex.DOTALL | regex.IGNORECASE
)
_OUR_KEYS = ("people_operations", "query", "people", "entities", "facts", "memories")
_BEGINS_LIKE_OURS = re.compile(
    r'\{\s*"people_operations"|\[\s*\{\s*"type"\s*:\s*"(?:Added|Updated|Merged)"'
    r'|\{[\s{]*"name"\s*:\s*"\w+"\s*,\s*"(?:arguments|parameters)"'
)


def spoken(text: str) -> str:
    """A whole reply that may be sent and stored. Raises ModelReplyInvalid if nothing is left, or only raw JSON.

    Raw JSON is an object, or an array of objects, that stands alone. In a code fence the owner may have asked for it:
    there only the reply formats of other agents are refused.
    """
    blocks = BlockFilter()
    words = blocks.feed(text) + blocks.finish()
    words = words[: first_mark(words)].strip()
    if not words:
        raise ModelReplyInvalid("the reply says nothing")
    if _is_raw_json(words):
        raise ModelReplyInvalid("the reply is raw JSON")
    return words


class Speech:
    """A streamed reply that may be shown, piece by piece; text that may be raw JSON is held back to its end.

    Nothing is shown from a written call of a tool on.
    """

    def __init__(self) -> None:
        self._blocks, self._said = BlockFilter(), ""
        self._shown = 0
        self._begun = False

    def feed(self, piece: str) -> str:
        """The text that may be shown now."""
        self._said += self._blocks.feed(piece)
        if not self._begun and _MAY_BE_JSON.fullmatch(self._said, partial=True):
            return ""
        self._begun = True
        return self._show(_before_mark(self._said))

    def finish(self) -> str:
        """The rest that was held back, only for a reply that `spoken` accepts."""
        self._said += self._blocks.finish()
        return self._show(len(self._said))

    def _show(self, end: int) -> str:
        mark = first_mark(self._said)
        words = self._said[self._shown : end if mark is None else mark]
        words = words if self._shown else words.lstrip()
        self._shown = max(self._shown, end) if words else self._shown
        return words


class BlockFilter:
    """Passes on a streamed text without the prompt's blocks, also if a tag is split between pieces.

    A tag at the beginning or end of its line opens a block, hidden up to its closing tag or, without one, to the end.
    Within a line a block is hidden if it closes there; else only the tag, like any lone closing tag. Code stays.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside: str | None = None
        self._code = Code()

    def feed(self, piece: str) -> str:
        """The text that may be shown now; a possible beginning of a tag is held back."""
        self._held += piece
        return self._take(ended=False)

    def finish(self) -> str:
        """The rest that was held back and turned out to be no tag."""
        return self._take(ended=True)

    def _take(self, *, ended: bool) -> str:
        shown = ""
        while (part := self._step(ended=ended)) is not None:
            shown += part
        return shown

    def _step(self, *, ended: bool) -> str | None:
        """Consumes the text up to and including the next tag; None when more text is needed."""
        if self._inside is not None:
            return self._leave(self._inside)
        tag = _TAG.search(self._held)
        if tag is None:
            return self._pass(len(self._held) if ended else _safe_length(self._held)) or None
        before = self._pass(tag.start())
        length = tag.end() - tag.start()
        if self._code.inside:
            return before + self._pass(length)
        if tag[1] or tag[3]:
            self._drop(length)
            return before
        return before if self._open(tag[2].casefold(), length, ended=ended) else before or None

    def _open(self, name: str, length: int, *, ended: bool) -> bool:
        """Takes the opening tag at the beginning of the held text; False when the rest of its line must come first."""
        if self._code.line_has_words:
            line, newline, _ = self._held[length:].partition("\n")
            if closing := _closing(line, name):
                self._drop(length + closing)
                return True
            if not (newline or ended):
                return False
            if line.strip():
                self._drop(length)
                return True
        self._drop(length)
        self._inside = name
        return True

    def _leave(self, name: str) -> str | None:
        closing = _closing(self._held, name)
        if closing is None:
            self._held = self._held[-_LONGEST_TAG:]
            return None
        self._drop(closing)
        self._inside = None
        return ""

    def _pass(self, length: int) -> str:
        passed, self._held = self._held[:length], self._held[length:]
        self._code.take(passed)
        return passed

    def _drop(self, length: int) -> None:
        self._held = self._held[length:]


def _closing(text: str, name: str) -> int | None:
    """The index after the closing tag of this name."""
    found = (tag.end() for tag in _TAG.finditer(text) if tag[1] and tag[2].casefold() == name)
    return next(found, None)


def _safe_length(text: str) -> int:
    """The length of the text that cannot be the beginning of a tag."""
    start = text.rfind("<", max(0, len(text) - _LONGEST_TAG))
    return start if start >= 0 and _TAG.fullmatch(text, start, partial=True) else len(text)


def _before_mark(text: str) -> int:
    """The length of the text that cannot be the beginning of a call's mark."""
    ends = range(max(0, len(text) - LONGEST_MARK), len(text))
    return next((start for start in ends if MARK.fullmatch(text, start, partial=True)), len(text))


def _is_raw_json(words: str) -> bool:
    fenced = _FENCED.fullmatch(words)
    body = fenced[1].strip() if fenced else words
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return _BEGINS_LIKE_OURS.match(body) is not None
    if fenced:
        return _is_ours(value)
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _is_ours(value: Any) -> bool:
    """Whether a value has the reply format of another agent."""
    if isinstance(value, list):
        return any(isinstance(item, dict) and item.get("type") in ("Added", "Updated", "Merged") for item in value)
    return isinstance(value, dict) and bool(value) and value.keys() <= set(_OUR_KEYS)
