"""Recognises messages without content, by rules in three languages: bare questions, and "I do not know"."""

import re
from functools import partial
from typing import Final

from internal.language.search.terms import plain_query_terms
from internal.language.text.tables import any_of
from internal.text_caches import cached

_any: Final = partial(any_of, "internal.language.search")

_MOST_CHARACTERS: Final = 600
_MOST_WORDS: Final = 40
"""A longer message is taken to tell something, whatever it says of not knowing."""

_MOST_ASKED: Final = 20
"""Words of one question: a longer one tells a story first."""

NEW_WORDS: Final = 2
"""Words by which a question asks for the same in another way: "What is Masha's birthday?", "When was Masha born?"."""

_LONG: Final = 4
_PREFIX: Final = 5
"""Letters of a word that counts, and those by which two count as one, whatever their endings."""

_SENTENCE: Final = re.compile(r"[^.!?…\n]+[.!?…]*")
_WORD: Final = re.compile(r"[^\W_]+(?:['’ʼ-][^\W_]+)*")
_FIGURE: Final = re.compile(r"\d|[«»“”]|https?:")

_OPENING: Final = rf"(?:(?:{_any('opening')})\W+)*"
_ASKING: Final = rf"(?:{_any('asking')})"
_VERBS: Final = rf"(?:{_any('verbs')})"
_WITH: Final = r"(?:(?:в|во|с|со|на|по|из|о|об|от|до|за|для|про|к|у|з|із|від|при|from|in|at|on|to|with|about|of)\s+)?"
_ASKS: Final = re.compile(rf"\W*{_OPENING}(?:{_WITH}{_ASKING}|{_VERBS})\b", re.IGNORECASE)
_ASKS_INSIDE: Final = re.compile(rf"\b{_ASKING}\b", re.IGNORECASE)
_ORDERS: Final = re.compile(
    rf"\W*{_OPENING}(?:напомни|скажи|подскажи|нагадай|remind me|tell me)\b"
    rf"\W+(?:(?:мне|мені|пожалуйста|будь ласка|please)\W+)*{_WITH}{_ASKING}\b",
    re.IGNORECASE,
)
_GREETS: Final = re.compile(rf"\W*(?:{_any('greets')})\W*", re.IGNORECASE)
_TELLS: Final = re.compile(
    r"\b(?:я|мы|ми|i|we|i['’]m|we['’]re|i['’]ve|мне|мені|у меня|у мене|my|мой|моя|мої|мій|мои)\b", re.IGNORECASE
)
"""Who speaks of himself before a comma tells something on the way: "I fly to Rome tomorrow, what shall I take?"."""

_NOTHING: Final = re.compile(_any("nothing"), re.IGNORECASE)
_EXCUSES: Final = re.compile(rf"\b(?:{_any('excuses')})\b", re.IGNORECASE)
"""What an answer without knowledge says besides: it asks for the information, or is sorry."""

_BUT: Final = re.compile(rf"\b(?:{_any('but')})\b", re.IGNORECASE)
_OF_TALK: Final = re.compile(rf"\b(?:{_any('of_talk')})\b", re.IGNORECASE)
_OF_BOT: Final = re.compile(_any("of_bot"), re.IGNORECASE)


def asks_again(text: str, question: str) -> bool:
    """Whether a message only asks the present question: "А когда у Маши день рождения?", "Напомни, где ключ".

    With more than NEW_WORDS words of its own it states something too ("What shall I give my wife Anna on Friday?"), and
    so does a statement.
    """
    return _only_asks(text) and len(_beginnings(text) - _beginnings(question)) <= NEW_WORDS


@cached(1_000)
def _only_asks(text: str) -> bool:
    if len(text) > _MOST_CHARACTERS:
        return False
    sentences = [sentence for sentence in _sentences(text) if not _GREETS.fullmatch(sentence)]
    return bool(sentences) and all(_is_bare_question(sentence) for sentence in sentences)


@cached(1_000)
def knows_nothing(text: str) -> bool:
    """Whether a short answer only says that nothing is known: "I have nothing on that. Tell me and I'll remember"."""
    if len(text) > _MOST_CHARACTERS:
        return False
    sentences = _sentences(text)
    if _FIGURE.search(text) or _BUT.search(text) or len(_WORD.findall(text)) > _MOST_WORDS:
        return False
    nothing = [bool(_NOTHING.search(sentence)) for sentence in sentences]
    return any(nothing) and all(
        says_nothing or sentence.endswith("?") or bool(_EXCUSES.search(sentence))
        for sentence, says_nothing in zip(sentences, nothing, strict=True)
    )


def asks_about_talk(text: str) -> bool:
    """Whether a question is about what was asked or answered before: then questions and refusals are content."""
    return bool(_OF_TALK.search(text))


def asks_of_bot(text: str) -> bool:
    """Whether a question is about what the assistant said, too: "what did you recommend?", "твой совет"."""
    return bool(_OF_BOT.search(text))


@cached(1_000)
def _beginnings(text: str) -> frozenset[str]:
    """The beginnings of the longer words of a text, without function words."""
    words = (forms[0][0] for forms in plain_query_terms(text))
    return frozenset(word[:_PREFIX] for word in words if len(word) >= _LONG)


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.findall(text) if _WORD.search(sentence)]


def _is_bare_question(sentence: str) -> bool:
    if len(_WORD.findall(sentence)) > _MOST_ASKED:
        return False
    if not sentence.endswith("?"):
        return bool(_ORDERS.match(sentence))
    if _ASKS.match(sentence):
        return True
    before, comma, _ = sentence.partition(",")
    return bool(_ASKS_INSIDE.search(sentence)) and not (comma and _TELLS.search(before))
