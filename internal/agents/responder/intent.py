"""The intent of a message, by a few words: small talk, a question about a circle, a question, or news."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from internal.language.commands.questions import asks_about_bot
from internal.people.circle_words import circles_in_question
from internal.people.model import Circle

SmallTalk = Literal["greeting", "how-are-you", "farewell", "thanks", "abilities"]
Wish = SmallTalk | Literal["circle", "question", "news"]

_HELLO = (
    r"(?:привет\w*|здравствуй\w*|добр\w+ (?:день|утро|вечер)|салют|привіт\w*|вітаю|доброго \w+|добрий \w+"
    r"|(?:hi|hello|hey)(?: there| again)?|good (?:morning|evening|afternoon))"
)
_HOW = (
    rf"(?:{_HELLO}\W+)?(?:(?:ну )?как (?:у тебя |твои )?дела|как (?:ты|жизнь|поживаешь|настроение)(?: сегодня)?"
    r"|что (?:у тебя )?нового|що (?:у тебе )?нового|як (?:у тебе |твої )?справи"
    r"|як (?:ти|життя|ся маєш|поживаєш|настрій)(?: сьогодні)?|how are you(?: doing| feeling)?(?: today)?"
    r"|how(?: i|['’])s (?:it going|life)|how do you do|what(?: i|['’])s (?:up|new)|how have you been)"
)
_FAREWELL = (
    r"пока(?:[- ]пока)?|до (?:свидания|встречи|завтра|скорого)|спокойной ночи|доброй ночи|увидимся|прощай"
    r"|всего (?:доброго|хорошего)|бувай|до (?:побачення|зустрічі)|па[- ]па|на добраніч|добраніч|побачимось"
    r"|(?:good)?bye(?:[- ]bye)?|good ?night|see you(?: later| soon| tomorrow| around| then)?|take care"
)
_THANKS = (
    r"(?:(?:большое |огромное )?спасибо\w*|благодарю|(?:щиро )?дякую|thanks?(?: you| a lot)?|thx|cheers)"
    r"\b.{0,20}"
)
_ABILITIES = (
    r"(?:а )?что (?:ты )?(?:умеешь|можешь|делаешь)|помощь"
    r"|чем (?:ты )?(?:можешь )?помо\w+|(?:а )?що (?:ти )?(?:вмієш|умієш|можеш|робиш)"
    r"|чим (?:ти )?(?:можеш )?допомо\w+|допомога|what (?:can|do) you do(?: for me)?"
    r"|how can you help(?: me)?|help"
)
_SMALL_TALK: Mapping[SmallTalk, re.Pattern[str]] = {
    wish: re.compile(rf"\W*(?:{said})(?:\W+(?:laplaced|лаплас\w*))?\W*", re.IGNORECASE)
    for wish, said in dict[SmallTalk, str](
        {
            "greeting": rf"{_HELLO}|/start",
            "how-are-you": _HOW,
            "farewell": _FAREWELL,
            "thanks": _THANKS,
            "abilities": _ABILITIES,
        }
    ).items()
}
_ASKS = re.compile(
    r"\?\W*$|^\W*(?:кто|что|где|когда|как|почему|зачем|сколько|какой|какая|какие|кого|кому|о ком"
    r"|про кого|чей|расскажи|напомни"
    r"|помнишь|знаешь|хто|що|де|коли|як|чому|навіщо|скільки|який|яка|які|кого|кому|чий|розкажи|нагадай|пам'ятаєш|знаєш"
    r"|who|what|where|when|how|why|which|whose|whom|tell me|remind me|do you (?:know|remember)|is|are|does|did|can"
    r"|дай|посоветуй|переведи|напиши|сделай|найди|порадь|переклади|зроби|знайди|give|recommend|translate|write|find)\b",
    re.IGNORECASE,
)
_CAPITALISED = r"[^\W\d_a-zа-яёіїєґ][\w'’-]*"
_WHO_IS = re.compile(rf"(?i:кто так\w+|хто так\w+|who(?:'s|’s| is| was))\s+({_CAPITALISED}(?:\s+{_CAPITALISED})*)")
_OF_SOMEBODY = re.compile(
    r"\b(?:кто|кого|кому|кем|ком|чей|чья|чьё|чьи|хто|ким|чий|чия|чиє|чиї|who|whom|whose|somebody|someone|anyone|anybody)\b",
    re.IGNORECASE,
)


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
    return Intent("question" if _ASKS.search(text.strip()) else "news")


def asked_name(text: str) -> str | None:
    """The name in "кто такой Задорожный?", also when nothing but the question says that it is a name."""
    match = _WHO_IS.search(text)
    return match[1] if match else None


def asks_about_somebody(text: str) -> bool:
    """Whether a question asks for a person at all; "What's the weather like?" does not."""
    return bool(_OF_SOMEBODY.search(text))
