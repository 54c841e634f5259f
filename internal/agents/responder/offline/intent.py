"""The intent of a message, by a few words: small talk, a question about a circle, a question, or news."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from internal.language.commands.questions import asks_about_bot
from internal.language.text.tables import table
from internal.language.text.unmarked_questions import asks_unmarked
from internal.people.circle_words import circles_in_question
from internal.people.model import Circle

SmallTalk = Literal["greeting", "how-are-you", "farewell", "thanks", "abilities"]
Wish = SmallTalk | Literal["circle", "question", "news"]

_TABLE: Mapping[str, list[str]] = table(__package__, "intent")
_HELLO = "|".join(_TABLE["hello"])
_SMALL_TALK: Mapping[SmallTalk, re.Pattern[str]] = {
    wish: re.compile(rf"\W*(?:{said})(?:\W+(?:laplaced|лаплас\w*))?\W*", re.IGNORECASE)
    for wish, said in dict[SmallTalk, str](
        {
            "greeting": rf"{_HELLO}|/start",
            "how-are-you": "|".join(_TABLE["how-are-you"]).replace("HELLO", _HELLO),
            "farewell": "|".join(_TABLE["farewell"]),
            "thanks": "|".join(_TABLE["thanks"]),
            "abilities": "|".join(_TABLE["abilities"]),
        }
    ).items()
}
_ASKS = re.compile("|".join(_TABLE["asks"]), re.IGNORECASE)
_CAPITALISED = r"[^\W\d_a-zа-яёіїєґ][\w'’-]*"
_WHO_IS = re.compile(rf"(?i:кто так\w+|хто так\w+|who(?:'s|’s| is| was))\s+({_CAPITALISED}(?:\s+{_CAPITALISED})*)")
_OF_SOMEBODY = re.compile("|".join(_TABLE["of_somebody"]), re.IGNORECASE)

_WRITES, _WRITTEN = (re.compile("|".join(_TABLE[name]), re.IGNORECASE) for name in ("writes", "written"))


@dataclass(frozen=True, slots=True)
class Intent:
    """The intent of a message; `circle` only if it asks about a whole circle."""

    wish: Wish
    circle: Circle | None = None


def intent_of(text: str) -> Intent:
    """The intent of a message; "news" if it is none of the others."""
    for wish, pattern in _SMALL_TALK.items():
        if pattern.fullmatch(text):
            return Intent(wish)
    if asks_about_bot(text):
        return Intent("abilities")
    if circles := circles_in_question(text):
        return Intent("circle", circles[0])
    return Intent("question" if _ASKS.search(text.strip()) or asks_unmarked(text) else "news")


def orders_writing(text: str, *, certainly: bool = False) -> bool:
    """Whether a text orders what only a model can write: a toast, a translation; `certainly`: it names that."""
    found = _WRITES.match(text)
    return found is not None and (not certainly or _WRITTEN.match(text, found.end()) is not None)


def asked_name(text: str) -> str | None:
    """The name in "кто такой Задорожный?", also when nothing but the question says that it is a name."""
    match = _WHO_IS.search(text)
    return match[1] if match else None


def asks_about_somebody(text: str) -> bool:
    """Whether a question asks for a person at all; "What's the weather like?" does not."""
    return bool(_OF_SOMEBODY.search(text))
