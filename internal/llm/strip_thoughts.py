"""Removes a model's thoughts from its replies."""

import re

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning")
_OPENING = re.compile(rf"<({'|'.join(_NAMES)})>", re.IGNORECASE)
_CLOSING = re.compile(rf"</({'|'.join(_NAMES)})>", re.IGNORECASE)
_LONGEST_TAG = max(map(len, _NAMES)) + len("</>")


class ThoughtFilter:
    """Removes `<think>` blocks from a streamed text, also if a tag is split between pieces.

    A tag inside `code` is text: people ask about such tags. A block without an end hides all text after it.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside: str | None = None
        self._backticks = 0
        self._begun = False

    def feed(self, piece: str) -> str:
        """The text that may be shown now; a possible beginning of a tag is held back."""
        self._held += piece
        text = ""
        while (part := self._step()) is not None:
            text += part
        return self._without_leading_space(text)

    def finish(self) -> str:
        """The text that was held back and turned out to be no tag."""
        rest = "" if self._inside else self._held
        self._held = ""
        return self._without_leading_space(rest)

    def _step(self) -> str | None:
        """Consumes the text up to the next tag; None when more text is needed."""
        if self._inside is not None:
            return self._skip_block()
        tag = _OPENING.search(self._held)
        if tag is None:
            return self._take(_safe_length(self._held)) or None
        before = self._take(tag.start())
        if self._backticks % 2:
            return before + self._take(tag.end() - tag.start())
        self._inside = tag[1].casefold()
        self._held = self._held[tag.end() - tag.start() :]
        return before

    def _skip_block(self) -> str | None:
        ends = (end for end in _CLOSING.finditer(self._held) if end[1].casefold() == self._inside)
        end = next(ends, None)
        if end is None:
            self._held = self._held[-_LONGEST_TAG:]
            return None
        self._held = self._held[end.end() :]
        self._inside = None
        return ""

    def _take(self, length: int) -> str:
        passed, self._held = self._held[:length], self._held[length:]
        self._backticks += passed.count("`")
        return passed

    def _without_leading_space(self, text: str) -> str:
        """The text without the blank lines between a thought and the beginning of the reply."""
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        return text


def without_thoughts(text: str) -> str:
    """A whole reply without its `<think>` blocks and surrounding space.

    Servers whose template opens the block send only its end: then all text before it is thought.
    """
    thoughts = ThoughtFilter()
    words = thoughts.feed(text) + thoughts.finish()
    ends = [end.end() for end in _CLOSING.finditer(words) if words.count("`", 0, end.start()) % 2 == 0]
    return words[ends[-1] if ends else 0 :].strip()


def _safe_length(text: str) -> int:
    """The length of the text that cannot be the beginning of a tag."""
    start = text.rfind("<", max(0, len(text) - _LONGEST_TAG))
    if start < 0:
        return len(text)
    rest = text[start:].casefold()
    return start if any(f"<{name}>".startswith(rest) for name in _NAMES) else len(text)
