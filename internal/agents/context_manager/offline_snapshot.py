"""Makes a snapshot by rules: the owner's own sentences, sorted by a few words, quoted and not understood.

It cannot use its own words, notice an end that was not stated, or join two lines into one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from internal.agents.model import ContextRequest, TranscriptLine
from internal.agents.responder.offline.intent import intent_of
from internal.dialogue.snapshots.model import Part
from internal.language.search.terms import document_terms, words_of
from internal.language.text.spelling import sentence_spans

NOW_LASTS: Final = timedelta(days=7)
THREAD_LASTS: Final = timedelta(days=45)

NEWS: Final = 3
"""Most sentences of one slice for the part `now`."""

FEWEST_WORDS: Final = 3
LONGEST: Final = 200
"""Most characters of a sentence."""

_WHO: Final = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"\b(?:я|мы|ми) (?:сейчас |теперь |зараз |тепер )?(?:жив[уёе]\w*|мешкаю|переехал\w*|переїха\w+)\b"
        r"|\bI(?:'m| am| have)? (?:now )?(?:live|living|moved)\b",
        r"\bя (?:сейчас |теперь |зараз |тепер )?(?:работаю|працюю|по профессии|за фахом)\b"
        r"|\bI(?:'m| am)? (?:now )?(?:work|working)\b|\bmy job\b",
        r"\bменя зовут\b|\bмене звати\b|\bmy name is\b",
        r"\bмне (?:уже )?\d+ (?:лет|год)|\bмені (?:вже )?\d+ (?:рок|рік)|\bI(?:'m| am) \d+(?: years old)?\b",
        r"\bя (?:учусь|навчаюся|навчаюсь|вчуся)\b|\bI(?:'m| am)? stud(?:y|ying)\b",
        r"\bдень рождения\b.*\b(?:у меня|мой|моё)\b|\bмо[йеё] день рождения\b|\bмій день народження\b|\bmy birthday\b",
        r"\bу меня (?:есть |двое |трое |один |одна |два |две )?(?:детей|ребён\w+|сын|дочь|дочк\w+|жена|муж)\b"
        r"|\bу мене (?:є |двоє |троє |один |одна |два |дві )?(?:дітей|дитин\w+|син|доньк\w+|дружин\w+|чоловік)\b"
        r"|\bI have (?:a |an |two |three )?(?:children|kids?|son|daughter|wife|husband)\b",
    )
)
"""Patterns of sentences about who the owner is; the newest of each kind counts."""

_OPEN: Final = re.compile(
    r"\b(?:надо|нужно|должен|должна|придётся|собира(?:юсь|емся)|планиру\w+|хочу|хотел\w* бы|жду|обещал\w*|не забыть"
    r"|треба|потрібно|мушу|повинен|повинна|доведеться|збира(?:юся|юсь|ємося)|плану\w+|чекаю|обіця\w+|не забути"
    r"|need to|have to|must|should|going to|gonna|plan(?:ning)? to|want to|waiting for|promised|don't forget)\b",
    re.IGNORECASE,
)
_OVER: Final = re.compile(
    r"\b(?:сделал\w*|готово|закончил\w*|купил\w*|позвонил\w*|отправил\w*|отменил\w*|передумал\w*|больше не|уже не надо"
    r"|зробив|зробила|зроблено|закінчи\w+|купив|купила|подзвони\w+|зателефонува\w+|надісла\w+|скасува\w+|більше не"
    r"|вже не треба|done|finished|bought|called|sent|cancel\w+|changed my mind|no longer|not any ?more)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    at: datetime
    line: int


def quoted(request: ContextRequest) -> dict[str, Any]:
    """The snapshot of a reply in the format of the contract; pure. Takes about 1 ms for each new word."""
    said = list(_own_statements(request.transcript))
    until = max([line.at for line in request.transcript] or [datetime.min])
    old = _Old(request)
    who: list[tuple[int, dict[str, Any]]] = []
    threads: list[tuple[str, dict[str, Any]]] = []
    news: list[dict[str, Any]] = []
    for one in said:
        kind = next((index for index, words in enumerate(_WHO) if words.search(one.text)), None)
        if kind is not None:
            old.drop("who", _WHO[kind])
            who = [(index, item) for index, item in who if index != kind] + [(kind, _item(one))]
        elif _OVER.search(one.text):
            about = _words(one.text)
            old.close(about)
            threads = [(thread, item) for thread, item in threads if not _same_subject(about, _words(thread))]
            news.append(_item(one))
        elif _OPEN.search(one.text):
            threads.append((one.text, _item(one)))
        else:
            news.append(_item(one))
    return {
        "who": [*old.left("who"), *(item for _, item in who)],
        "now": [*old.left("now", until - NOW_LASTS if said else None), *news[-NEWS:]],
        "threads": [*old.left("threads", until - THREAD_LASTS if said else None), *(item for _, item in threads)],
        "by": "rules",
    }


class _Old:
    """The previous snapshot, from which newer statements remove items."""

    def __init__(self, request: ContextRequest) -> None:
        snapshot = request.snapshot
        parts: Sequence[Part] = [part for part in ("who", "now", "threads") for _ in snapshot.part(part)]
        self._items = list(zip(parts, range(1, len(parts) + 1), snapshot.items, strict=True))

    def drop(self, part: Part, words: re.Pattern[str]) -> None:
        self._items = [one for one in self._items if one[0] != part or not words.search(one[2].text)]

    def close(self, about: frozenset[str]) -> None:
        """Removes the threads that were stated to be over."""
        self._items = [
            one for one in self._items if one[0] != "threads" or not _same_subject(about, _words(one[2].text))
        ]

    def left(self, part: Part, since: datetime | None = None) -> list[dict[str, Any]]:
        there = [one for one in self._items if one[0] == part and (since is None or one[2].at >= since)]
        return [{"text": item.text, "from": [number], "evidence": []} for _, number, item in there]


def _own_statements(transcript: Sequence[TranscriptLine]) -> Iterator[_Said]:
    """The owner's own statements in order, without questions and small talk."""
    for line in (one.unquoted() for one in transcript if one.owners_word):
        for begin, end in sentence_spans(line.text):
            text = " ".join(line.text[begin:end].split())
            if len(text.split()) >= FEWEST_WORDS and len(text) <= LONGEST and intent_of(text).wish == "news":
                yield _Said(text, line.at, line.number)


def _item(one: _Said) -> dict[str, Any]:
    return {"text": one.text, "from": [], "evidence": [one.line]}


def _words(text: str) -> frozenset[str]:
    """The dictionary forms of the words of a sentence."""
    [terms] = document_terms([text])
    return frozenset(form for forms in words_of(terms) for form in forms[:1])


def _same_subject(about: frozenset[str], thread: frozenset[str]) -> bool:
    """Whether two sentences have the same subject: two common words, or one if the thread has few."""
    shared = len(about & thread)
    return shared >= 2 or (shared == 1 and len(thread) <= FEWEST_WORDS)
