"""The lessons of a prompt: the few that matter now of what the analyst taught in closed sessions.

They are read from the Analyses at every turn, newest first, and ranked by words and age: nothing has to be kept in step
with them, and what is erased there is gone here. For an owner with 200 sessions and 2,600 Analyses that takes 3 to 4 ms
of a reading thread and some 5 ms more, besides the language process.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from internal.chronicle import lesson_repository
from internal.chronicle.lesson_repository import Taught
from internal.errors import ModelUnavailable
from internal.language.search.terms import Word, plain_query_terms, words_of
from internal.language.text.spelling import name_key
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.tokens import count_tokens
from internal.recall.index.bm25 import LexicalIndex
from internal.recall.index.terms import TermTools
from internal.recall.search.metrics import NoObserver, RecallObserver
from internal.scheduling.clock import Clock
from internal.storage.database import Database

log = logging.getLogger(__name__)

MAX_LESSONS: Final = 3
MAX_TOKENS: Final = 240
"""Most lessons of one prompt, and of their words: three as long as the analyst may make them, in Cyrillic."""

LOOKED_AT: Final = 100
"""Lessons that are looked through, the newest: those of some months."""

HALF_LIFE: Final = timedelta(days=30)
"""A lesson that shares no word with the question counts for half after this time."""

FADED: Final = 0.2
"""Where it is left out: one taught once after ten weeks, one taught by four sessions after five months."""

_FRESH: Final = 1.0
"""What a lesson of this moment counts for by its age alone; the words of a question it holds add up to `_WORDS`."""
_WORDS: Final = 2.0

_SAME: Final = 0.7
"""Share of words in which two lessons are the same one."""

_LANGUAGE_TIMEOUT: Final = 3.0


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson as it was last put. `sessions` taught it; `words` are what it is compared by."""

    text: str
    at: datetime
    sessions: frozenset[str]
    words: frozenset[str]
    terms: str


class LessonRecall:
    """Recalls lessons for prompts. Never raises a model's error: without the language process age decides."""

    def __init__(
        self, database: Database, clock: Clock, terms: TermTools | None, observer: RecallObserver | None = None
    ) -> None:
        self._database, self._clock, self._terms = database, clock, terms
        self._observer = observer or NoObserver()

    async def for_question(self, user_id: int, question: str) -> list[str]:
        """At most MAX_LESSONS lessons, most telling first, each once, within MAX_TOKENS."""
        taught = await self._database.read(lambda c: lesson_repository.taught(c, user_id, limit=LOOKED_AT))
        taught = _newest(taught, LOOKED_AT)
        if not taught:
            return []
        texts = list(dict.fromkeys(text for one in taught for text in one.lessons))
        terms, words = await self._read(texts, question)
        lessons = distinct(taught, dict(zip(texts, terms, strict=True)))
        return _within_budget(ranked(lessons, words, self._clock.now()))

    async def _read(self, texts: Sequence[str], question: str) -> tuple[list[str], Sequence[Word]]:
        """What the lessons are found by, and the words of the question."""
        if self._terms is not None:
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    terms = await self._terms.document_terms(texts, urgent=True)
                    return terms, await self._terms.query_terms(question)
            except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
                self._observer.recall_degraded("terms")
                log.warning("recall_degraded", extra={"part": "lessons", "reason": type(error).__name__})
        return [" ".join(name_key(text).split()) for text in texts], plain_query_terms(question)


def distinct(taught: Sequence[Taught], terms: dict[str, str]) -> list[Lesson]:
    """The lessons of newest-first Analyses, each once, in the words in which it was put last."""
    found: list[Lesson] = []
    for one in taught:
        for text in one.lessons:
            words = frozenset(alternatives[0] for alternatives in words_of(terms[text])) or frozenset([name_key(text)])
            place = next((n for n, other in enumerate(found) if _same(words, other.words)), None)
            if place is None:
                found.append(Lesson(text, one.at, frozenset([one.session_id]), words, terms[text]))
            else:
                known = found[place]
                found[place] = Lesson(known.text, known.at, known.sessions | {one.session_id}, known.words, known.terms)
    return found


def ranked(lessons: Sequence[Lesson], question: Sequence[Word], now: datetime) -> list[str]:
    """Those that matter now, most telling first: by the words they share with the question, by age, by repetition."""
    index = LexicalIndex.of(lesson.terms for lesson in lessons)
    by_words = [float(score) for score in index.scores(question)] if question else [0.0] * len(lessons)
    scores = [_freshness(lesson, now) + _WORDS * shared for lesson, shared in zip(lessons, by_words, strict=True)]
    order = sorted(range(len(lessons)), key=lambda n: (-scores[n], n))
    return [lessons[n].text for n in order if scores[n] >= FADED]


def _freshness(lesson: Lesson, now: datetime) -> float:
    """What a lesson counts for whatever is asked; several sessions that taught it make it count for longer."""
    age = max(now - lesson.at, timedelta(0))
    return _FRESH * (1 + math.log2(len(lesson.sessions))) * math.exp2(-(age / HALF_LIFE))


def _newest(taught: Sequence[Taught], most: int) -> list[Taught]:
    """The newest Analyses that hold at most so many lessons together: comparing them takes the square of that."""
    kept, count = list[Taught](), 0
    for one in taught:
        count += len(one.lessons)
        if count > most:
            break
        kept.append(one)
    return kept


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME * len(one | other)


def _within_budget(texts: Iterable[str]) -> list[str]:
    """The first ones that fit; one that is too long for what is left makes room for shorter ones."""
    left, kept = MAX_TOKENS, list[str]()
    for text in texts:
        cost = count_tokens(text)
        if len(kept) < MAX_LESSONS and cost <= left:
            kept.append(text)
            left -= cost
    return kept
