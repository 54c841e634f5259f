"""What the owner wants, judged by a few words: greeting, thanks, a question about a circle, a question, or news."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from internal.people.model import Circle

Wish = Literal["greeting", "thanks", "circle", "question", "news"]

_GREETING = re.compile(
    r"\W*(?:привет\w*|здравствуй\w*|добр\w+ (?:день|утро|вечер)|салют|привіт\w*|вітаю|доброго \w+|добрий \w+"
    r"|(?:hi|hello|hey)(?: there| again)?|good (?:morning|evening|afternoon)|/start)\W*(?:laplaced|лаплас\w*)?\W*",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\W*(?:(?:большое |огромное )?спасибо\w*|благодарю|(?:щиро )?дякую|thanks?(?: you| a lot)?|thx|cheers)\b.{0,20}",
    re.IGNORECASE,
)
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
_WHO = r"(?:кто|кого|с кем|хто|кого|з ким|із ким|who|whom|list|show|перечисли|покажи|назви|назови)"
_CIRCLES = (
    (
        Circle.FAMILY,
        r"семь[яеиюё]|семей|родн\w+|родственник\w*|родин[аиіуо]|сім'[яїю]|родич\w*|\bfamily\b|\brelatives\b",
    ),
    (Circle.FRIENDS, r"дру(?:зья|зей|зьях|жу|зі|зів|жишь)\b|приятел\w+|\bfriends\b"),
    (
        Circle.WORK_INNER,
        r"работа(?:ю|е|ем)\b|коллег\w*|команд\w+|працюю|робот[іи]\b|колег\w*|\bwork\b|\bcolleagues?\b|\bteam\b",
    ),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a message asks for; `circle` only if it asks about a whole circle."""

    wish: Wish
    circle: Circle | None = None


def wanted(text: str) -> Wanted:
    """The wish of a message; what is none of the others is news."""
    if _GREETING.fullmatch(text):
        return Wanted("greeting")
    if _THANKS.fullmatch(text):
        return Wanted("thanks")
    circle = _circle(text)
    if circle is not None:
        return Wanted("circle", circle)
    return Wanted("question" if _ASKS.search(text.strip()) else "news")


def _circle(text: str) -> Circle | None:
    """ "С кем я работаю?" asks about a circle; "кто такой Петров с работы?" about a person."""
    if not re.search(rf"^\W*(?:а |и |and )?{_WHO}\b", text, re.IGNORECASE) or len(text.split()) > 8:
        return None
    return next((circle for circle, words in _CIRCLES if re.search(words, text, re.IGNORECASE)), None)


def asked_name(text: str) -> str | None:
    """The name in "кто такой Задорожный?", also when nothing but the question says that it is one."""
    match = _WHO_IS.search(text)
    return match[1] if match else None
