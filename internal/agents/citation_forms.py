"""How models cite facts: `[F1]` as they are asked to, and the forms that they slip into.

Square brackets with a letter or a word for facts, and the lenticular brackets of some models, are citations wherever
they stand. A bare `[1]` and `(F1)` may be ordinary text: there it counts what they stand behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import regex

from internal.agents.model import RecalledFact
from internal.language.romanisation import skeletons
from internal.language.telling import alike

LONGEST: Final = 100
"""Characters of one citation at most."""

_FLAGS: Final = regex.VERSION1 | regex.IGNORECASE
_SPACE: Final = r"[ \t\u00a0]"
_GAP: Final = rf"{_SPACE}{{0,2}}"
_WORD: Final = (
    rf"(?:(?:facts?(?:[ _]?id)?|факт(?:[ыиа]|ів|ов)?|sources?|источник[иа]?|джерел[оа]|[fф]){_GAP}[:#№.]?{_GAP})"
)
_LEAD: Final = rf"(?:(?:see|cf|sources?|см|смотри|источник[и]?|див|дивись|джерел[оа])[.:]?{_SPACE}{{1,2}})?"
_SPAN: Final = rf"\d{{1,3}}(?:{_SPACE}?[-–]{_SPACE}?{_WORD}?\d{{1,3}})?"
_MORE: Final = rf"(?:{_GAP}[,;&]{_GAP}{_WORD}{{0,2}}{_SPAN}){{0,9}}"
_NO_LINK: Final = r"(?!\()"
_PERSON: Final = rf"person:{_SPACE}?\d{{1,12}}"
_SQUARE: Final = rf"[\[［]{{1,2}}\^?{_GAP}(?:{_PERSON}|{_WORD}{{1,2}}{_SPAN}{_MORE}){_GAP}[\]］]{{1,2}}{_NO_LINK}"
_LENTICULAR: Final = rf"【{_GAP}{_WORD}{{0,2}}{_SPAN}(?::\d{{1,3}})?{_MORE}{_GAP}(?:†[^】\n]{{0,60}})?】"
_BESIDE: Final = rf"{_GAP}[,;]?{_GAP}"
_ONE: Final = (
    rf"(?P<plain>{_SQUARE}|{_LENTICULAR}|\({_SPACE}?{_LEAD}{_SQUARE}(?:{_BESIDE}{_SQUARE}){{0,5}}{_SPACE}?\))"
    rf"|(?P<bare>[\[［]\^?{_SPAN}{_MORE}[\]］](?![(\[:]))"
    rf"|(?P<round>\({_SPACE}?{_LEAD}{_WORD}{{1,2}}{_SPAN}{_MORE}{_SPACE}?\))"
)
CITATION: Final = regex.compile(_ONE, _FLAGS)
CLUSTER: Final = regex.compile(
    rf"(?P<comma>[,;:]?)(?P<gap>{_SPACE}{{0,8}})(?P<body>(?:{_ONE})(?:{_BESIDE}(?:{_ONE})){{0,99}})"
    rf"(?P<behind>{_GAP}[.,](?=\s|$)|[,;:!?…]|\.(?!\.))?",
    _FLAGS,
)
"""Citations that stand together, with the punctuation around them."""

_NUMBERS: Final = regex.compile(r"(\d{1,3})(?:\s?[-–]\s?\D{0,12}?(\d{1,3}))?")
_ASIDE: Final = regex.compile(rf"†.*|(?<=【[^】]{{0,12}}):\d{{1,3}}|{_PERSON}", _FLAGS)
_WIDEST: Final = 10

_CODE: Final = regex.compile(
    r"(?<![\w\[(])[fф][ -]?(?P<n>\d{1,3})(?!\w)|(?:formula|формул\w{1,3})[ -]?(?P<n>\d)(?!\d)", _FLAGS
)
_SENTENCE: Final = regex.compile(r"(?<=[.!?…])\s+")
_SENTENCE_END: Final = ' \t\u00a0.!?…*_)»”"'
_TOKEN: Final = regex.compile(r"[^\W_]+")
_LONG: Final = 4


def numbers_in(citation: str) -> list[int]:
    """The numbers of one citation, each once; a span counts with all between, if it is no longer than ten."""
    found: list[int] = []
    for match in _NUMBERS.finditer(_ASIDE.sub("", citation)):
        first, last = int(match[1]), int(match[2] or match[1])
        found += range(first, last + 1) if 0 <= last - first < _WIDEST else (first, last)
    return list(dict.fromkeys(found))


def codes_in(texts: Iterable[str]) -> set[int]:
    """The numbers that these texts write as F1, or Formula 1, and mean something else by it: a race, a key, a visa."""
    return {int(match["n"]) for text in texts for match in _CODE.finditer(text)}


def last_sentence(line: str) -> str:
    """The sentence that a citation at the end of this line stands behind, or in."""
    return str(_SENTENCE.split(line.rstrip(_SENTENCE_END))[-1])


def names_its_ends(sentence: str, fact: RecalledFact) -> bool:
    """Whether a sentence names what the fact is about, in whatever case, form or alphabet."""
    return bool(_shared(sentence, f"{fact.source} {fact.target}"))


def shares_words(sentence: str, fact: RecalledFact) -> int:
    """How many words of the fact stand in a sentence, those of at least four letters."""
    return len(_shared(sentence, fact.text))


def _shared(sentence: str, words: str) -> set[str]:
    here = _sounds(sentence)
    return {word for word in _sounds(words) if any(alike(word, other) for other in here)}


def _sounds(text: str) -> set[str]:
    """The words of a text as they sound, so that two alphabets meet; numbers as they are."""
    words = {word for word in _TOKEN.findall(text) if len(word) >= _LONG or word[0].isupper() or word.isdigit()}
    return {sound for word in words for sound in (skeletons(word) or {word}) if len(sound) > 1}
