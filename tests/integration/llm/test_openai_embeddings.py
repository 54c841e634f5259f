"""The embeddings client against a real server that misbehaves on demand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from support.agents.model_servers import Ledger

from internal.errors import ModelAccessDenied, ModelError, ModelReplyInvalid, ModelUnavailable
from internal.llm.embeddings import OpenAIEmbedder
from internal.llm.model import EmbeddingReply, EmbeddingRequest
from internal.testing import Fault, ScriptedModel, trigram_vectors

NAMES = [f"Человек {number} Петров" for number in range(70)]


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as model:
        yield model


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
async def embedder(server: ScriptedModel, ledger: Ledger) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder(server.url, "key", model="e", dimensions=256, timeout=1.0, observers=[ledger])
    yield embedder
    await embedder.aclose()


@pytest.mark.parametrize("floats", [False, True])
async def test_vectors_come_in_the_order_of_the_texts(
    server: ScriptedModel, embedder: OpenAIEmbedder, floats: bool
) -> None:
    """As base64 or as numbers, though the server answers in another order; each row has length one."""
    server.embeddings_as_floats = floats
    vectors = await embedder.embed_documents(NAMES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (70, 256)
    np.testing.assert_allclose(vectors, trigram_vectors(NAMES, 256), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


async def test_no_call_holds_more_than_32_texts(
    server: ScriptedModel, embedder: OpenAIEmbedder, ledger: Ledger
) -> None:
    """Each call is observed with its own size, and asks for base64 and the dimensions."""
    await embedder.embed_queries(NAMES, user_id=7)
    assert [len(asked.body["input"]) for asked in server.requests] == [32, 32, 6]
    assert server.requests[0].body["dimensions"] == 256
    assert server.requests[0].body["encoding_format"] == "base64"
    assert [call[0] for call in ledger.calls] == [EmbeddingRequest("e", 256, count, 7) for count in (32, 32, 6)]
    assert all(isinstance(call[1], EmbeddingReply) and call[1].usage.prompt_tokens > 0 for call in ledger.calls)


async def test_nothing_is_asked_for_no_texts(server: ScriptedModel, embedder: OpenAIEmbedder) -> None:
    """An empty list gives no rows of the right width."""
    assert (await embedder.embed_queries([])).shape == (0, 256)
    assert server.requests == []


async def test_blank_and_endless_texts_are_made_embeddable(server: ScriptedModel, embedder: OpenAIEmbedder) -> None:
    """Servers refuse both with a 400 that would stop everything else of the call."""
    await embedder.embed_documents(["", " \n", "я" * 100_000])
    sent = server.requests[0].body["input"]
    assert sent[:2] == ["-", "-"]
    assert len(sent[2]) == 6000


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("wrong_count"), ModelReplyInvalid),
        (Fault("wrong_size"), ModelReplyInvalid),
        (Fault("not_a_number"), ModelReplyInvalid),
        (Fault("zero"), ModelReplyInvalid),
        (Fault("malformed"), ModelReplyInvalid),
        (Fault("error_body", status=503), ModelUnavailable),
        (Fault("status", status=401), ModelAccessDenied),
        (Fault("status", status=429, retry_after="3"), ModelUnavailable),
        (Fault("hang"), ModelUnavailable),
        (Fault("reset"), ModelUnavailable),
        (Fault("cut"), ModelUnavailable),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
@pytest.mark.parametrize("floats", [False, True])
async def test_a_wrong_vector_is_never_kept(
    server: ScriptedModel,
    embedder: OpenAIEmbedder,
    ledger: Ledger,
    fault: Fault,
    expected: type[ModelError],
    floats: bool,
) -> None:
    """It would be compared, silently and wrongly, for ever."""
    server.embeddings_as_floats = floats
    server.always("e", fault)
    with pytest.raises(expected) as caught:
        await embedder.embed_documents(["Мария", "Пётр"])
    assert [call[2] for call in ledger.calls] == [caught.value]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        [1, 2],
        [{"embedding": [1.0, 0.0]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [0, 1]}],
        [{"index": 1, "embedding": [1, 0]}, {"index": 2, "embedding": [0, 1]}],
        [{"index": [0], "embedding": [1, 0]}, {"index": 1, "embedding": [0, 1]}],
        [{"index": 0, "embedding": [1, None]}, {"index": 1, "embedding": [0, 1]}],
        [{"index": 0, "embedding": ["x", "y"]}, {"index": 1, "embedding": [0, 1]}],
        [{"index": 0, "embedding": [[1, 0]]}, {"index": 1, "embedding": [0, 1]}],
        [{"index": 0, "embedding": [1e300, 0]}, {"index": 1, "embedding": [0, 1]}],
        [{"index": 0, "embedding": "not base64!"}, {"index": 1, "embedding": [0, 1]}],
        [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": [0, 1]}],
        [{"index": 0}, {"index": 1, "embedding": [0, 1]}],
    ],
)
async def test_an_answer_of_the_wrong_form_is_refused(server: ScriptedModel, ledger: Ledger, data: Any) -> None:
    """Whatever is in it, one error of our own comes out."""
    embedder = OpenAIEmbedder(server.url, model="e", dimensions=2)
    server.script("e", Fault("status", status=200, body={"data": data}))
    with pytest.raises(ModelReplyInvalid):
        await embedder.embed_documents(["a", "b"])
    await embedder.aclose()


async def test_long_vectors_are_shortened_to_length_one(server: ScriptedModel) -> None:
    """Models that cut their vectors to fewer dimensions do not normalise them again."""
    embedder = OpenAIEmbedder(server.url, model="e", dimensions=2)
    server.script("e", Fault("status", status=200, body={"data": [{"embedding": [3, 4]}]}))
    np.testing.assert_allclose(await embedder.embed_queries(["a"]), [[0.6, 0.8]], atol=1e-7)
    await embedder.aclose()


async def test_a_text_that_is_too_long_is_embedded_by_its_beginning(
    server: ScriptedModel, embedder: OpenAIEmbedder
) -> None:
    """Halved until the model can read it; the parameters that the server knows are kept."""
    long = Fault("status", status=400, body={"error": "the input length exceeds the context length"})
    server.script("e", long, long)
    assert (await embedder.embed_documents(["слово " * 300, "Мария"])).shape[0] == 2
    asked = [request.body for request in server.requests]
    assert [[len(text) for text in body["input"]] for body in asked] == [[1800, 5], [900, 5], [450, 5]]
    assert all("dimensions" in body for body in asked)


async def test_parameters_a_small_server_does_not_know_are_left_out_and_remembered(
    server: ScriptedModel, embedder: OpenAIEmbedder
) -> None:
    """First base64, then the dimensions; the size of the answer is checked all the same."""
    server.script("e", Fault("status", status=400), Fault("status", status=422))
    server.embeddings_as_floats = True
    with pytest.raises(ModelReplyInvalid, match="256"):
        await embedder.embed_queries(["Мария"])
    with pytest.raises(ModelReplyInvalid, match="256"):
        await embedder.embed_queries(["Мария"])
    keys = [set(asked.body) - {"model", "input"} for asked in server.requests]
    assert keys == [{"dimensions", "encoding_format"}, {"dimensions"}, set(), set()]
