"""Which kinds of memories a question asks for: goals, decisions, open questions, preferences.

"Какие у меня цели?" shares no word with a goal. In Russian, Ukrainian and English.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from internal.language.text.spelling import name_key, words
from internal.language.text.tables import table

_KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    label: re.compile(rf"(?<!\w)(?:{pattern})(?!\w)")
    for label, pattern in {
        "Goal": r"цел(?:ь|и|ей|ью|ям|ями|ях)|мечт(?:а|ы|е|у|ой|аю|ал|ала|ать)"
        r"|(?:чего|что) я (?:хочу|хотел|хотела)(?: \w+)?"
        r"|ціл(?:ь|і|ей|ям|ями|ях)|ціллю|мет(?:а|и|у|ою)|мрі(?:я|ї|ю|єю|й|ям|ями|ях)|мрію"
        r"|(?:чого|що) я (?:хочу|хотів|хотіла)(?: \w+)?"
        r"|goals?|dreams?|aims?|objectives?|what (?:do|did) i (?:want|wish|plan)(?: to)?(?: achieve)?",
        "Decision": r"решил[аи]?|решен(?:ие|ия|ий|ии|ию|иям|иями|иях)|реша[лю]\w*"
        r"|вирішив|вирішил[аи]|вирішували|рішен(?:ня|ь|ні|ням|нями|нях)|decid(?:e|ed|ing)|decisions?",
        "Question": r"вопрос(?:ы|ов|ам|ами|ах|е|у)?|питан(?:ня|ь|ні|ням|нями|нях)|запитан(?:ня|ь)|questions?",
        "Preference": r"предпочт\w+|предпоче?л\w*|предпочитаю|(?:я )?(?:не )?люблю|мне (?:не )?нрав\w+|нравится мне"
        r"|ненавижу|вподобан\w+|уподобан\w+|переваг[аиу]|надаю перевагу|мені (?:не )?подоба\w+|подобається мені"
        r"|ненавиджу|prefer(?:s|red)?|preferences?|(?:do|did|don't) i (?:really )?(?:like|love|hate|enjoy|dislike)"
        r"|i (?:like|love|hate|enjoy|dislike)|(?:dis)?likes",
    }.items()
}

_AROUND: Final = words(table(__package__, "memory_kinds")["around"])
"""Words beside the word for the kind that ask for nothing more specific."""

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class RequestedKinds:
    """The labels a question asks for; `alone`: for all of them, not for those about something."""

    labels: frozenset[str] = frozenset()
    alone: bool = False


def requested_kinds(question: str) -> RequestedKinds:
    """The kinds of memories that a question asks for by name; none for most questions."""
    key = name_key(question)
    labels = {label for label, pattern in _KINDS.items() if pattern.search(key)}
    if not labels:
        return RequestedKinds()
    rest = key
    for label in labels:
        rest = _KINDS[label].sub(" ", rest)
    left = [word for word in _TOKEN.findall(rest) if word not in _AROUND]
    return RequestedKinds(frozenset(labels), alone=not left)
