"""Citations in a reply: passed on as `[F1]`, `[M1]` or `[S1]`, shown to the owner as small numbers, not stored.

In a stored reply they would lead the model to cite facts of another question.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, get_args

import regex

from internal.agents.citation_forms import (
    CITATION,
    CLUSTER,
    KINDS,
    LONGEST,
    CitationMark,
    Kind,
    Recalled,
    codes_in,
    last_sentence,
    named_in,
    names_its_ends,
    shares_words,
)
from internal.agents.markdown_code import Code
from internal.agents.model import RecalledFact, RecalledMemory, RecalledPassage, StandingInstruction
from internal.errors import ModelReplyInvalid

_PASSED: Final = regex.compile(r"(?<!\]\()\[(F|M|S|I)(\d{1,3})\](?!\()")
"""The only form that the filter passes on; within a link it is the text of the link."""

_OPENING: Final = regex.compile(r"[\[［【(]")
_CLOSING: Final = "]］】)"
_BETWEEN_WORDS: Final = " \t\u00a0,;:.!?…"
_STOP: Final = regex.compile(r"[.!?…][»\"”’)*_]*\Z")
_LISTED: Final = regex.compile(r"\W*\[\^?\d")
_SMALL: Final = regex.compile(r"[\[［][mмsсi]\d")
_WIDEST_PAUSE: Final = 1_500
"""Most characters held back: the length of a hundred citations, the most in one cluster."""
_SUPERSCRIPTS: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BETWEEN: Final = "\u02d2"
"""The separator in ¹˒², which would otherwise be read as twelve."""


class CitationFilter:
    """Passes on a streamed reply with only citations of given sources, as `[F1]`, each whole in one piece.

    A possible citation is held back with the punctuation before it. `ordinary` are texts to which the reply may refer:
    if they contain F1, `(F1)` is no citation. Code is not changed: `[f1]` may be an index there.
    """

    def __init__(
        self,
        facts: Sequence[RecalledFact],
        ordinary: Collection[str] = (),
        memories: Sequence[RecalledMemory] = (),
        passages: Sequence[RecalledPassage] = (),
        instructions: Sequence[StandingInstruction] = (),
    ) -> None:
        self._given: dict[CitationMark, Recalled] = {CitationMark("F", fact.n): fact for fact in facts}
        self._given |= {CitationMark("M", one.n): one for one in memories}
        self._given |= {CitationMark("S", one.n): one for one in passages}
        self._given |= {CitationMark("I", one.n): one for one in instructions}
        self._codes = codes_in((*ordinary, *(one.text for one in self._given.values())))
        self._held = ""
        self._line = ""
        self._code = Code()
        self._styles = set[str]()
        self._trim = False

    def feed(self, piece: str) -> str:
        """The text that may be shown now."""
        self._held += piece
        return self._take(_pause_at(self._held))

    def finish(self) -> str:
        """The rest that was held back and turned out to be no citation."""
        return self._take(len(self._held))

    def _take(self, length: int) -> str:
        ready, self._held = self._held[:length], self._held[length:]
        shown, offset = "", 0
        for match in CLUSTER.finditer(ready) if _OPENING.search(ready) else ():
            shown += self._pass(ready[offset : match.start()])
            shown += self._pass(match[0] if self._code.inside else self._settled(match))
            offset = match.end()
        return shown + self._pass(ready[offset:])

    def _pass(self, text: str) -> str:
        if self._trim and text:
            text = text.lstrip(" \t\u00a0")
            self._trim = not text
        self._code.take(text)
        self._line = f"{self._line}{text}".rpartition("\n")[2]
        return text

    def _settled(self, match: regex.Match[str]) -> str:
        """Adjacent citations in the passed form, with at most one mark of punctuation."""
        found, line = list(CITATION.finditer(match["body"])), f"{self._line}{match['comma']}"
        linked = "" if match["comma"] or match["gap"] else self._line[-1:]
        read = self._read(found, line, linked)
        if any(read):  # the second one may have decided the kind of the first one
            read = self._read(found, line, linked)
        marked = [one for one in read if one is not None]
        if not marked:
            return match[0]
        if len(marked) < len(read):
            parts = [one[0] if cites is None else self._cite(cites) for one, cites in zip(found, read, strict=True)]
            return f"{match['comma']}{match['gap']}{''.join(parts)}{match['behind'] or ''}"
        marks = self._cite([mark for one in marked for mark in one])
        comma, behind = match["comma"], (match["behind"] or "").strip()
        if comma and behind:
            comma = ""
        if behind == "." and _STOP.search(self._line):
            behind = ""
        self._trim = not marks and not self._line.strip()
        return f"{comma}{marks}{behind}"

    def _cite(self, marks: Collection[CitationMark]) -> str:
        return "".join(str(mark) for mark in dict.fromkeys(marks) if mark in self._given)

    def _read(self, found: Sequence[regex.Match[str]], line: str, before: str) -> list[list[CitationMark] | None]:
        """The marks of each citation; the first stands right after the letter `before`, and may be part of a link."""
        first = found[0]
        link = before in ("]", "!", "\\") if first["bare"] is not None else before == "]" and first[0][0] == "("
        return [None if link and one is first else self._marks(one, line) for one in found]

    def _marks(self, one: regex.Match[str], line: str) -> list[CitationMark] | None:
        """The marks of a citation; None for ordinary text that looks like one."""
        named = named_in(one[0])
        marks = [self._mark(kind, number) for kind, number in named]
        if one["plain"] is not None:
            return None if self._is_a_unit(one[0], marks) else marks
        style = "bare" if one["bare"] is not None else "round"
        if style == "bare" and (not any(map(str.isalpha, line)) or _LISTED.match(line)):
            return None
        if style == "round" and (self._codes & set(marks) or codes_in([line]) & set(marks)):
            return None
        resting = [self._resting(kind, number, line, style) for kind, number in named]
        if style in self._styles or any(resting):
            self._styles.add(style)
            return [rests or mark for rests, mark in zip(resting, marks, strict=True)]
        return None

    def _mark(self, kind: Kind | None, number: int) -> CitationMark:
        """The mark of a number; without a letter a fact's, unless only a memory, or else only a passage, has it."""
        if kind is None:
            marks = (CitationMark(one, number) for one in KINDS)
            return next((mark for mark in marks if mark in self._given), CitationMark("F", number))
        return CitationMark(kind, number)

    def _is_a_unit(self, written: str, marks: Sequence[CitationMark]) -> bool:
        """Whether a mark is a unit: "[m2]" or "[s3]" in lower case, and no source has that number."""
        return bool(_SMALL.match(written)) and not any(mark in self._given for mark in marks)

    def _resting(self, kind: Kind | None, number: int, line: str, style: str) -> CitationMark | None:
        """The mark of this number whose text shares words with the sentence before it."""
        sentence = last_sentence(line)
        least = 1 if style == "bare" else 2
        kinds: Sequence[Kind] = KINDS if kind is None else (kind,)
        for mark in (CitationMark(one, number) for one in kinds):
            given = self._given.get(mark)
            if given is not None and (names_its_ends(sentence, given) or shares_words(sentence, given) >= least):
                return mark
        return None


def cited_only(
    text: str,
    facts: Sequence[RecalledFact],
    ordinary: Collection[str] = (),
    memories: Sequence[RecalledMemory] = (),
    passages: Sequence[RecalledPassage] = (),
    instructions: Sequence[StandingInstruction] = (),
) -> str:
    """A whole reply with only citations of given sources. Raises ModelReplyInvalid if nothing else is left."""
    citations = CitationFilter(facts, ordinary, memories, passages, instructions)
    said = (citations.feed(text) + citations.finish()).strip()
    if not said:
        raise ModelReplyInvalid("the reply holds nothing but citations of what was not given")
    return said


def marks_in(text: str) -> list[CitationMark]:
    """The marks in a reply, each once, in the order of their first places."""
    return list(dict.fromkeys(_mark_of(match) for match in _outside_code(text)))


def cited(text: str) -> list[int]:
    """The numbers of the facts that a reply cites, each once, in the order of their first places."""
    return [mark.n for mark in marks_in(text) if mark.kind == "F"]


def without_citations(text: str) -> str:
    """The stored form of a reply, without citations."""
    return _replaced(text, {})


def with_numbers(text: str, kinds: Collection[Kind] = get_args(Kind)) -> str:
    """The shown form of a reply: its first source is ¹, right after the words that use it.

    The beginning of a reply has the same numbers as the whole reply, so that it can be shown while it is written.
    Citations of other `kinds` are left out.
    """
    marks = [mark for mark in marks_in(text) if mark.kind in kinds]
    return _replaced(text, {mark: number for number, mark in enumerate(marks, start=1)})


def superscript(number: int) -> str:
    """A number in the shown form of citations."""
    return str(number).translate(_SUPERSCRIPTS)


def _pause_at(text: str) -> int:
    """The index where the pause at the end of a text begins: punctuation, citations, a part of one."""
    end = _unfinished(text)
    earliest = max(0, end - _WIDEST_PAUSE)
    while end > earliest:
        last = text[end - 1]
        if last in _BETWEEN_WORDS:
            end -= 1
        elif last in _CLOSING and (start := _citation_before(text, end)) is not None:
            end = start
        else:
            break
    return end


def _unfinished(text: str) -> int:
    """The index of a citation that may not be complete yet; the length of the text if there is none."""
    for opening in _OPENING.finditer(text, max(0, len(text) - LONGEST)):
        match = CITATION.match(text, opening.start(), partial=True)
        if match is not None and (match.partial or match.end() == len(text)):
            return opening.start()
    return len(text)


def _citation_before(text: str, end: int) -> int | None:
    for opening in _OPENING.finditer(text, max(0, end - LONGEST), end):
        if CITATION.fullmatch(text, opening.start(), end):
            return opening.start()
    return None


def _replaced(text: str, shown: Mapping[CitationMark, int]) -> str:
    parts, offset, joined = list[str](), 0, False
    for match in _outside_code(text):
        before = text[offset : match.start()]
        joined = joined and not before
        named = _mark_of(match)
        mark = superscript(shown[named]) if named in shown else ""
        parts += [before.rstrip(" \t\u00a0"), _BETWEEN if joined and mark else "", mark]
        offset, joined = match.end(), joined or bool(mark)
        if not mark and _begins_line(parts):
            offset += len(text[offset:]) - len(text[offset:].lstrip(" \t\u00a0"))
    return "".join([*parts, text[offset:]])


def _mark_of(match: regex.Match[str]) -> CitationMark:
    return CitationMark(next(kind for kind in get_args(Kind) if kind == match[1]), int(match[2]))


def _begins_line(parts: Sequence[str]) -> bool:
    last = next((part for part in reversed(parts) if part), "\n")
    return last.endswith("\n")


def _outside_code(text: str) -> Iterator[regex.Match[str]]:
    code, offset = Code(), 0
    for match in _PASSED.finditer(text):
        code.take(text[offset : match.start()])
        offset = match.start()
        if not code.inside:
            yield match
