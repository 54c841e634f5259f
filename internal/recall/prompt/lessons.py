"""The lessons of a prompt: the few relevant now among those the analyst learnt from closed sessions.

They are read from the Analyses at every turn, newest first, and ranked by words and age: nothing has to be kept in
sync, and erased lessons are gone at once. For an owner with 200 sessions and 2,600 Analyses that takes 3 to 4 ms of a
reading thread and some 5 ms more, besides the language process.
"""

import asyncio
import logging
import math
from collections.abc import Sequence
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
from internal.recall.prompt.budget import within_budget
from internal.recall.search.observer import NoObserver, RecallObserver
from internal.scheduling.clock import Clock
from internal.storage.database import Database

log = logging.getLogger(__name__)

MAX_LESSONS: Final = 3
MAX_TOKENS: Final = 240
"""Most lessons of one prompt, and tokens of their texts: three of the greatest length, in Cyrillic."""

MAX_READ: Final = 100
"""Most lessons that are ranked, the newest: those of some months."""

HALF_LIFE: Final = timedelta(days=30)
"""After this time a lesson that shares no word with the question counts for half."""

MIN_SCORE: Final = 0.2
"""The least score: a lesson learnt once falls below it after ten weeks, one of four sessions after five months."""

_AGE_WEIGHT: Final = 1.0
_WORDS_WEIGHT: Final = 2.0
"""The weight of a lesson's age, full for one of this moment, and of the share of the question's words that it holds."""

_SAME_SHARE: Final = 0.7
"""Share of words from which two lessons are the same one."""

_LANGUAGE_TIMEOUT: Final = 3.0


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson in its latest wording. `sessions` are those it was learnt from; lessons are compared by `words`."""

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
        """At most MAX_LESSONS different lessons, most relevant first, within MAX_TOKENS."""
        taught = await self._database.read(lambda c: lesson_repository.taught(c, user_id, limit=MAX_READ))
        taught = _newest(taught, MAX_READ)
        if not taught:
            return []
        texts = list(dict.fromkeys(text for analysis in taught for text in analysis.lessons))
        terms, words = await self._read(texts, question)
        lessons = distinct(taught, dict(zip(texts, terms, strict=True)))
        return within_budget(ranked(lessons, words, self._clock.now()), MAX_TOKENS, count_tokens)[:MAX_LESSONS]

    async def _read(self, texts: Sequence[str], question: str) -> tuple[list[str], Sequence[Word]]:
        """The terms of the lessons, and the words of the question."""
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
    """The different lessons of Analyses (newest first), each in its latest wording."""
    lessons: list[Lesson] = []
    for analysis in taught:
        for text in analysis.lessons:
            words = frozenset(alternatives[0] for alternatives in words_of(terms[text])) or frozenset([name_key(text)])
            index = next((n for n, other in enumerate(lessons) if _are_same(words, other.words)), None)
            if index is None:
                lessons.append(Lesson(text, analysis.at, frozenset([analysis.session_id]), words, terms[text]))
            else:
                known = lessons[index]
                lessons[index] = Lesson(
                    known.text, known.at, known.sessions | {analysis.session_id}, known.words, known.terms
                )
    return lessons


def ranked(lessons: Sequence[Lesson], question: Sequence[Word], now: datetime) -> list[str]:
    """The relevant lessons, best first: by the words they share with the question, by age, by repetition."""
    index = LexicalIndex.of(lesson.terms for lesson in lessons)
    by_words = [float(score) for score in index.scores(question)] if question else [0.0] * len(lessons)
    scores = [
        _age_score(lesson, now) + _WORDS_WEIGHT * shared for lesson, shared in zip(lessons, by_words, strict=True)
    ]
    order = sorted(range(len(lessons)), key=lambda n: (-scores[n], n))
    return [lessons[n].text for n in order if scores[n] >= MIN_SCORE]


def _age_score(lesson: Lesson, now: datetime) -> float:
    """The score of a lesson by age alone; lessons of several sessions count for longer."""
    age = max(now - lesson.at, timedelta(0))
    return _AGE_WEIGHT * (1 + math.log2(len(lesson.sessions))) * math.exp2(-(age / HALF_LIFE))


def _newest(taught: Sequence[Taught], most: int) -> list[Taught]:
    """The newest Analyses that hold at most `most` lessons together: comparing lessons takes quadratic time."""
    newest, count = list[Taught](), 0
    for analysis in taught:
        count += len(analysis.lessons)
        if count > most:
            break
        newest.append(analysis)
    return newest


def _are_same(words: frozenset[str], other_words: frozenset[str]) -> bool:
    return len(words & other_words) >= _SAME_SHARE * len(words | other_words)
