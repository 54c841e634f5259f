"""The reason why two names may be one person's: a suggestion, never a decision."""

from collections.abc import Sequence
from typing import Literal

from internal.language.names.name_words import NameWord, WordReason, name_words, word_reason
from internal.language.text.spelling import name_key
from internal.text_caches import cached

Reason = Literal["prefix", "patronymic", "declension", "diminutive", "transliteration"]

_MOST_WORDS = 5
"""The most words of the shorter of two names, since all orders of them are tried."""

_STRENGTH: tuple[WordReason, ...] = ("", "prefix", "declension", "diminutive", "transliteration")


@cached(100_000)
def same_person_reason(a: str, b: str) -> Reason | None:
    """The reason why two names may mean one person; None if they are equal (no hint) or if there is none. Symmetric.

    Every word of the shorter name must match one of the longer, so that Иван Петров and Иван Сидоров, or two
    different patronymics, give None. The least obvious step is returned: transliteration before diminutive before
    declension; if the words are equal, `patronymic` when only a patronymic is added, else `prefix`.
    """
    if name_key(a) == name_key(b):
        return None
    one, other = sorted((name_words(a), name_words(b)), key=lambda words: (len(words), [word.key for word in words]))
    if not _says_enough(one) or len(one) > _MOST_WORDS or len(other) > len(one) + 3:
        return None
    pairing = _pair(list(one), list(other))
    if pairing is None:
        return None
    reasons, extra = pairing
    strongest = max(reasons, key=_STRENGTH.index)
    if strongest == "" or strongest == "prefix":  # noqa: PLR1714 - mypy narrows a literal by comparison only
        return "patronymic" if extra and all(word.kind == "patronymic" for word in extra) else "prefix"
    return strongest


def _says_enough(words: Sequence[NameWord]) -> bool:
    """Whether a name can identify somebody: a title, an initial or a patronymic alone cannot."""
    return any(word.kind in ("first", "surname") for word in words)


def _pair(shorter: list[NameWord], longer: list[NameWord]) -> tuple[list[WordReason], list[NameWord]] | None:
    """A reason for every word of the shorter name, and the words left over; None if a word has no partner."""
    if not shorter:
        return [], longer
    word, *rest = shorter
    best: tuple[list[WordReason], list[NameWord]] | None = None
    for position, candidate in enumerate(longer):
        reason = word_reason(word, candidate)
        if reason is None:
            continue
        paired = _pair(rest, longer[:position] + longer[position + 1 :])
        if paired is not None and (best is None or _weight([reason, *paired[0]]) < _weight(best[0])):
            best = [reason, *paired[0]], paired[1]
    return best


def _weight(reasons: Sequence[WordReason]) -> int:
    return sum(_STRENGTH.index(reason) for reason in reasons)
