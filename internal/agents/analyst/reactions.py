"""The owner's reaction to an answer in his next messages, the only thing by which rules can judge an answer.

They do not know what is true. Silence and a new subject count as content.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal

from internal.agents.model import TranscriptLine
from internal.language.text.spelling import name_key, sentence_spans

Reaction = Literal[
    "corrected", "said-before", "repeated", "unclear", "language", "shorter", "longer", "thanked", "none"
]

_WORDS: Final = 6
"""Most words of a message about the answer's form; in a longer one "короче" and "in English" have another meaning."""

_READ: Final = 2
"""The number of first sentences of a message that may be about the answer before it."""

_STEM: Final = 5
_LEAST_STEM: Final = 3
_SAME: Final = 0.6
"""The share of common words, cut to their first letters, from which a question repeats the one before it."""

_NO = r"(?:нет|неа|не|ні|no|nope)"
_OPENER = rf"^\W*(?:(?:да\s+|та\s+|oh\s+)?{_NO}\W+|(?:стоп|погоди|подожди|чекай|постій|wait|hey|эй|но|але|but)\W+)*"
_IT = (
    r"(?:(?:это|все|всё|тут|здесь|ты|вы|ти|ви|це|усе|that|this|it|you)"
    r"(?:\s*(?:['’]s|['’]re|\s+is|\s+are|\s+was))?\s+)?"
)
_ENDS = r"(?=\s*(?:$|[.,;:!?)—–-]))"
_CORRECTS: Final = (
    rf"{_OPENER}{_IT}(?:(?:совсем|вовсе|зовсім|quite|at all)\s+)?"
    rf"(?:не\s+(?:так|то|те|верно|правильно|вірно)|not\s+(?:so|it|that)){_ENDS}",
    rf"{_OPENER}{_IT}(?:неверно|неправильно|неправда|не правда|невірно|ошибочно|помилково)\b",
    rf"{_OPENER}{_IT}(?:ошибка|помилка|ошибаешься|ошибаетесь|помиляєшся|помиляєтесь|not quite){_ENDS}",
    rf"{_OPENER}(?:а\s+)?(?:ты|вы|ти|ви)\s+(?:\w+\s+)?(?:ошиб\w+|пута\w+|перепута\w+|плута\w+|переплута\w+|помил\w+"
    r"|не\s+(?:прав|права|правий|правильно|верно))\b",
    rf"{_OPENER}{_IT}(?:(?:wrong|incorrect|untrue|false|mistaken)(?:{_ENDS}|\s+(?:answer|again|person|one)\b)"
    r"|not\s+(?:right|true|correct|quite right|what)\b)",
    rf"{_OPENER}you(?:['’]ve| have)? (?:got (?:it|that) wrong|(?:are )?(?:mixing|mixed|confus\w+))",
    rf"{_OPENER}я\s+(?:не\s+(?:про|об|о|то|те|это|це)\b"
    r"|(?:спрашивал|питав|питала|имел|мав|мала)\w*\s+(?:в виду|на увазі|не)\b)",
    rf"{_OPENER}(?:i\s+(?:did\s*n['’]?o?t|didn['’]t)\s+(?:ask|mean|say)|that(?:['’]s| is) not what i)\b",
)
_DENIES = re.compile(rf"^\W*{_NO}(?:\s+(?:же|ж))?\s*[,.!—–-]+\s*\S+\s+\S", re.IGNORECASE)
"""A denial and then a statement: a correction, unless the answer had asked something."""

_DECLINES = re.compile(
    rf"^\W*{_NO}\W+(?:спасибо|дякую|thanks|thank you|не надо|не нужно|не треба|не хочу|worries|problem|need)",
    re.IGNORECASE,
)

_PATTERNS: Final[Mapping[Reaction, re.Pattern[str]]] = {
    reaction: re.compile("|".join(said), re.IGNORECASE)
    for reaction, said in dict[Reaction, Sequence[str]](
        {
            "said-before": (
                r"\bя\s+(?:же|ж|уже|вже|тебе|тобі)\s+(?:(?:же|ж|уже|вже|тебе|тобі)\s+)*(?:говорил|сказал|писал|казав|казала|говорив"
                r"|говорила|писав|писала)",
                r"\bi(?:['’]ve)?\s+(?:already|just)\s+(?:told|said|wrote|mentioned)|\bi\s+told\s+you\b",
            ),
            "corrected": _CORRECTS,
            "unclear": (
                r"^\W*(?:(?:я\s+)?(?:ничего\s+|нічого\s+)?не\s+(?:понял|поняла|понимаю|зрозумів|зрозуміла|розумію)\b"
                r"|в смысле\W*$|в сенсі\W*$|что ты имеешь в виду|що ти маєш на увазі"
                r"|what do you mean|i (?:do not|don['’]t) (?:get|understand)|i(?:['’]m| am) confused|huh\W*$)",
            ),
        }
    ).items()
}
_OF_FORM: Final[Mapping[Reaction, re.Pattern[str]]] = {
    reaction: re.compile(said, re.IGNORECASE)
    for reaction, said in dict[Reaction, str](
        {
            "language": r"\b(?:по[- ]русски|на русском|російською|по[- ]украински|на украинском|українською"
            r"|по[- ]українськи|по[- ]английски|на английском|англійською|in (?:english|russian|ukrainian))\b",
            "shorter": r"\b(?:(?:по)?короче|(?:по)?коротше|слишком длинно|задовго|занадто довго|многословно"
            r"|shorter|too long|be brief|briefly|tl;?dr)\b",
            "longer": r"\b(?:(?:по)?подробнее|детальнее|докладніше|детальніше|more detail(?:s|ed)?|elaborate"
            r"|in detail)\b",
        }
    ).items()
}
_OF_SOMEBODY: Final = re.compile(
    r"\b(?:говор\w+|учу\w*|учит\w*|вчу\w*|вчит\w*|розмовля\w+|read|speak\w*|learn\w*|write to)\b", re.IGNORECASE
)
"""Statements that a person speaks or learns a language, which are not about the answer's language."""

_PRAISE: Final = (
    r"верно|точно|именно|правильно|вірно|саме так|exactly|correct|(?:that(?:['’]s| is) )?right|perfect|great|супер"
    r"|отлично|класс|круто|чудово|клас"
)
_THANKS: Final = re.compile(
    r"^\W*(?:(?:ок|ok|okay|да|так|yes|о|oh|ого|супер|отлично|класс|круто|чудово|great|perfect|cool|большое|огромное"
    r"|велике|щиро)\W+)*(?:спасибо|спс|благодарю|пасиб\w*|дякую|дяки|спасибі|thanks|thank you|thx|cheers"
    rf"|(?:{_PRAISE})\W*$)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w+")


def reactions(transcript: Sequence[TranscriptLine]) -> dict[int, Reaction]:
    """The reaction to each of the assistant's lines, by its number; the last one has none. Pure."""
    found: dict[int, Reaction] = {}
    for asked, answer, said in _answers(transcript):
        found[answer.number] = _reaction(asked, answer, said)
    return found


def questions(transcript: Sequence[TranscriptLine]) -> dict[int, Sequence[TranscriptLine]]:
    """The owner's lines right before each of the assistant's, by its number. Pure."""
    return {answer.number: asked for asked, answer, _ in _answers(transcript)}


def _answers(
    transcript: Sequence[TranscriptLine],
) -> Iterator[tuple[Sequence[TranscriptLine], TranscriptLine, Sequence[TranscriptLine]]]:
    """Yields each answer with the lines before it and after it."""
    indexes = [index for index, line in enumerate(transcript) if line.role == "assistant"]
    borders = [-1, *indexes, len(transcript)]
    between = [transcript[start + 1 : end] for start, end in pairwise(borders)]
    for index, before, after in zip(indexes, between, between[1:], strict=False):
        yield before, transcript[index], after


def _reaction(asked: Sequence[TranscriptLine], answer: TranscriptLine, said: Sequence[TranscriptLine]) -> Reaction:
    own = [line.text for line in said if line.owners_word]
    if not own:
        return "none"
    first = [own[0][start:end] for start, end in sentence_spans(own[0])][:_READ]
    for reaction, pattern in _PATTERNS.items():
        if any(pattern.search(sentence) for sentence in first):
            return reaction
    if _DENIES.search(own[0]) and not _DECLINES.search(own[0]) and not answer.text.rstrip(' )»"”').endswith("?"):
        return "corrected"
    if (form := _of_form(own[0])) is not None:
        return form
    if any(_repeats(line.text, before.text) for line in said for before in asked):
        return "repeated"
    return "thanked" if any(_THANKS.search(sentence) for sentence in first) else "none"


def _of_form(said: str) -> Reaction | None:
    if len(said.split()) > _WORDS or _OF_SOMEBODY.search(said):
        return None
    return next((reaction for reaction, pattern in _OF_FORM.items() if pattern.search(said)), None)


def _repeats(said: str, before: str) -> bool:
    """Whether a question repeats the one before: most of its words are the same."""
    if "?" not in said and "?" not in before:
        return False
    one, other = _stems(said), _stems(before)
    return len(one & other) >= 2 and len(one & other) >= _SAME * len(one | other)


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(name_key(text)) if len(word) >= _LEAST_STEM}
