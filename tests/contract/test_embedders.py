"""Every implementation of the Embedder port: over the wire, in the language process, and the tests' own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import numpy as np
import pytest
import pytest_asyncio

from internal.errors import ModelUnavailable
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.embeddings import OpenAIEmbedder
from internal.llm.model import Embedder
from internal.llm.offline.embedder import OfflineEmbedder
from internal.testing import Fault, ScriptedModel, TrigramEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="module")

ODD_TEXTS = ["", " \n", "a\0b", "\ud800", "слово " * 700, "🙂🙂", "-"]
MANY = [f"Человек {number} Петров" for number in range(40)]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["wire", "process", "trigrams"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    """One implementation, with what it needs."""
    async with AsyncExitStack() as stack:
        made: Embedder
        match request.param:
            case "wire":
                server = await stack.enter_async_context(ScriptedModel())
                made = wire = OpenAIEmbedder(server.url, model="e", dimensions=128)
                stack.push_async_callback(wire.aclose)
            case "process":
                worker = LanguageWorker()
                stack.push_async_callback(worker.close)
                made = OfflineEmbedder(worker)
            case _:
                made = TrigramEmbedder()
        yield made


async def test_it_says_what_its_vectors_are(embedder: Embedder) -> None:
    """A name to keep them apart by, their size, and a cosine that can be reached."""
    assert embedder.name
    assert embedder.dimensions > 0
    assert -1 <= embedder.people_threshold <= 1


async def test_every_text_gets_one_unit_vector(embedder: Embedder) -> None:
    """float32, whatever the text holds; no texts give no rows of the right width."""
    for embed in (embedder.embed_documents, embedder.embed_queries):
        rows = await embed(ODD_TEXTS)
        assert rows.shape == (len(ODD_TEXTS), embedder.dimensions)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert (await embed([])).shape == (0, embedder.dimensions)


async def test_a_text_has_the_same_vector_in_any_company(embedder: Embedder) -> None:
    """Rows come in the order of the texts, however many there are, for whomever they are."""
    together = await embedder.embed_documents(MANY, user_id=7)
    turned = await embedder.embed_documents(MANY[::-1])
    np.testing.assert_allclose(together, turned[::-1], atol=1e-3)
    for place in (0, 33, 39):
        np.testing.assert_allclose(together[place], (await embedder.embed_documents([MANY[place]]))[0], atol=1e-3)


async def test_a_declined_name_finds_its_person(embedder: Embedder) -> None:
    """A query is nearest to the document that it is about."""
    documents = await embedder.embed_documents(["Мария Иванова", "Петров Александр", "Стол"])
    (query,) = await embedder.embed_queries(["Петрова Александра"])
    assert int(np.argmax(documents @ query)) == 1


async def test_a_server_that_fails_is_an_outage() -> None:
    """What cannot be embedded now is tried again later."""
    async with ScriptedModel() as server:
        server.always("e", Fault("status", status=503))
        embedder = OpenAIEmbedder(server.url, model="e", dimensions=64)
        await _is_out(embedder)
        await embedder.aclose()


async def test_a_process_that_is_gone_is_an_outage() -> None:
    """The same error as a server's."""
    worker = LanguageWorker()
    await worker.close()
    await _is_out(OfflineEmbedder(worker))


async def _is_out(embedder: Embedder) -> None:
    with pytest.raises(ModelUnavailable):
        await embedder.embed_queries(["Петров"])
    with pytest.raises(ModelUnavailable):
        await embedder.embed_documents(["Петров"])
