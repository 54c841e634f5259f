"""The offline embedder over its process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import numpy as np
import pytest

from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Embedder
from internal.llm.offline.embedder import OfflineEmbedder


@pytest.fixture
async def worker() -> AsyncIterator[LanguageWorker]:
    language = LanguageWorker()
    yield language
    await language.close()


@pytest.fixture
def embedder(worker: LanguageWorker) -> Embedder:
    return OfflineEmbedder(worker)


async def test_rows_are_unit_vectors_in_order(embedder: Embedder) -> None:
    """float32, one row a text, length 1, whatever the text holds; no text gives no rows."""
    texts = ["Пётр", "", "a\0b", "\ud800", "слово " * 2000, "emoji 🙂", "Пётр"]
    rows = await embedder.embed_documents(texts)
    assert rows.shape == (len(texts), embedder.dimensions)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(rows[0], rows[-1], atol=1e-6)
    assert (await embedder.embed_documents([])).shape == (0, embedder.dimensions)
    assert (await embedder.embed_queries([])).shape == (0, embedder.dimensions)


async def test_a_query_finds_its_document_across_languages(embedder: Embedder) -> None:
    """Meaning, not letters: a question in one language is nearest to its answer in another."""
    documents = await embedder.embed_documents(
        ["Мой стоматолог принимает по средам", "Колега любить каву", "My sister is a nurse"]
    )
    queries = await embedder.embed_queries(["my dentist", "коллега и кофе", "сестра-медсестра"])
    assert (queries @ documents.T).argmax(axis=1).tolist() == [0, 1, 2]


async def test_queries_and_documents_are_told_apart(embedder: Embedder) -> None:
    """The model's prefixes make two vectors of one text."""
    query, document = await embedder.embed_queries(["Пётр"]), await embedder.embed_documents(["Пётр"])
    assert not np.allclose(query, document, atol=1e-3)


async def test_a_query_does_not_wait_for_a_bulk(embedder: Embedder) -> None:
    """Two hundred documents in the background delay a query by a few of them, not by all."""
    await embedder.embed_queries(["warm"])
    bulk = asyncio.create_task(embedder.embed_documents(["Петров, коллега по проекту, работает и любит кофе"] * 200))
    await asyncio.sleep(0.1)
    started = time.perf_counter()
    await embedder.embed_queries(["кто такой Петров"])
    waited = time.perf_counter() - started
    assert not bulk.done()
    await bulk
    assert waited < (time.perf_counter() - started) / 2
