"""The names of senders in questions: which senders a question names, and what their names mean."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from internal.errors import ModelError, ModelUnavailable
from internal.language.names.person_names import NAMED
from internal.language.search.terms import OR, Word
from internal.language.text.spelling import name_key
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import Embedder
from internal.recall.index.scoring import normalised
from internal.recall.index.terms import TermTools
from internal.recall.messages.index import MessageIndex
from internal.recall.search.names import NameTools
from internal.recall.search.observer import RecallObserver, report_degraded
from internal.recall.search.query import Query
from internal.storage.vectors import Vector

_LANGUAGE_TIMEOUT: Final = 3.0
_NAMED_CANDIDATES: Final = 64
"""Most senders sharing a word with the question whose names are compared with it."""


class SenderNames:
    """Never raises a model's error: a part that fails is left out and reported."""

    def __init__(
        self, embedder: Embedder | None, terms: TermTools | None, names: NameTools | None, observer: RecallObserver
    ) -> None:
        self._embedder, self._terms, self._names, self._observer = embedder, terms, names, observer

    async def named(self, index: MessageIndex, query: Query) -> frozenset[int]:
        """The senders that a question names."""
        await self._analyse_senders(index)
        query_terms = {term for word in query.words for term, _ in word}
        likely = {number for number, terms in index.sender_terms.items() if not terms.isdisjoint(query_terms)}
        if not likely:
            return frozenset()
        names = {number: [index.senders[number]] for number in sorted(likely)[:_NAMED_CANDIDATES]}
        return frozenset(
            number for number, boost in (await self._boosts(query, index, names)).items() if boost >= NAMED
        )

    async def vectors(self, user_id: int, index: MessageIndex, senders: Collection[int]) -> list[Vector]:
        """The vectors of the names of these senders; the embedder makes each once. None of those that it fails to make.

        A question is not kept waiting longer for a name than for its own vector.
        """
        new = [number for number in senders if number not in index.name_vectors]
        if new and self._embedder is not None:
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    made = await self._embedder.embed_queries([index.senders[n] for n in new], user_id=user_id)
                vectors = [normalised(vector, self._embedder.dimensions) for vector in made]
                index.name_vectors.update(zip(new, vectors, strict=True))
            except (ModelError, TimeoutError, ValueError) as error:
                report_degraded(self._observer, "embedder", error)
        return [index.name_vectors[number] for number in senders if number in index.name_vectors]

    async def _boosts(self, query: Query, index: MessageIndex, names: Mapping[int, list[str]]) -> Mapping[int, float]:
        if self._names is not None:
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    return await self._names.boosts(query.text_with_preceding, names)
            except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
                report_degraded(self._observer, "names", error)
        return {number: _plain_boost(query.words, index.sender_terms[number]) for number in names}

    async def _analyse_senders(self, index: MessageIndex) -> None:
        """Analyses the names of new senders."""
        new = [number for number, name in enumerate(index.senders) if name and number not in index.sender_terms]
        if not new:
            return
        terms = await self._terms_of([index.senders[number] for number in new])
        for number, sender_terms in zip(new, terms, strict=True):
            index.sender_terms[number] = frozenset(sender_terms.replace(OR, " ").split())

    async def _terms_of(self, names: Sequence[str]) -> list[str]:
        if self._terms is not None:
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    return await self._terms.document_terms(names, urgent=True)
            except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
                report_degraded(self._observer, "terms", error)
        return [name_key(name) for name in names]


def _plain_boost(words: Sequence[Word], terms: frozenset[str]) -> float:
    """How clearly a question names a sender judged by words alone: its best matching alternative."""
    return max((weight for word in words for term, weight in word if term in terms), default=0.0)
