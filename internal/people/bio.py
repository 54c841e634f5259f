"""Joins bios without repetition, up to a limit."""

import re
from collections.abc import Iterable, Sequence

from internal.people.model import Person

MAX_BIO = 1500
"""Most characters of a bio: several times the two or three sentences that the specification asks for."""

_BREAK = re.compile(r"(?<=[.!?…])\s+|\s*\n+\s*")
_WORD = re.compile(r"\w+")
_NEGATIONS = frozenset({
    "не", "нет", "ни", "никогда", "больше", "уже", "раньше",
    "ні", "немає", "ніколи", "більше", "вже", "раніше",
    "not", "no", "never", "longer", "used",
})  # fmt: skip
"""Words that negate a sentence: "не живёт в Киеве" does not contain the statement "живёт в Киеве"."""


def sentences_of_bio(bio: str) -> list[str]:
    return [part.strip() for part in _BREAK.split(bio) if part.strip()]


def join_bio(known: str, more: str) -> str:
    """Joins two bios without repetition to at most MAX_BIO characters; the oldest sentences are dropped first.

    A sentence that repeats another is dropped; one that contains another replaces it.
    """
    kept: list[str] = []
    for sentence in (*sentences_of_bio(known), *sentences_of_bio(more)):
        _add_sentence(kept, sentence)
    while len(kept) > 1 and len(_text(kept)) > MAX_BIO:
        kept.pop(0)
    return _cut(_text(kept))


def without_sentences(bio: str, removed: Iterable[str]) -> str:
    """The bio without the given sentences (compared by their words)."""
    gone = {_words(sentence) for sentence in removed}
    return _text([sentence for sentence in sentences_of_bio(bio) if _words(sentence) not in gone])


def bio_from_names(names: Sequence[str]) -> str:
    """The bio of a person of whom only names are known; source: edge case "Пустой bio" of the specification."""
    return ", ".join(names)


def made_of_names(person: Person) -> bool:
    """Whether the bio holds only names: the first statement about the person replaces it."""
    return bool(person.field_meta.get("bio", {}).get("by") == "names")


def folded_words(sentence: str) -> str:
    """The words of a sentence without case, for comparison."""
    return " ".join(_words(sentence))


def negations(sentence: str) -> set[str]:
    """The words of a sentence that may negate it."""
    return {*_words(sentence)} & _NEGATIONS


def _add_sentence(kept: list[str], sentence: str) -> None:
    words = _words(sentence)
    if any(_contains(_words(other), words) for other in kept):
        return
    poorer = [index for index, other in enumerate(kept) if _contains(words, _words(other))]
    for index in reversed(poorer):
        del kept[index]
    kept.insert(poorer[0] if poorer else len(kept), sentence)


def _contains(larger: tuple[str, ...], smaller: tuple[str, ...]) -> bool:
    """Whether `larger` contains `smaller` as a phrase without negating it."""
    width = len(smaller)
    inside = any(larger[start : start + width] == smaller for start in range(len(larger) - width + 1))
    return inside and not (_NEGATIONS & (set(larger) - set(smaller)))


def _words(sentence: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(sentence.casefold().replace("ё", "е")))


def _text(parts: Sequence[str]) -> str:
    closed = [part if part[-1] in ".!?…" else f"{part}." for part in parts[:-1]]
    return " ".join((*closed, *parts[-1:]))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_BIO else text[:MAX_BIO].rsplit(" ", 1)[0]
