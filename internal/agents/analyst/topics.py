"""The topic of lines, in their most telling words. For the language process: it needs dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from internal.agents.model import TranscriptLine
from internal.language.names.entities import basic_form
from internal.language.search.terms import document_terms
from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.spelling import Token, tokens, words

MOST: Final = 3
_OWNERS: Final = 2
"""Words of others than the assistant count twice: he repeats them. What he alone says is no topic ("I see")."""
_LEAST: Final = 3
_ALIKE: Final = 4
"""Letters by which words are of one root: opens, opening."""

_COMMON: Final = words(
    "спасибо дякую привет привіт пожалуйста гаразд ладно день сегодня сьогодні вчера вчора завтра человек людина время"
    " час вопрос питання say know think want get make hello hi thank thanks please today yesterday tomorrow tell ask"
    " need"
)


def key_words(lines: Sequence[TranscriptLine], *, names: bool) -> list[str]:
    """The key words of these lines, most telling first, in basic form; names among them if `names`."""
    weights: Counter[str] = Counter()
    brought_up: set[str] = set()
    for line in lines:
        answers = line.role == "assistant"
        for token in tokens(line.text):
            word = _word(token, names=names)
            if word is not None:
                weights[word] += 1 if answers else _OWNERS
                brought_up |= set() if answers else {word}
    alike: dict[str, str] = {}
    for word, _ in weights.most_common():
        if word in brought_up:
            alike.setdefault(word[:_ALIKE].casefold(), word)
    return list(alike.values())[:MOST]


def topic_of(lines: Sequence[TranscriptLine]) -> str:
    """The topic of a session, names among its words; empty if it has none."""
    topic = ", ".join(key_words(lines, names=True))
    return topic[:1].upper() + topic[1:]


def subject_of(lines: Iterable[TranscriptLine]) -> str:
    """The subject of an answer to these lines, without any name."""
    return ", ".join(key_words([line for line in lines if line.owners_word], names=False)[:2])


def _word(token: Token, *, names: bool) -> str | None:
    """What a word adds to a topic: a noun in its basic form, or a name if `names`; None for any other."""
    if token.username or len(token.key) < _LEAST or not token.key.replace("'", "").replace("-", "").isalpha():
        return None
    if token.capital and not token.opens:
        return basic_form(token.text) if names else None
    if not document_terms([token.key])[0]:
        return None  # a function word
    word = token.key if token.latin else _noun(token.key)
    return None if word is None or word in _COMMON else word


def _noun(key: str) -> str | None:
    """The nominative of a noun by the first language that knows the word; None for another word."""
    for language in dictionary_languages(key):
        likeliest = next(iter(parses(key, language)), None)
        if likeliest is not None and likeliest.is_known:
            return str(likeliest.normal_form) if likeliest.tag.POS == "NOUN" else None
    return None
