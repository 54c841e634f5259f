"""Finds the topic of a session and the subject of an answer, in the language process: they need dictionaries."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from internal.agents.model import TranscriptLine
from internal.language.names.entities import basic_form
from internal.language.search.terms import document_terms
from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.spelling import Token, sentence_spans, tokens, words
from internal.language.text.titles import title_of

TITLE: Final = 60
"""Most characters of a topic."""
_SUBJECT: Final = 2
"""Most words of a subject."""
_WEIGHT_OF_OTHERS: Final = 2
"""The weight of a word not said by the assistant, whose words, mostly repeated ones, weigh 1."""
_SHORTEST_WORD: Final = 3
_ALIKE: Final = 4
"""The number of equal first letters of words with one root: opens, opening."""

_COMMON: Final = words(
    "спасибо дякую привет привіт пожалуйста гаразд ладно день сегодня сьогодні вчера вчора завтра человек людина время"
    " час вопрос питання say know think want get make hello hi thank thanks please today yesterday tomorrow tell ask"
    " need"
)


def session_topic(lines: Sequence[TranscriptLine]) -> str:
    """The phrase, not of the assistant, that describes a session's subject best; empty if there is none."""
    said = [(line, [(token.start, _word(token, names=True)) for token in tokens(line.text)]) for line in lines]
    weights = _weights((line, [word for _, word in found]) for line, found in said)
    topic, most = "", 0
    for line, found in said:
        for start, end in sentence_spans(line.text) if line.role != "assistant" else ():
            weight = sum(
                weights[word] for word in {word for at, word in found if word and start <= at < min(end, start + TITLE)}
            )
            if weight > most:
                topic, most = line.text[start:end], weight
    return title_of(topic, TITLE).rstrip(".")


def subject_of(lines: Iterable[TranscriptLine]) -> str:
    """The subject of an answer to these lines in its most specific words, without names."""
    own = [line for line in lines if line.owners_word]
    weights = _weights((line, [_word(token, names=False) for token in tokens(line.text)]) for line in own)
    alike: dict[str, str] = {}
    for word, _ in weights.most_common():
        alike.setdefault(word[:_ALIKE].casefold(), word)
    return ", ".join(list(alike.values())[:_SUBJECT])


def _weights(said: Iterable[tuple[TranscriptLine, Sequence[str | None]]]) -> Counter[str]:
    weights: Counter[str] = Counter()
    for line, found in said:
        for word in filter(None, found):
            weights[word] += 1 if line.role == "assistant" else _WEIGHT_OF_OTHERS
    return weights


def _word(token: Token, *, names: bool) -> str | None:
    """A word for a topic: a noun in its basic form, or a name if `names`; None for other words."""
    if token.username or len(token.key) < _SHORTEST_WORD or not token.key.replace("'", "").replace("-", "").isalpha():
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
