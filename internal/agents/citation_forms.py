"""The forms of citations: the requested `[F1]`, `[M1]` and `[S1]`, and other forms that models use.

Square brackets with a letter or a word for a kind, and the lenticular brackets of some models, are always citations.
A bare `[1]` and `(F1)` may be ordinary text: there the words before them decide.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

import regex

from internal.agents.model import RecalledFact, RecalledMemory, RecalledPassage, StandingInstruction
from internal.language.facts.overlap import same_stem
from internal.language.text.romanisation import skeletons
from internal.text_caches import cached

LONGEST: Final = 100
"""Most characters of one citation."""

_FLAGS: Final = regex.VERSION1 | regex.IGNORECASE
_SPACE: Final = r"[ \t\u00a0]"
_GAP: Final = rf"{_SPACE}{{0,2}}"
_WORD, _LEAD, _SPAN, _MORE, _SQUARE = "(?&word)", "(?&lead)", "(?&span)", "(?&more)", "(?&square)"
_FACT: Final = r"(?:facts?(?:[ _]?id)?|факт(?:[ыиа]|ів|ов)?|[fф])"
_MEMORY: Final = r"(?:memor(?:y|ies)|память|воспоминани[ея]|пам['’]ять|спогад[иа]?|[mм])"
_INSTRUCTION: Final = r"(?:instructions?|i)"
_PASSAGE: Final = r"(?:past[ _]messages?|messages?|passages?|said|сообщени[еяй]|повідомлення|слова|[sс])"
_NAMED: Final = (
    rf"(?:(?:{_FACT}|{_MEMORY}|{_INSTRUCTION}|{_PASSAGE}|sources?|источник[иа]?|джерел[оа]){_GAP}[:#№.]?{_GAP})"
)
_LEADING: Final = rf"(?:(?:see|cf|sources?|см|смотри|источник[и]?|див|дивись|джерел[оа])[.:]?{_SPACE}{{1,2}})?"
_SPANNING: Final = rf"\d{{1,3}}(?:{_SPACE}?[-–]{_SPACE}?{_WORD}?\d{{1,3}})?"
_FURTHER: Final = rf"(?:{_GAP}[,;&]{_GAP}{_WORD}{{0,2}}{_SPAN}){{0,9}}"
_NO_LINK: Final = r"(?!\()"
_PERSON: Final = rf"(?:person:{_SPACE}?\d{{1,12}}|[tт]\d{{1,3}}(?!\d))"
_SQUARED: Final = rf"[\[［]{{1,2}}\^?{_GAP}(?:{_PERSON}|{_WORD}{{1,2}}{_SPAN}{_MORE}){_GAP}[\]］]{{1,2}}{_NO_LINK}"
_LENTICULAR: Final = rf"【{_GAP}{_WORD}{{0,2}}{_SPAN}(?::\d{{1,3}})?{_MORE}{_GAP}(?:†[^】\n]{{0,60}})?】"
_BESIDE: Final = rf"{_GAP}[,;]?{_GAP}"
_DEFINED: Final = (
    rf"(?(DEFINE)(?P<word>{_NAMED})(?P<lead>{_LEADING})(?P<span>{_SPANNING})(?P<more>{_FURTHER})(?P<square>{_SQUARED}))"
)
"""Common parts of the patterns of several forms, compiled once."""
_ONE: Final = (
    rf"(?P<plain>{_SQUARE}|{_LENTICULAR}|\({_SPACE}?{_LEAD}{_SQUARE}(?:{_BESIDE}{_SQUARE}){{0,5}}{_SPACE}?\))"
    rf"|(?P<bare>[\[［]\^?{_SPAN}{_MORE}[\]］](?![(\[:]))"
    rf"|(?P<round>\({_SPACE}?{_LEAD}{_WORD}{{1,2}}{_SPAN}{_MORE}{_SPACE}?\))"
)
CITATION: Final = regex.compile(_DEFINED + _ONE, _FLAGS)
CLUSTER: Final = regex.compile(
    rf"{_DEFINED}(?P<comma>[,;:]?)(?P<gap>{_SPACE}{{0,8}})(?P<body>(?P<one>{_ONE})(?:{_BESIDE}(?&one)){{0,99}})"
    rf"(?P<behind>{_GAP}[.,](?=\s|$)|[,;:!?…]|\.(?!\.))?",
    _FLAGS,
)
"""Adjacent citations with the punctuation around them."""

_NUMBERS: Final = regex.compile(
    rf"(?<!\p{{L}})(?:(?P<fact>{_FACT})|(?P<memory>{_MEMORY})|(?P<passage>{_PASSAGE})"
    rf"|(?P<instruction>{_INSTRUCTION}))(?!\p{{L}})"
    r"|(?P<first>\d{1,3})(?:\s?[-–]\s?\D{0,12}?(?P<last>\d{1,3}))?",
    _FLAGS,
)
_ASIDE: Final = regex.compile(rf"†.*|(?<=【[^】]{{0,12}}):\d{{1,3}}|{_PERSON}", _FLAGS)
_WIDEST: Final = 10

_CODE: Final = regex.compile(
    r"(?<![\w\[(])(?:[fф]|(?P<memory>[mм])|(?P<passage>[sс])|(?P<instruction>i))[ -]?(?P<n>\d{1,3})(?!\w)"
    r"|(?:formula|формул\w{1,3})[ -]?(?P<n>\d)(?!\d)",
    _FLAGS,
)
_MAYBE_CODE: Final = re.compile(r"[fфmмsсi][ -]?\d|formula|формул", re.IGNORECASE)
"""Matches every text with a code: a tenth of the time of `_CODE` for the many that have none."""
_SENTENCE: Final = regex.compile(r"(?<=[.!?…])\s+")
_SENTENCE_END: Final = ' \t\u00a0.!?…*_)»”"'
_TOKEN: Final = regex.compile(r"[^\W_]+")
_SHORTEST_WORD: Final = 4


Kind = Literal["F", "M", "S", "I"]
KINDS: Final[tuple[Kind, ...]] = ("F", "M", "S")
"""Possible kinds of a number without a letter."""
Recalled = RecalledFact | RecalledMemory | RecalledPassage | StandingInstruction


class CitationMark(NamedTuple):
    """The target of a citation: a fact (F), a memory (M), a passage (S, for said) or an instruction (I), by number."""

    kind: Kind
    n: int

    def __str__(self) -> str:
        return f"[{self.kind}{self.n}]"


def named_in(citation: str) -> list[tuple[Kind | None, int]]:
    """The marks of one citation, each once; the kind of a bare number is None. A span of at most ten means all in it.

    A letter or word also counts for the numbers after it: "[M1, 2]" names two memories.
    """
    found: list[tuple[Kind | None, int]] = []
    kind: Kind | None = None
    for match in _NUMBERS.finditer(_ASIDE.sub("", citation)):
        if match["first"] is None:
            kind = _kind(match)
            continue
        first, last = int(match["first"]), int(match["last"] or match["first"])
        numbers = range(first, last + 1) if 0 <= last - first < _WIDEST else (first, last)
        found += [(kind, number) for number in numbers]
    return list(dict.fromkeys(found))


def codes_in(texts: Iterable[str]) -> set[CitationMark]:
    """The codes like F1, Formula 1, M1 or S3 that these texts use with another meaning: a race, key, chip or car."""
    return set[CitationMark]().union(*map(_codes_of, texts))


@cached(4096)
def _codes_of(text: str) -> frozenset[CitationMark]:
    if not _MAYBE_CODE.search(text):
        return frozenset()
    return frozenset(CitationMark(_kind(match), int(match["n"])) for match in _CODE.finditer(text))


def _kind(match: regex.Match[str]) -> Kind:
    """The kind of a word or letter; fact if there is none."""
    named: dict[str, Kind] = {"memory": "M", "passage": "S", "instruction": "I"}
    return next((kind for name, kind in named.items() if match[name] is not None), "F")


def last_sentence(line: str) -> str:
    """The sentence to which a citation at the end of this line belongs."""
    return str(_SENTENCE.split(line.rstrip(_SENTENCE_END))[-1])


def names_its_ends(sentence: str, recalled: Recalled) -> bool:
    """Whether a sentence names an end of a fact in any case, form or alphabet; other kinds have no ends."""
    return isinstance(recalled, RecalledFact) and bool(_shared(sentence, f"{recalled.source} {recalled.target}"))


def shares_words(sentence: str, recalled: Recalled) -> int:
    """The number of words of at least four letters that a sentence shares with a recalled text."""
    return len(_shared(sentence, recalled.text))


def _shared(sentence: str, words: str) -> set[str]:
    here = _sounds(sentence)
    return {word for word in _sounds(words) if any(same_stem(word, other) for other in here)}


def _sounds(text: str) -> set[str]:
    """The words of a text by sound, which is comparable in two alphabets; numbers stay unchanged."""
    words = {
        word for word in _TOKEN.findall(text) if len(word) >= _SHORTEST_WORD or word[0].isupper() or word.isdigit()
    }
    return {sound for word in words for sound in (skeletons(word) or {word}) if len(sound) > 1}
