"""Cuts text with entities into messages that Telegram accepts, at places natural for a reader."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import regex

LIMIT = 4096
"""The most UTF-16 units of a message. Source: Bot API, sendMessage."""

_SENTENCE_ENDS = ".!?…"
_CLOSING = "»\"'”’)]"


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """An entity: `offset` and `length` in UTF-16 units, `extra` the other Bot API fields (url, language)."""

    type: str
    offset: int
    length: int
    extra: dict[str, Any] = field(default_factory=dict)


Part = tuple[str, list[EntitySpan]]


def split(text: str, spans: list[EntitySpan], limit: int = LIMIT) -> list[Part]:
    """Parts of 1..`limit` UTF-16 units which together are the text without surrounding blanks.

    A part ends at a paragraph, else a line, a sentence, a word, a grapheme. An entity that fits a message is not cut
    if possible; a longer one continues in the next part. No part is blank: a run of blanks that fills
    a whole message is dropped.
    """
    return _Cutter(text, spans, limit).parts()


class _Cutter:
    """Cuts a text; positions are indices of Python characters, `units[i]` the UTF-16 units before character i."""

    def __init__(self, text: str, spans: list[EntitySpan], limit: int) -> None:
        self.text, self.limit = text, limit
        self.units = [0, *accumulate(2 if ord(char) > 0xFFFF else 1 for char in text)]
        self.spans = [span for span in spans if span.length > 0 and 0 <= span.offset < self.units[-1]]
        self.whole = self._graphemes() if self.units[-1] > limit else bytearray()
        self.free = self._outside_spans() if self.units[-1] > limit else bytearray()

    def parts(self) -> list[Part]:
        return [(self.text[start:end], self._spans_within(start, end)) for start, end in self._ranges()]

    def _ranges(self) -> Iterator[tuple[int, int]]:
        end = len(self.text.rstrip())
        start = self._first_seen(0)
        while start < end:
            last = self._reach(start)
            if last >= end:
                yield start, end
                return
            seen = self._first_seen(start)
            if seen >= last:  # only blanks would fit
                start = seen
                continue
            cut = self._cut(start, seen, last)
            yield start, cut
            start = cut

    def _reach(self, start: int) -> int:
        """The last position at which a part from `start` can end; at least one character, even if that is too long."""
        return max(start + 1, bisect_right(self.units, self.units[start] + self.limit) - 1)

    def _cut(self, start: int, seen: int, last: int) -> int:
        """The end of the part from `start`, in (seen, last]."""
        half = max(seen + 1, bisect_left(self.units, self.units[start] + self.limit // 2))
        borders = (
            (self._ends_paragraph, half),
            (self._ends_line, half),
            (self._ends_sentence, half),
            (self._ends_word, seen + 1),
            (_anywhere, seen + 1),
        )
        for allowed in (self.free, self.whole):
            for ends, earliest in borders:
                found = next((at for at in range(last, earliest - 1, -1) if allowed[at] and ends(at)), None)
                if found is not None:
                    return found
        return last

    def _ends_paragraph(self, at: int) -> bool:
        return self.text[at - 2 : at] == "\n\n" and not self.text[at].isspace()

    def _ends_line(self, at: int) -> bool:
        return self.text[at - 1] == "\n" and not self.text[at].isspace()

    def _ends_sentence(self, at: int) -> bool:
        if not self._ends_word(at):
            return False
        before = self.text[max(0, at - 8) : at].rstrip().rstrip(_CLOSING)
        return before.endswith(tuple(_SENTENCE_ENDS))

    def _ends_word(self, at: int) -> bool:
        return self.text[at - 1].isspace() and not self.text[at].isspace()

    def _first_seen(self, start: int) -> int:
        return next((at for at in range(start, len(self.text)) if not self.text[at].isspace()), len(self.text))

    def _graphemes(self) -> bytearray:
        """A 1 at each end of a grapheme, so that no visible character is cut."""
        marks = bytearray(len(self.text) + 1)
        for match in regex.finditer(r"\X", self.text):
            marks[match.end()] = 1
        return marks

    def _outside_spans(self) -> bytearray:
        """Like `_graphemes`, but without positions strictly inside an entity that fits a message."""
        marks = bytearray(self.whole)
        for span in self.spans:
            if span.length <= self.limit:
                first = bisect_right(self.units, span.offset)
                beyond = bisect_left(self.units, span.offset + span.length)
                marks[first:beyond] = bytes(max(0, beyond - first))
        return marks

    def _spans_within(self, start: int, end: int) -> list[EntitySpan]:
        first, beyond = self.units[start], self.units[end]
        clipped = []
        for span in self.spans:
            begin, stop = max(span.offset, first), min(span.offset + span.length, beyond)
            if stop > begin and self._shows(begin, stop):
                clipped.append(EntitySpan(span.type, begin - first, stop - begin, span.extra))
        return sorted(clipped, key=lambda span: (span.offset, -span.length))

    def _shows(self, begin: int, stop: int) -> bool:
        """Whether the range has visible text: Telegram refuses entities over blanks."""
        return bool(self.text[bisect_left(self.units, begin) : bisect_left(self.units, stop)].strip())


def _anywhere(at: int) -> bool:
    return True
