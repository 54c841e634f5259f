"""Finds the circle that a question asks for as a whole: "кто мои друзья?", "with whom do I work?"."""

import re
from typing import Final

from internal.people.model import Circle

_WHO: Final = r"(?:кто|кого|с кем|хто|кого|з ким|із ким|who|whom|list|show|перечисли|покажи|назви|назови)"
_MOST_WORDS: Final = 8
"""Most words of a question about a circle; a longer one asks about one person."""

_NAMED: Final = re.compile(r"(?<=[^\W_] )(?!(?:I|Laplaced)\b)[A-ZА-ЯЁІЇЄҐ][\w'’-]+")
"""A capitalised word within a question, which then asks about a person, unless the owner is the subject."""
_ONESELF: Final = re.compile(r"\b(?:i|we|я|мы|ми)\b", re.IGNORECASE)
_EMPLOYER: Final = re.compile(r"\bwork\w* for\b|\bна кого\b", re.IGNORECASE)

_CIRCLES: Final = (
    (
        (Circle.FAMILY,),
        r"семь(?:ей|ёй|[яеиюё])|семей|родн\w+|родственник\w*|родин[аиіуо]|сім'(?:єю|[яїю])|родич\w*|\bfamily\b|\brelatives\b",
    ),
    ((Circle.FRIENDS,), r"дру(?:зья|зей|зьях|зьями|зьям|жу|зі|зів|зями|жишь)\b|приятел\w+|\bfriends\b"),
    (
        (Circle.WORK_INNER, Circle.WORK_OUTER),
        r"работа(?:ю|е|ем)\b|коллег\w*|команд\w+|працюю|робот[іи]\b|колег\w*|\bwork\b|\bcolleagues?\b|\bteam\b",
    ),
)


def circles_named(text: str) -> tuple[Circle, ...]:
    """The circles that a text names: "see friends once a month"."""
    return next((circles for circles, words in _CIRCLES if re.search(words, text, re.IGNORECASE)), ())


def circles_in_question(text: str) -> tuple[Circle, ...]:
    """The circles that a question asks for, usually none; work means two.

    "С кем я работаю?" asks about a circle; "кто такой Петров с работы?" and "Who does Tom work for?" do not.
    """
    if _EMPLOYER.search(text) or (_NAMED.search(text) and not _ONESELF.search(text)):
        return ()
    if len(text.split()) > _MOST_WORDS or not re.search(rf"^\W*(?:а |и |and )?{_WHO}\b", text, re.IGNORECASE):
        return ()
    return circles_named(text)
