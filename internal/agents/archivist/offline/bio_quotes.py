"""Makes a bio of two or three whole sentences of the owner, each once."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from internal.language.discretion.recipients import only_orders_words
from internal.language.text.spelling import sentence_spans
from internal.language.text.unmarked_questions import asks_unmarked

MAX_SENTENCES = 3
MAX_SENTENCE = 220
"""Most characters of one sentence; a longer one is cut at a word."""

_SAME = 88
"""Likeness (0-100, words in any order) above which a sentence repeats another."""
_OPENING = re.compile(
    r"^(?:ну|кстати|короче|слушай|привет|здравствуй|да|так вот|в общем|до речі|слухай|привіт|отже|коротше|ок|ok|okay"
    r"|hey|hi|hello|well|so|btw|by the way|oh)[,!.]+\s+",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\?\W*$|^\W*(?:(?:расскажи|напомни|покажи|забудь|найди|отмени|удали|перенеси|розкажи|нагадай|знайди|скасуй|відміни"
    r")(?:те)?|tell me|show me|remind me|forget|find|cancel|reschedule|postpone|delete|erase)\b"
    r"|^\W*(?:(?:а|и|і|and) )?(?:кто|кого|кому|чей|чья|где|куда|откуда|почему|зачем|сколько|хто|чий|чия|де|куди|звідки"
    r"|чому|навіщо|скільки|(?:что|що) (?:ты|ти|я|у|с|з|о|про|там)|who|whom|whose|where|why"
    r"|what (?:is|are|was|do|did|does|about)|how (?:is|are|was|old|many|much))\b[^,]*$",
    re.IGNORECASE,
)
"""A question mark, an order to the bot, or a question without its mark."""


def asks(sentence: str) -> bool:
    """Whether a sentence is a question or an order, not a statement; for the language process."""
    return asks_plainly(sentence) or asks_unmarked(sentence)


def asks_plainly(sentence: str) -> bool:
    """Whether a mark or the first words show a question or an order; works without dictionaries."""
    return bool(_ASKING.search(sentence.strip())) or only_orders_words(sentence)


def cleaned(sentence: str) -> str:
    """The sentence without a greeting at its beginning, with a capital and a full stop."""
    plain = _OPENING.sub("", " ".join(sentence.split()))
    if len(plain) > MAX_SENTENCE:
        plain = plain[:MAX_SENTENCE].rsplit(" ", 1)[0] + "…"
    plain = plain[:1].upper() + plain[1:]
    return plain if not plain or plain[-1] in ".!?…" else plain + "."


def bio_of(known: str, said: Sequence[str]) -> str:
    """The known bio with the new sentences: its first sentence, which identifies the person, and the latest ones."""
    kept = _each_once([*_split(known), *map(cleaned, said)])
    if len(kept) > MAX_SENTENCES:
        kept = [kept[0], *kept[-(MAX_SENTENCES - 1) :]]
    return " ".join(kept)


def unknown_of(known: str, said: Sequence[str]) -> str:
    """The latest sentences that the known bio does not contain yet; empty if there are none."""
    held = _each_once(_split(known))
    return " ".join(_each_once([*held, *map(cleaned, said)])[len(held) :][-MAX_SENTENCES:])


def _each_once(sentences: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for sentence in sentences:
        if sentence and not any(fuzz.token_sort_ratio(sentence, other) >= _SAME for other in kept):
            kept.append(sentence)
    return kept


def _split(bio: str) -> list[str]:
    return [bio[start:end].strip() for start, end in sentence_spans(bio) if bio[start:end].strip()]
