"""Whether a line requests, intends or promises anything: wider than the tasks that rules find by themselves.

All functions are pure and load dictionaries: call them in the language process.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from internal.language.dates.units import blank_out, fold
from internal.language.tasks.requests import TaskFound, find_tasks
from internal.language.tasks.times import find_time
from internal.language.tasks.vocabulary import any_of
from internal.language.text.english import PERSONAL_VERBS
from internal.language.text.morphology import parses
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, name_key, text_language, words

_INTENTIONS: Final = words(
    "will ll shall must need needs should gotta gonna going want plan promise promised promising please let remember"
    " forget remind todo due deadline надо нужно треба потрібно слід пора должен должна обязан обещал обещала обіцяв"
    " обіцяла повинен повинна маю"
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_COURTESY: Final = pattern(rf"\b(?:{any_of('courtesy')})\b")
_STATEMENT: Final = re.compile(
    r"^\W*(?:i|we|he|she|it|they|you|there|this|that|these|those|the|a|an|my|our|yes|no|what|who|when|where|why|how)\b"
    r"|\b(?:is|are|was|were|has|had|did|does)\b",
    re.IGNORECASE,
)


def without_request(lines: Sequence[tuple[str, datetime]], language: Language) -> list[int]:
    """The indexes of the lines, each with its time of writing (aware), that request, intend and promise nothing.

    Grammar decides: an imperative, an infinitive, a future of the first person, a word of need, a future time.
    """
    return [index for index, (text, at) in enumerate(lines) if not _requests(text, at, text_language(text, language))]


def only_requests(text: str, tasks: Sequence[TaskFound]) -> bool:
    """Whether a text consists of requests for reminders, so that nothing else in it needs an answer."""
    requests = [task.span for task in tasks if task.asked]
    rest = fold(blank_out(text, requests))
    return bool(requests) and not re.search(r"[^\W\d_]{3,}", _COURTESY.sub(" ", rest))


def _requests(text: str, at: datetime, language: Language) -> bool:
    found = _WORD.findall(text)
    if any(name_key(word) in _INTENTIONS or _intends(word, language) for word in found) or find_tasks(
        text, at, language
    ):
        return True
    if (time := find_time(text, at, language)) is not None and time.moment > at:
        return True
    # English imperatives have no form of their own: "Buy milk" has no subject and no finite verb.
    if language != "en" or not found or _STATEMENT.search(text):
        return False
    verb = name_key(found[1]) if len(found) > 1 else ""
    return verb not in PERSONAL_VERBS and not verb.endswith("ed")


def _intends(word: str, language: Language) -> bool:
    likeliest = next(iter(parses(word.casefold(), language)), None) if language != "en" else None
    tag = likeliest.tag.grammemes if likeliest is not None else frozenset()
    return "impr" in tag or "INFN" in tag or {"1per", "futr"} <= tag
