"""A question made ready for every search: standing alone, or together with what was said before it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import numpy as np

from internal.agents.model import Enricher, EnricherRequest, OwnerProfile, TranscriptLine
from internal.errors import ModelError, ModelReplyInvalid
from internal.language.search.followups import leans_on_before
from internal.language.search.terms import Word
from internal.llm.model import Embedder, Vectors
from internal.recall.index.scoring import normalised
from internal.recall.search.knowledge import Asked
from internal.recall.search.metrics import RecallObserver
from internal.storage.vectors import Vector

log = logging.getLogger(__name__)

BEFORE_WEIGHT: Final = 0.5
"""What the words and the vector of the turn before count for, where a question leans on it."""

MOST_TURNS: Final = 3
"""The owner's turns a question may lean on: back to the latest one that stands alone."""

_EMBED_TIMEOUT: Final = 10.0


class QuestionReader:
    """Reads questions. Never raises a model's error: what fails is left out and counted."""

    def __init__(
        self,
        embedder: Embedder,
        words: Callable[[str], Awaitable[Sequence[Word]]],
        enricher: Enricher | None,
        enricher_timeout: float,
        observer: RecallObserver,
    ) -> None:
        """`words` gives the words of a text that are to be looked for; function words are not among them."""
        self._embedder, self._words, self._observer = embedder, words, observer
        self._enricher, self._enricher_timeout = enricher, enricher_timeout

    async def read(self, owner: OwnerProfile, question: str, recent: Sequence[TranscriptLine]) -> Asked:
        """The question with its words and vector; `recent` are the lines before it, oldest first.

        A model makes it stand alone. Without one, or if it fails, a question that leans on what was said before is
        searched for together with the owner's turn before it.
        """
        written = await self._standalone(owner, question, recent)
        if written is not None:
            return await self._asked(owner.user_id, written)
        words = await self._words(question)
        before = await self._leans_on(question, words, recent)
        return await self._asked(owner.user_id, question, before, words)

    async def _standalone(self, owner: OwnerProfile, question: str, recent: Sequence[TranscriptLine]) -> str | None:
        if self._enricher is None or not recent:
            return None
        try:
            async with asyncio.timeout(self._enricher_timeout):
                enriched = await self._enricher.standalone(EnricherRequest(owner, question, recent))
        except (ModelError, TimeoutError) as error:
            self._degraded("enricher", error)
            return None
        return enriched.strip() or None

    async def _leans_on(self, question: str, words: Sequence[Word], recent: Sequence[TranscriptLine]) -> str:
        """The owner's turns that a question needs to be understood, oldest first; empty if it stands alone."""
        if not leans_on_before(question, len(words)):
            return ""
        turns: list[str] = []
        for line in reversed(recent):
            if line.role != "user" or not line.text.strip():
                continue
            turns.append(line.text.strip())
            if len(turns) == MOST_TURNS or not leans_on_before(line.text, len(await self._words(line.text))):
                break
        return "\n".join(reversed(turns))

    async def _asked(self, user_id: int, question: str, before: str = "", words: Sequence[Word] | None = None) -> Asked:
        own = words if words is not None else await self._words(question)
        vectors = await self._embedded(user_id, [question, before] if before else [question])
        if not before:
            return Asked(question, vectors[0] if vectors else None, own)
        both = vectors[0] + np.float32(BEFORE_WEIGHT) * vectors[1] if vectors else None
        vector = normalised(both, self._embedder.dimensions) if both is not None else None
        return Asked(question, vector, _with(own, await self._words(before)), before)

    async def _embedded(self, user_id: int, texts: Sequence[str]) -> list[Vector]:
        """The normalised vectors of all these texts, or of none."""
        try:
            async with asyncio.timeout(_EMBED_TIMEOUT):
                vectors = await self._embedder.embed_queries(texts, user_id=user_id)
            if vectors.shape != (len(texts), self._embedder.dimensions) or not _usable(vectors):
                raise ModelReplyInvalid(f"vectors of shape {vectors.shape} came back")
            return [normalised(vector, self._embedder.dimensions) for vector in vectors]
        except (ModelError, TimeoutError) as error:
            self._degraded("embedder", error)
            return []

    def _degraded(self, part: str, error: Exception) -> None:
        self._observer.recall_degraded(part)
        log.warning("recall_degraded", extra={"part": part, "reason": type(error).__name__})


def _usable(vectors: Vectors) -> bool:
    return bool(np.isfinite(vectors).all() and vectors.any(axis=1).all())


def _with(own: Sequence[Word], before: Sequence[Word]) -> list[Word]:
    """A question's words, and those of the turn before it at half their weight where it does not have them itself."""
    known = {term for word in own for term, _ in word}
    lighter = (
        tuple((term, weight * BEFORE_WEIGHT) for term, weight in word)
        for word in before
        if not any(term in known for term, _ in word)
    )
    return [*own, *lighter]
