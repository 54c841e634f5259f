"""Deterministic embeddings without a model, similar for texts that share letters."""

import zlib
from collections.abc import Sequence

import numpy as np

from internal.llm.model import Vectors


def trigram_vectors(texts: Sequence[str], dimensions: int) -> Vectors:
    """Deterministic vectors of hashed character trigrams, L2-normalised: texts that share letters are similar."""
    vectors = np.zeros((len(texts), dimensions), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.casefold().split() or [""]:
            padded = f" {word} "
            for start in range(len(padded) - 2 or 1):
                vectors[row, zlib.crc32(padded[start : start + 3].encode("utf-8", "replace")) % dimensions] += 1.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


class TrigramEmbedder:
    """An Embedder without a server, for tests of code that uses vectors."""

    def __init__(self, dimensions: int = 64, name: str = "trigram", people_threshold: float = 0.3) -> None:
        self.name = name
        self.dimensions = dimensions
        self.people_threshold = people_threshold

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        return trigram_vectors(texts, self.dimensions)

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        return trigram_vectors(texts, self.dimensions)
