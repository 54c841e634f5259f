"""Vectors as bytes: a quarter of the memory, and products at a third of the time."""

from typing import Final

import numpy as np
import simsimd
from numpy.typing import NDArray

from internal.storage.vectors import Vector

_LARGEST: Final = 127
_BLOCK_BYTES: Final = 4 * 1024 * 1024
"""Bytes that one call of the library reads, a millisecond: it holds the interpreter lock meanwhile."""

Codes = NDArray[np.int8]
Scales = NDArray[np.float32]


def quantise(vectors: Vector) -> tuple[Codes, Scales]:
    """Codes (rows, dimensions) and scales (rows,): `codes * scales[:, None]` approximates the vectors.

    A cosine of two such vectors is off by some 0.002 at 384 dimensions. The scale of a zero vector is 0.
    """
    largest = np.abs(vectors).max(axis=1, initial=0)
    factors = np.divide(_LARGEST, largest, out=np.zeros_like(largest), where=largest > 0)
    codes = np.rint(vectors * factors[:, np.newaxis]).astype(np.int8)
    return codes, (largest / np.float32(_LARGEST)).astype(np.float32)


def cosines(codes: Codes, scales: Scales, query: Vector) -> Vector:
    """The cosines of coded rows with a normalised query: shape (rows,), 0 for rows without a vector."""
    query_codes, scale = quantise(query[np.newaxis])
    result = np.empty(len(codes), dtype=np.float32)
    rows = max(1, _BLOCK_BYTES // max(1, codes.shape[1]))
    for start in range(0, len(codes), rows):
        block = simsimd.cdist(query_codes, codes[start : start + rows], metric="dot", out_dtype="float32")
        result[start : start + rows] = np.asarray(block)[0]
    result *= scales * scale[0]
    return result
