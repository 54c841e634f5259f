"""Embeddings over the OpenAI wire format."""

import asyncio
import base64
import binascii
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from internal.errors import ModelContextExceeded, ModelReplyInvalid
from internal.llm.failures import RequestRejected, from_error_object
from internal.llm.model import CallObserver, EmbeddingReply, EmbeddingRequest, Vectors
from internal.llm.openai import observed
from internal.llm.transport import Endpoint
from internal.llm.wire import read_usage

EMBEDDINGS_PATH = "embeddings"
BATCH = 32
"""Most texts of a call. 32 x 3,072 numbers block the event loop for 1 ms as base64 and 4 ms as text (measured)."""
MAX_CHARACTERS = 6000
"""Most characters of one text. The specified model reads 2,048 tokens; some servers refuse longer texts."""
SHORTEST_CUT = 200
"""Fewest characters of a text that is cut in half if it is too long for the model."""
SPECIFIED_PEOPLE_THRESHOLD = 0.65
"""The threshold for people; source: people-graph specification, for google/gemini-embedding-001."""


class OpenAIEmbedder:
    """An Embedder on one server. Queries and documents are embedded in the same way. Close it with `aclose`."""

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        *,
        model: str,
        dimensions: int,
        people_threshold: float = SPECIFIED_PEOPLE_THRESHOLD,
        timeout: float = 60.0,
        observers: Sequence[CallObserver] = (),
    ) -> None:
        """`timeout` is seconds for a call of 32 texts. Raises ConfigurationError for an unusable address or key."""
        self._endpoint = Endpoint(base_url, api_key)
        self._model = model
        self._dimensions = dimensions
        self._people_threshold = people_threshold
        self._timeout = timeout
        self._observers = tuple(observers)
        self._extras: dict[str, Any] = {"dimensions": dimensions, "encoding_format": "base64"}

    @property
    def name(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def people_threshold(self) -> float:
        return self._people_threshold

    async def aclose(self) -> None:
        await self._endpoint.aclose()

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Embeds like `Embedder`; also raises ModelReplyInvalid for vectors of the wrong number, size or content."""
        return await self._embed(texts, user_id)

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """The same as `embed_queries`."""
        return await self._embed(texts, user_id)

    async def _embed(self, texts: Sequence[str], user_id: int | None) -> Vectors:
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            batch = [_embeddable(text) for text in texts[start : start + BATCH]]
            vectors[start : start + BATCH] = await self._fitting(batch, user_id)
        return vectors

    async def _fitting(self, texts: list[str], user_id: int | None) -> Vectors:
        """The vectors of the texts' beginnings that fit into the model's context: some models read 512 tokens."""
        longest = max(map(len, texts))
        try:
            return await self._call(texts, user_id)
        except ModelContextExceeded:
            if longest < SHORTEST_CUT:
                raise
        return await self._fitting([text[: longest // 2] for text in texts], user_id)

    async def _call(self, texts: list[str], user_id: int | None) -> Vectors:
        request = EmbeddingRequest(self._model, self._dimensions, len(texts), user_id)
        deadline = asyncio.get_running_loop().time() + self._timeout
        with observed(request, self._observers) as call:
            answer = await self._ask(texts, deadline)
            usage = answer.get("usage")
            call.reply = EmbeddingReply(self._model, read_usage(usage if isinstance(usage, dict) else {}))
            return read_vectors(answer, len(texts), self._dimensions)

    async def _ask(self, texts: list[str], deadline: float) -> dict[str, Any]:
        """Sends all parameters first, then only those that the server accepts, which are remembered."""
        extras = self._extras
        while True:
            body = {"model": self._model, "input": texts, **extras}
            try:
                answer = _read_answer(await self._endpoint.post(EMBEDDINGS_PATH, body, deadline), self._model)
            except RequestRejected:
                if not extras:
                    raise
                extras = dict(list(extras.items())[:-1])
            else:
                self._extras = extras
                return answer


def read_vectors(answer: dict[str, Any], count: int, dimensions: int) -> Vectors:
    """The vectors of an answer in the order of the texts, float32 of shape (count, dimensions), L2-normalised.

    Raises ModelReplyInvalid for a wrong count, order, size, encoding, or a vector that is zero or not finite.
    """
    items = answer.get("data")
    if not isinstance(items, list) or len(items) != count or not all(isinstance(item, dict) for item in items):
        raise ModelReplyInvalid(f"the embedding server did not answer with {count} vectors")
    indexes = [item.get("index", index) for index, item in enumerate(items)]
    if any(type(index) is not int for index in indexes) or sorted(indexes) != list(range(count)):
        raise ModelReplyInvalid("the embedding server's vectors are not numbered from 0")
    vectors = np.empty((count, dimensions), dtype=np.float32)
    for index, item in zip(indexes, items, strict=True):
        vectors[index] = _read_vector(item.get("embedding"), dimensions)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
        raise ModelReplyInvalid("the embedding server answered with a vector that is zero or not finite")
    normalised: Vectors = (vectors / lengths).astype(np.float32)
    return normalised


def _read_vector(raw: object, dimensions: int) -> Vectors:
    try:
        if isinstance(raw, str):
            vector = np.frombuffer(base64.b64decode(raw, validate=True), dtype="<f4")
        else:
            with np.errstate(over="ignore"):
                vector = np.array(raw, dtype=np.float32)
    except (ValueError, TypeError, binascii.Error, OverflowError):
        vector = np.empty(0, dtype=np.float32)
    if vector.shape != (dimensions,):
        raise ModelReplyInvalid(f"the embedding server's vectors do not have {dimensions} numbers each")
    return vector


def _read_answer(data: bytes, model: str) -> dict[str, Any]:
    """The answer's object; raises the error of an error answer. Uses orjson: json needs 19 ms for the numbers."""
    try:
        answer = orjson.loads(data)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        raise ModelReplyInvalid("the embedding server's answer is no JSON object")
    if answer.get("error"):
        raise from_error_object(answer["error"], model)
    return answer


def _embeddable(text: str) -> str:
    """A text that no server refuses: not blank, at most MAX_CHARACTERS long."""
    return text[:MAX_CHARACTERS] if text.strip() else "-"
