"""Prepares a question for all searches: standing alone, or together with what was said before it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

import numpy as np

from internal.agents.model import Enricher, EnricherRequest, OwnerProfile, TranscriptLine
from internal.errors import ModelError, ModelReplyInvalid
from internal.language.search.followups import depends_on_preceding, leans_on_dialogue, without_pointers
from internal.language.search.terms import Word
from internal.llm.model import Embedder, Vectors
from internal.recall.index.scoring import normalised
from internal.recall.search.observer import RecallObserver, report_degraded
from internal.storage.vectors import Vector

T = TypeVar("T")


class QueryCache:
    """Lives as long as one question. Computes each result once; concurrent callers wait for it."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}
        self._values: dict[Hashable, Any] = {}

    async def get_or_compute(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work`, which runs once per key; its exception is raised to every caller.

        A cancelled caller stops waiting; the work goes on for the others. Calls with the same key must compute the
        same.
        """
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(work())
        return cast(T, await asyncio.shield(task))

    def get(self, key: Hashable) -> Any:
        """The value stored under a key, or None."""
        return self._values.get(key)

    def put(self, key: Hashable, value: Any) -> None:
        self._values[key] = value


log = logging.getLogger(__name__)

PRECEDING_WEIGHT: Final = 0.5
"""The weight of the words and the vector of the preceding turns, where a question depends on them."""

MAX_TURNS: Final = 3
"""Most of the owner's turns a question may depend on: back to the latest one that stands alone."""

_EMBED_TIMEOUT: Final = 10.0


class QuestionReader:
    """Prepares questions. Never raises a model's error: what fails is left out and counted."""

    def __init__(
        self,
        embedder: Embedder,
        words: Callable[[str], Awaitable[Sequence[Word]]],
        enricher: Enricher | None,
        enricher_timeout: float,
        observer: RecallObserver,
    ) -> None:
        """`words` returns the words of a text to search for, without function words."""
        self._embedder, self._words, self._observer = embedder, words, observer
        self._enricher, self._enricher_timeout = enricher, enricher_timeout

    async def read(self, owner: OwnerProfile, question: str, recent: Sequence[TranscriptLine]) -> Query:
        """The question with its words and vector; `recent` are the lines before it, oldest first.

        The enricher rewrites it so that it stands alone; words that it dropped are searched for too. Without one, or if
        it fails, a question that depends on what was said before is searched for with the owner's preceding turns.
        """
        words = await self._words(question)
        leans = leans_on_dialogue(question, len(words))
        standalone = await self._standalone(EnricherRequest(owner, question, recent, leans))
        if standalone is not None:
            return await self._rewritten(owner.user_id, question, words, standalone)
        preceding = await self._preceding_turns(question, words, recent)
        return await self._query(owner.user_id, question, preceding, words)

    async def _standalone(self, request: EnricherRequest) -> str | None:
        if self._enricher is None or not request.recent:
            return None
        try:
            async with asyncio.timeout(self._enricher_timeout):
                enriched = await self._enricher.standalone(request)
        except (ModelError, TimeoutError) as error:
            report_degraded(self._observer, "enricher", error)
            return None
        return enriched.strip() or None

    async def _rewritten(self, user_id: int, question: str, words: Sequence[Word], standalone: str) -> Query:
        """The rewritten question, and the original one beside it if the model left out some of its words."""
        if standalone == question:
            return await self._query(user_id, question, words=words)
        rewritten = await self._words(standalone)
        kept = {term for word in rewritten for term, _ in word}
        meant = await self._words(without_pointers(question))
        lost = any(not any(term in kept for term, _ in word) for word in meant)
        return await self._query(user_id, standalone, question if lost else "", rewritten)

    async def _preceding_turns(self, question: str, words: Sequence[Word], recent: Sequence[TranscriptLine]) -> str:
        """The owner's turns that a question depends on, oldest first; empty if it stands alone."""
        if not depends_on_preceding(question, len(words)):
            return ""
        turns: list[str] = []
        for line in reversed(recent):
            if line.role != "user" or not line.text.strip():
                continue
            turns.append(line.text.strip())
            if len(turns) == MAX_TURNS or not depends_on_preceding(line.text, len(await self._words(line.text))):
                break
        return "\n".join(reversed(turns))

    async def _query(
        self, user_id: int, question: str, preceding: str = "", words: Sequence[Word] | None = None
    ) -> Query:
        question_words = words if words is not None else await self._words(question)
        vectors = await self._embed(user_id, [question, preceding] if preceding else [question])
        if not preceding:
            return Query(question, vectors[0] if vectors else None, question_words)
        combined = vectors[0] + np.float32(PRECEDING_WEIGHT) * vectors[1] if vectors else None
        vector = normalised(combined, self._embedder.dimensions) if combined is not None else None
        return Query(question, vector, _with_preceding(question_words, await self._words(preceding)), preceding)

    async def _embed(self, user_id: int, texts: Sequence[str]) -> list[Vector]:
        """The normalised vectors of all these texts, or an empty list."""
        try:
            async with asyncio.timeout(_EMBED_TIMEOUT):
                vectors = await self._embedder.embed_queries(texts, user_id=user_id)
            if vectors.shape != (len(texts), self._embedder.dimensions) or not _usable(vectors):
                raise ModelReplyInvalid(f"vectors of shape {vectors.shape} came back")
            return [normalised(vector, self._embedder.dimensions) for vector in vectors]
        except (ModelError, TimeoutError) as error:
            report_degraded(self._observer, "embedder", error)
            return []


def _usable(vectors: Vectors) -> bool:
    return bool(np.isfinite(vectors).all() and vectors.any(axis=1).all())


def _with_preceding(words: Sequence[Word], preceding: Sequence[Word]) -> list[Word]:
    """A question's words, and the preceding turns' other words at half their weight."""
    known = {term for word in words for term, _ in word}
    weighted = (
        tuple((term, weight * PRECEDING_WEIGHT) for term, weight in word)
        for word in preceding
        if not any(term in known for term, _ in word)
    )
    return [*words, *weighted]


@dataclass(frozen=True, slots=True)
class Query:
    """A question prepared for searching. `vector` is normalised, None without an embedder.

    `preceding` is text said before it, or the question before it was rewritten, that is searched for too, at less
    weight; empty if the question stands alone.
    """

    text: str
    vector: Vector | None
    words: Sequence[Word]
    preceding: str = ""
    cache: QueryCache = field(default_factory=QueryCache, repr=False, compare=False)

    @property
    def text_with_preceding(self) -> str:
        """The text with what was said before it, to look for names in."""
        return f"{self.preceding}\n{self.text}" if self.preceding else self.text
