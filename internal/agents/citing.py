"""Citations in a reply: `[F1]` as a model writes them, a small number as the owner sees them, nothing as they are kept.

Kept without them, a reply cannot teach the model to cite facts of another question in the next one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import regex

from internal.agents.code import Code
from internal.errors import ModelReplyInvalid

_NUMBER: Final = r"\s{0,2}[FfФф]?\s?(\d{1,3})\s{0,2}"
_CITATION: Final = regex.compile(
    rf"[ \t\u00a0]{{0,8}}\[\s{{0,2}}[FfФф]\s?(\d{{1,3}})\s{{0,2}}(?:[,;]{_NUMBER}){{0,9}}\]", regex.VERSION1
)
"""One fact or several: [F1], [F1, F3], [F1, 3], also in small or Cyrillic letters, with the spaces before it."""

_LONGEST: Final = 100
_SUPERSCRIPTS: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BETWEEN: Final = "\u02d2"
"""Keeps ¹˒² from being read as twelve."""


class CitationFilter:
    """Passes on a streamed reply in which only given facts are cited, each as `[F1]` and whole in one piece.

    What could become a citation is held back. Code is left alone: `[f1]` may be an index there.
    """

    def __init__(self, given: Collection[int]) -> None:
        self._given = frozenset(given)
        self._held = ""
        self._code = Code()

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        self._held += piece
        return self._take(self._safe_length())

    def finish(self) -> str:
        """What was held back and turned out to be no citation."""
        return self._take(len(self._held))

    def _safe_length(self) -> int:
        """How much of what is held cannot be the beginning of a citation."""
        start = max(0, len(self._held) - _LONGEST)
        match = _CITATION.search(self._held, start, partial=True)
        while match is not None and not match.partial:
            match = _CITATION.search(self._held, match.end(), partial=True)
        return len(self._held) if match is None else match.start()

    def _take(self, length: int) -> str:
        ready, self._held = self._held[:length], self._held[length:]
        shown, place = "", 0
        for match in _CITATION.finditer(ready):
            shown += self._pass(ready[place : match.start()])
            shown += self._pass(match[0] if self._code.inside else self._cited(match))
            place = match.end()
        return shown + self._pass(ready[place:])

    def _pass(self, text: str) -> str:
        self._code.take(text)
        return text

    def _cited(self, match: regex.Match[str]) -> str:
        return "".join(f"[F{number}]" for number in dict.fromkeys(_numbers(match)) if number in self._given)


def cited_only(text: str, given: Collection[int]) -> str:
    """A whole reply with the citations of given facts as `[F1]`, and no others. ModelReplyInvalid if none is left."""
    citations = CitationFilter(given)
    said = (citations.feed(text) + citations.finish()).strip()
    if not said:
        raise ModelReplyInvalid("the reply holds nothing but citations of what was not given")
    return said


def cited(text: str) -> list[int]:
    """The facts that a reply cites, each once, in the order in which it first does."""
    return list(dict.fromkeys(number for match in _outside_code(text) for number in _numbers(match)))


def without_citations(text: str) -> str:
    """A reply as it is kept."""
    return _replaced(text, {})


def with_numbers(text: str) -> str:
    """A reply as its owner sees it: what it cites first is ¹, right behind the words that rest on it.

    The beginning of a reply has the same numbers as the whole of it, so that it can be shown while it is written.
    """
    return _replaced(text, {number: place for place, number in enumerate(cited(text), start=1)})


def _replaced(text: str, shown: dict[int, int]) -> str:
    parts, place, joined = list[str](), 0, False
    for match in _outside_code(text):
        marks = [str(shown[number]).translate(_SUPERSCRIPTS) for number in _numbers(match) if number in shown]
        joined = joined and match.start() == place
        parts += [text[place : match.start()], *([_BETWEEN] if joined and marks else []), _BETWEEN.join(marks)]
        place, joined = match.end(), joined or bool(marks)
    return "".join([*parts, text[place:]])


def _outside_code(text: str) -> Iterator[regex.Match[str]]:
    code, place = Code(), 0
    for match in _CITATION.finditer(text):
        code.take(text[place : match.start()])
        place = match.start()
        if not code.inside:
            yield match


def _numbers(match: regex.Match[str]) -> list[int]:
    return [int(match[1]), *(int(number) for number in match.captures(2))]
